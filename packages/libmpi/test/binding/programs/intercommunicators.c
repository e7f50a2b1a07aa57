/* MPI 4.1 §7.6 (intercommunicators) and §6.2.3 (collectives over them). The world is cut in two groups of different size. */
#include "check.h"
static int P, Q, low; /* size of the own and of the other group; rank of the own group's first process in the world, 0 or the cut */
static int cut;
static int brief; /* with an argument: each collective once, for runs in which every wait costs an image */
#ifdef __wasm__ /* MPICH 4.0.2 does not stand MPI_Ibcast with another root than 0, nor a barrier where a split left the leader out */
#define OTHER_ROOT (size_ - cut - 1)
#define BARRIER(c) MPI_Barrier(c)
#else
#define OTHER_ROOT 0
#define BARRIER(c)
#endif
static int mine(int r) { return low ? cut + r : r; }   /* world rank of a local rank */
static int theirs(int r) { return low ? r : cut + r; } /* of a remote one */
static int sum_of(int from, int n) { int s = 0; for (int i = 0; i < n; i++) s += from + i; return s; }
static void join(void *a, void *b, int *n, MPI_Datatype *t) { (void)t; for (int i = 0; i < *n; i++) ((int *)b)[i] = ((int *)a)[i] * 10 + ((int *)b)[i] % 10; } /* the first digit that came: keeps order visible */
static void last(void *a, void *b, int *n, MPI_Datatype *t) { (void)a; (void)b; (void)n; (void)t; } /* a, b → b: associative, not commutative */
static MPI_Comm halves(MPI_Comm *local, int tag) {
  MPI_Comm inter;
  MPI_Comm_split(MPI_COMM_WORLD, low != 0, 0, local);
  MPI_Intercomm_create(*local, 0, MPI_COMM_WORLD, low ? 0 : cut, tag, &inter);
  return inter;
}
static void collectives(MPI_Comm c, int root_side, int root) {
  /* "the group of the root: the root passes MPI_ROOT, all others MPI_PROC_NULL; the other group passes the rank of the root" (6.2.3) */
  int in_root_group = (low != 0) == root_side, rk, i, k; MPI_Comm_rank(c, &rk);
  int me = mine(rk), is_root = in_root_group && rk == root, r = in_root_group ? (is_root ? MPI_ROOT : MPI_PROC_NULL) : root, rootw = in_root_group ? mine(root) : theirs(root);
  int p[64], g[64], h[64], n[16], d[16], n2[16], d2[16]; MPI_Request q;
  MPI_Barrier(c); MPI_Ibarrier(c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
  for (int form = brief; form < 2; form++) {
    for (i = 0; i < 3; i++) p[i] = is_root ? 100 + root + i : -1;
    if (form) { MPI_Ibcast(p, 3, MPI_INT, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Bcast(p, 3, MPI_INT, r, c);
    CHECK(in_root_group ? p[1] == (is_root ? 101 + root : -1) : p[2] == 102 + root);
    p[0] = me; p[1] = 2 * me; g[0] = g[1] = -5;
    if (form) { MPI_Ireduce(p, g, 2, MPI_INT, MPI_SUM, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Reduce(p, g, 2, MPI_INT, MPI_SUM, r, c);
    CHECK(is_root ? g[0] == sum_of(theirs(0), Q) && g[1] == 2 * sum_of(theirs(0), Q) : g[0] == -5);
    if (form) { MPI_Iallreduce(p, g, 2, MPI_INT, MPI_SUM, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Allreduce(p, g, 2, MPI_INT, MPI_SUM, c);
    CHECK(g[0] == sum_of(theirs(0), Q) && g[1] == 2 * g[0]); /* "the result … of group A is stored at each process in group B" (6.9.6) */
    for (i = 0; i < 64; i++) g[i] = -1;
    p[0] = me; p[1] = me + 50;
    if (form) { MPI_Igather(p, 2, MPI_INT, g, 2, MPI_INT, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Gather(p, 2, MPI_INT, g, 2, MPI_INT, r, c);
    for (i = 0; i < Q; i++) CHECK(is_root ? g[2 * i] == theirs(i) && g[2 * i + 1] == theirs(i) + 50 : g[2 * i] == -1);
    CHECK(g[2 * Q] == -1);
    /* gatherv: local rank i sends i + 1 elements; blocks lie from the end to the beginning */
    for (i = 0; i < 64; i++) { g[i] = -1; p[i] = me * 10 + i; }
    for (i = Q - 1, k = 0; i >= 0; i--) { n[i] = i + 1; d[i] = k; k += n[i] + 1; }
    if (form) { MPI_Igatherv(p, rk + 1, MPI_INT, g, n, d, MPI_INT, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Gatherv(p, rk + 1, MPI_INT, g, n, d, MPI_INT, r, c);
    if (is_root) for (i = 0; i < Q; i++) CHECK(g[d[i]] == theirs(i) * 10 && g[d[i] + i] == theirs(i) * 10 + i && g[d[i] + i + 1] == -1);
    for (i = 0; i < 2 * Q; i++) p[i] = 1000 + i; g[0] = g[1] = -1;
    if (form) { MPI_Iscatter(p, 2, MPI_INT, g, 2, MPI_INT, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Scatter(p, 2, MPI_INT, g, 2, MPI_INT, r, c);
    CHECK(in_root_group ? g[0] == -1 : g[0] == 1000 + 2 * rk && g[1] == g[0] + 1);
    for (i = 0; i < 64; i++) { p[i] = 2000 + i; g[i] = -1; }
    if (form) { MPI_Iscatterv(p, n, d, MPI_INT, g, rk + 1, MPI_INT, r, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Scatterv(p, n, d, MPI_INT, g, rk + 1, MPI_INT, r, c);
    if (!in_root_group) { for (i = P - 1, k = 0; i > rk; i--) k += i + 2; CHECK(g[0] == 2000 + k && g[rk] == 2000 + k + rk && g[rk + 1] == -1); } else CHECK(g[0] == -1);
    /* allgather: the groups may send different amounts */
    int s = low ? 1 : 3, t = low ? 3 : 1;
    for (i = 0; i < 64; i++) { g[i] = -1; p[i] = me * 10 + i; }
    if (form) { MPI_Iallgather(p, s, MPI_INT, g, t, MPI_INT, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Allgather(p, s, MPI_INT, g, t, MPI_INT, c);
    for (i = 0; i < Q; i++) CHECK(g[i * t] == theirs(i) * 10 && g[i * t + t - 1] == theirs(i) * 10 + t - 1);
    CHECK(g[Q * t] == -1);
    for (i = 0; i < 64; i++) g[i] = -1;
    if (form) { MPI_Iallgatherv(p, rk + 1, MPI_INT, g, n, d, MPI_INT, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Allgatherv(p, rk + 1, MPI_INT, g, n, d, MPI_INT, c);
    for (i = 0; i < Q; i++) CHECK(g[d[i]] == theirs(i) * 10 && g[d[i] + i] == theirs(i) * 10 + i && g[d[i] + i + 1] == -1);
    for (i = 0; i < Q; i++) { p[2 * i] = me * 100 + theirs(i); p[2 * i + 1] = -p[2 * i]; } for (i = 0; i < 64; i++) g[i] = -1;
    if (form) { MPI_Ialltoall(p, 2, MPI_INT, g, 2, MPI_INT, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Alltoall(p, 2, MPI_INT, g, 2, MPI_INT, c);
    for (i = 0; i < Q; i++) CHECK(g[2 * i] == theirs(i) * 100 + me && g[2 * i + 1] == -g[2 * i]);
    /* alltoallv: i sends (i + j) % 3 elements to j */
    for (i = 0; i < Q; i++) { n[i] = n2[i] = (mine(rk) + theirs(i)) % 3; d[i] = 3 * i; d2[i] = 3 * (Q - 1 - i); for (k = 0; k < 3; k++) p[3 * i + k] = me * 100 + theirs(i) + 1000 * k; }
    for (i = 0; i < 64; i++) g[i] = -1;
    if (form) { MPI_Ialltoallv(p, n, d, MPI_INT, g, n2, d2, MPI_INT, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Alltoallv(p, n, d, MPI_INT, g, n2, d2, MPI_INT, c);
    for (i = 0; i < Q; i++) for (k = 0; k < 3; k++) CHECK(g[d2[i] + k] == (k < n2[i] ? theirs(i) * 100 + me + 1000 * k : -1));
    MPI_Datatype ty[16]; for (i = 0; i < Q; i++) { ty[i] = i % 2 ? MPI_UNSIGNED : MPI_INT; d[i] *= 4; d2[i] *= 4; } for (i = 0; i < 64; i++) h[i] = -1;
    if (form) { MPI_Ialltoallw(p, n, d, ty, h, n2, d2, ty, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Alltoallw(p, n, d, ty, h, n2, d2, ty, c);
    CHECK(!memcmp(g, h, sizeof g));
    /* reduce_scatter: P·Q elements, each process of a group the same share of the other group's sum */
    for (i = 0; i < P * Q; i++) { p[i] = me + i; g[i] = -1; } for (i = 0; i < P; i++) n[i] = Q;
    if (form) { MPI_Ireduce_scatter(p, g, n, MPI_INT, MPI_SUM, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Reduce_scatter(p, g, n, MPI_INT, MPI_SUM, c);
    for (i = 0; i < Q; i++) CHECK(g[i] == sum_of(theirs(0), Q) + Q * (rk * Q + i));
    if (form) { MPI_Ireduce_scatter_block(p, h, Q, MPI_INT, MPI_SUM, c, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } else MPI_Reduce_scatter_block(p, h, Q, MPI_INT, MPI_SUM, c);
    CHECK(!memcmp(g, h, Q * sizeof *g));
  }
  /* An operation that does not commute: operands in the order of the other group's ranks */
  MPI_Op op; MPI_Op_create(last, 0, &op); p[0] = me;
  MPI_Allreduce(p, g, 1, MPI_INT, op, c); CHECK(g[0] == theirs(Q - 1));
  MPI_Reduce(p, h, 1, MPI_INT, op, r, c); CHECK(!is_root || h[0] == theirs(Q - 1)); MPI_Op_free(&op);
  /* A type with holes */
  MPI_Datatype v; MPI_Type_vector(2, 1, 2, MPI_INT, &v); MPI_Type_commit(&v); for (i = 0; i < 64; i++) { p[i] = me * 100 + i; g[i] = -1; }
  MPI_Allgather(p, 1, v, g, 2, MPI_INT, c); for (i = 0; i < Q; i++) CHECK(g[2 * i] == theirs(i) * 100 && g[2 * i + 1] == theirs(i) * 100 + 2); CHECK(g[2 * Q] == -1);
  for (i = 0; i < 3; i++) g[i] = is_root ? 7 + i : -1;
  MPI_Bcast(g, 1, v, r, c); CHECK(in_root_group || (g[0] == 7 && g[1] == -1 && g[2] == 9)); MPI_Type_free(&v);
#if MPI_VERSION >= 4
  /* Persistent: the same request twice */
  p[0] = rootw; MPI_Request pq[3]; MPI_Bcast_init(p, 1, MPI_INT, r, c, MPI_INFO_NULL, &pq[0]); MPI_Allreduce_init(h, g, 1, MPI_INT, MPI_MAX, c, MPI_INFO_NULL, &pq[1]); MPI_Barrier_init(c, MPI_INFO_NULL, &pq[2]);
  for (k = 0; k < 2; k++) { p[0] = is_root ? rootw + k : -1; h[0] = me + k; MPI_Startall(3, pq); MPI_Waitall(3, pq, MPI_STATUSES_IGNORE); CHECK(p[0] == (is_root || !in_root_group ? rootw + k : -1) && g[0] == theirs(Q - 1) + k); }
  for (k = 0; k < 3; k++) MPI_Request_free(&pq[k]);
#endif
}
static int deletes; static int copies;
static int copy_fn(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag) { int f; (void)k; (void)extra; MPI_Comm_test_inter(c, &f); copies += f; *(void **)out = in; *flag = 1; return MPI_SUCCESS; }
static int delete_fn(MPI_Comm c, int k, void *v, void *extra) { (void)c; (void)k; (void)v; (void)extra; deletes++; return MPI_SUCCESS; }
int main(int argc, char **argv) {
  MPI_Comm local, inter, c, d, e; MPI_Group g, h; int r, s, n, flag, res; MPI_Status st; MPI_Request q; char name[MPI_MAX_OBJECT_NAME];
  (void)join; begin(&argc, &argv);
  if (size_ < 2) return finish();
  cut = (size_ + 2) / 3; low = rank_ >= cut ? cut : 0; P = low ? size_ - cut : cut; Q = size_ - P;
  inter = halves(&local, 12);
  MPI_Comm_test_inter(inter, &flag); CHECK(flag); MPI_Comm_test_inter(local, &flag); CHECK(!flag);
  /* "MPI_COMM_SIZE, MPI_COMM_GROUP, MPI_COMM_RANK … return the size, the group, the rank of the local group" (7.6.1) */
  MPI_Comm_rank(inter, &r); MPI_Comm_size(inter, &s); CHECK(r == rank_ - low && s == P); MPI_Comm_remote_size(inter, &s); CHECK(s == Q);
  MPI_Group w; MPI_Comm_group(MPI_COMM_WORLD, &w); MPI_Comm_group(inter, &g); MPI_Comm_remote_group(inter, &h);
  for (n = 0; n < Q; n++) { int t; MPI_Group_translate_ranks(h, 1, &n, w, &t); CHECK(t == theirs(n)); } MPI_Group_size(g, &s); CHECK(s == P);
  MPI_Group_intersection(g, h, &w); MPI_Group_compare(w, MPI_GROUP_EMPTY, &res); CHECK(res == MPI_IDENT); MPI_Group_free(&h);
  /* Point to point: "the destination is a rank in the remote group", the source in a status too */
  { int i, x, y[16]; MPI_Request sq[16]; for (i = 0; i < Q; i++) { y[i] = rank_; MPI_Isend(&y[i], 1, MPI_INT, i, 3, inter, &sq[i]); }
    for (i = 0; i < Q; i++) { MPI_Probe(MPI_ANY_SOURCE, 3, inter, &st); MPI_Recv(&x, 1, MPI_INT, st.MPI_SOURCE, 3, inter, &st); CHECK(x == theirs(st.MPI_SOURCE)); } MPI_Waitall(Q, sq, MPI_STATUSES_IGNORE);
    MPI_Barrier(inter);
    if (r < Q && r < P) { x = -1; MPI_Sendrecv(&rank_, 1, MPI_INT, r, 4, &x, 1, MPI_INT, r, 4, inter, &st); CHECK(x == theirs(r) && st.MPI_SOURCE == r); }
    if (r < Q && r < P) { if (low) MPI_Ssend(&rank_, 1, MPI_INT, r, 5, inter); else { MPI_Message m; MPI_Mprobe(MPI_ANY_SOURCE, 5, inter, &m, &st); MPI_Mrecv(&x, 1, MPI_INT, &m, &st); CHECK(x == theirs(r) && st.MPI_SOURCE == r); } }
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, inter, &st); CHECK(st.MPI_SOURCE == MPI_PROC_NULL); }
  brief = argc > 1; collectives(inter, 0, 0); if (!brief) collectives(inter, 1, OTHER_ROOT);
  /* dup: attributes by their copy functions, the same groups, another context */
  int key, val; void *got; MPI_Comm_create_keyval(copy_fn, delete_fn, &key, NULL); MPI_Comm_set_attr(inter, key, &val); MPI_Comm_set_name(inter, "between");
  MPI_Comm_dup(inter, &c); MPI_Comm_compare(c, inter, &res); CHECK(res == MPI_CONGRUENT && copies == 1); MPI_Comm_compare(c, c, &res); CHECK(res == MPI_IDENT);
  MPI_Comm_compare(c, MPI_COMM_WORLD, &res); CHECK(res == MPI_UNEQUAL); MPI_Comm_get_attr(c, key, &got, &flag); CHECK(flag && got == &val); MPI_Comm_get_name(inter, name, &n); CHECK(!strcmp(name, "between"));
  { int a = 1, b = 2, x = 0, y = 0; MPI_Request k[2]; if (r == 0) { MPI_Irecv(&y, 1, MPI_INT, 0, 9, c, &k[0]); MPI_Irecv(&x, 1, MPI_INT, 0, 9, inter, &k[1]); MPI_Send(&a, 1, MPI_INT, 0, 9, inter); MPI_Send(&b, 1, MPI_INT, 0, 9, c); MPI_Waitall(2, k, MPI_STATUSES_IGNORE); CHECK(x == 1 && y == 2); } }
  if (!brief) collectives(c, 1, 0);
  /* "as if MPI_COMM_DUP was executed at the time that MPI_COMM_IDUP is called": the parent may go, its attributes change; several at once, each with a context of its own */
  { MPI_Request k[2]; MPI_Comm f[2]; int x = 5, y = 0; MPI_Comm_idup(c, &f[0], &k[0]); MPI_Comm_idup(c, &f[1], &k[1]); MPI_Comm_delete_attr(c, key); CHECK(deletes == 1); MPI_Comm_free(&c); MPI_Waitall(2, k, MPI_STATUSES_IGNORE);
    MPI_Comm_get_attr(f[1], key, &got, &flag); CHECK(flag && got == &val); MPI_Comm_compare(f[0], f[1], &res); CHECK(res == MPI_CONGRUENT);
    if (r == 0) { MPI_Irecv(&y, 1, MPI_INT, 0, 9, f[1], &q); MPI_Send(&x, 1, MPI_INT, 0, 9, f[0]); x = 6; MPI_Send(&x, 1, MPI_INT, 0, 9, f[1]); MPI_Wait(&q, &st); CHECK(y == 6); MPI_Recv(&y, 1, MPI_INT, 0, 9, f[0], &st); CHECK(y == 5); }
    MPI_Comm_free(&f[0]); CHECK(deletes == 2); c = f[1]; }
#if MPI_VERSION >= 4
  { MPI_Info in, out; char v[8]; MPI_Info_create(&in); MPI_Info_set(in, "mpi_assert_no_any_tag", "true"); MPI_Comm_dup_with_info(inter, in, &d); MPI_Info_free(&in); MPI_Comm_get_info(d, &out); MPI_Info_get(out, "mpi_assert_no_any_tag", 7, v, &flag); CHECK(!flag || !strcmp(v, "true")); MPI_Info_free(&out); MPI_Comm_free(&d); }
#endif
  /* merge: "the group … that provided high = true is ordered after" (7.6.2) */
  MPI_Intercomm_merge(inter, low == 0, &d); MPI_Comm_test_inter(d, &flag); CHECK(!flag); MPI_Comm_rank(d, &n); MPI_Comm_size(d, &s); CHECK(s == size_ && n == (low ? rank_ - cut : size_ - cut + rank_));
  MPI_Allreduce(&rank_, &n, 1, MPI_INT, MPI_SUM, d); CHECK(n == sum_of(0, size_)); MPI_Comm_free(&d);
  MPI_Intercomm_merge(inter, 1, &d); MPI_Comm_rank(d, &n); CHECK((n - r == 0 || n - r == Q)); MPI_Bcast(&n, 1, MPI_INT, 0, d); MPI_Comm_free(&d);
  /* split: "processes on the left with the same color as those on the right combine to create a new intercommunicator" (7.4.2), the others get none */
  MPI_Comm_split(inter, r % 2, -r, &d); int evenP = (P + 1) / 2, evenQ = (Q + 1) / 2, sl = r % 2 ? P / 2 : evenP, sr = r % 2 ? Q / 2 : evenQ;
  CHECK((d == MPI_COMM_NULL) == (sl == 0 || sr == 0)); if (d != MPI_COMM_NULL) { MPI_Comm_size(d, &n); CHECK(n == sl); MPI_Comm_remote_size(d, &n); CHECK(n == sr); MPI_Comm_rank(d, &n); CHECK(n == sl - 1 - r / 2);
    int lst[16]; MPI_Allgather(&rank_, 1, MPI_INT, lst, 1, MPI_INT, d); for (n = 0; n < sr; n++) CHECK(lst[n] == theirs(2 * (sr - 1 - n) + r % 2)); MPI_Comm_free(&d); }
  MPI_Comm_split(inter, low && r == 0 ? MPI_UNDEFINED : 3, 0, &d); CHECK((d == MPI_COMM_NULL) == ((low && (r == 0 || P == 1)) || (!low && Q == 1))); if (d != MPI_COMM_NULL) { BARRIER(d); MPI_Comm_free(&d); }
  /* create: "the local group consists only of those processes contained in group" */
  n = P - 1; MPI_Group_incl(g, 1, &n, &h); MPI_Comm_create(inter, h, &d); CHECK((d == MPI_COMM_NULL) == (r != n)); if (d != MPI_COMM_NULL) { MPI_Comm_remote_size(d, &s); CHECK(s == 1); MPI_Allreduce(&rank_, &s, 1, MPI_INT, MPI_SUM, d); CHECK(s == theirs(Q - 1)); MPI_Comm_free(&d); }
  MPI_Comm_create(inter, low ? MPI_GROUP_EMPTY : g, &d); CHECK(d == MPI_COMM_NULL); MPI_Group_free(&h);
  /* An intercommunicator as the peer of another; overlapping makings with other tags */
  MPI_Comm_split(local, 0, -r, &e); MPI_Comm_rank(e, &n); MPI_Intercomm_create(e, P - 1, inter, 0, 77, &d); MPI_Comm_remote_size(d, &s); CHECK(s == Q); { int lst[16]; MPI_Allgather(&rank_, 1, MPI_INT, lst, 1, MPI_INT, d); for (n = 0; n < Q; n++) CHECK(lst[n] == theirs(Q - 1 - n)); }
  MPI_Comm_compare(d, inter, &res); CHECK(res == (P == 1 && Q == 1 ? MPI_CONGRUENT : MPI_SIMILAR)); MPI_Comm_disconnect(&d); CHECK(d == MPI_COMM_NULL); MPI_Comm_free(&e);
  /* A receive outlives its communicator */
  { int x = 0, y = rank_; MPI_Comm_dup(inter, &d); if (r < Q && r < P) MPI_Irecv(&x, 1, MPI_INT, r, 1, d, &q); if (r < Q && r < P) MPI_Send(&y, 1, MPI_INT, r, 1, d); MPI_Comm_free(&d); if (r < Q && r < P) { MPI_Wait(&q, &st); CHECK(x == theirs(r) && st.MPI_SOURCE == r); } }
  /* Errors */
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN); MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  int x = 1, y;
  CHECK(class_of(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM && class_of(MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM); /* "not valid on intercommunicators" */
  CHECK(class_of(MPI_Bcast(&x, 1, MPI_INT, Q, inter)) == MPI_ERR_ROOT && class_of(MPI_Send(&x, 1, MPI_INT, Q, 0, inter)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_BUFFER); /* "The 'in place' option is not supported for intercommunicators" */
  CHECK(class_of(MPI_Comm_create_group(inter, g, 0, &d)) == MPI_ERR_COMM);
#ifdef __wasm__ /* MPICH ends with an assertion, or answers no error */
  { int dims = 1, per = 0; CHECK(class_of(MPI_Cart_create(inter, 1, &dims, &per, 0, &d)) == MPI_ERR_COMM); }
  CHECK(class_of(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &d)) == MPI_ERR_COMM); CHECK(class_of(MPI_Comm_remote_size(MPI_COMM_WORLD, &n)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &d)) == MPI_ERR_COMM);
  /* What is wrong at the leader alone is an error of its whole group: nobody waits for ever */
  CHECK(class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, size_, 1, &d)) == MPI_ERR_RANK); CHECK(class_of(MPI_Intercomm_create(local, P - 1, MPI_COMM_NULL, 0, 1, &d)) == MPI_ERR_COMM); CHECK(class_of(MPI_Intercomm_create(local, P, MPI_COMM_WORLD, 0, 1, &d)) == MPI_ERR_RANK);
  /* "The two groups are disjoint" */
  if (size_ > 2) { MPI_Comm a; n = rank_ != 0; MPI_Comm_split(MPI_COMM_WORLD, rank_ > 1, 0, &a); MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN); if (rank_ < 2) { MPI_Comm one; MPI_Comm_dup(a, &one); CHECK(class_of(MPI_Intercomm_create(one, rank_, MPI_COMM_WORLD, !rank_, 1, &d)) == MPI_ERR_RANK); MPI_Comm_free(&one); } MPI_Comm_free(&a); }
#endif
  MPI_Group_free(&g); if (w != MPI_GROUP_EMPTY) MPI_Group_free(&w);
  MPI_Comm_free(&c); MPI_Comm_free(&inter); MPI_Comm_free(&local); CHECK(deletes == 6 && inter == MPI_COMM_NULL);
  MPI_Comm_free_keyval(&key);
  return finish();
}
