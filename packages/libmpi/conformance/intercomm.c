/* Intercommunicators (MPI 4.1 §7.6) and collectives over them (§6.2.3). ranks: 2 3 7 | 13 */
#include "check.h"

/* The world cut in two: `high` processes begin at `cut`; mine and theirs are world ranks of local and remote ones. */
static int cut, high, P, Q, me;
static MPI_Comm local;
static int mine(int r) { return high ? cut + r : r; }
static int theirs(int r) { return high ? r : cut + r; }
static int sum(int (*f)(int), int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += f(i);
  return s;
}
static MPI_Comm halves(void) {
  MPI_Comm inter;
  cut = (size + 2) / 3;
  high = rank >= cut;
  P = high ? size - cut : cut;
  Q = size - P;
  MPI_Comm_split(WORLD, high, 0, &local);
  MPI_Comm_rank(local, &me);
  MPI_Intercomm_create(local, 0, WORLD, high ? 0 : cut, TAG, &inter);
  return inter;
}
static void done(MPI_Comm *inter) {
  MPI_Comm_free(inter);
  MPI_Comm_free(&local);
}

TEST(intercomm_of_halves, 2, "§7.6.1: MPI_COMM_SIZE, _GROUP and _RANK are of the local group, MPI_COMM_REMOTE_SIZE and _GROUP of the remote one") {
  MPI_Comm c = halves();
  MPI_Group w, g;
  int flag, n, r, at[16], to[16];
  MPI_Comm_test_inter(c, &flag);
  MPI_Comm_size(c, &n);
  MPI_Comm_rank(c, &r);
  CHECK(flag && n == P && r == me);
  MPI_Comm_remote_size(c, &n);
  CHECK(n == Q);
  MPI_Comm_group(WORLD, &w);
  MPI_Comm_remote_group(c, &g);
  for (int i = 0; i < Q; i++) at[i] = i;
  MPI_Group_translate_ranks(g, Q, at, w, to);
  for (int i = 0; i < Q; i++) SAY("%d", to[i]);
  MPI_Group_free(&w);
  MPI_Group_free(&g);
  done(&c);
}
TEST(intercomm_messages, 2, "§7.6: the destination of a send is a rank in the remote group; status.MPI_SOURCE too") {
  MPI_Comm c = halves();
  MPI_Request q[16];
  MPI_Status s;
  int x, seen = 0;
  for (int i = 0; i < Q; i++) MPI_Isend(&rank, 1, MPI_INT, i, 7, c, &q[i]);
  for (int i = 0; i < Q; i++) {
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, c, &s);
    CHECK(x == theirs(s.MPI_SOURCE));
    seen |= 1 << s.MPI_SOURCE;
  }
  MPI_Waitall(Q, q, MPI_STATUSES_IGNORE);
  CHECK(seen == (1 << Q) - 1);
  done(&c);
}
TEST(intercomm_contexts, 2, "§7.6: communication over an intercommunicator never conflicts with that over its local or peer communicator") {
  MPI_Comm c = halves();
  MPI_Request q[3];
  int a[3] = {0, 0, 0}, x = 1, y = 2, z = 3;
  if (me == 0) {
    MPI_Irecv(&a[0], 1, MPI_INT, 0, 1, c, &q[0]);
    MPI_Irecv(&a[1], 1, MPI_INT, high ? 0 : cut, 1, WORLD, &q[1]);
    MPI_Irecv(&a[2], 1, MPI_INT, 0, 1, local, &q[2]);
    MPI_Send(&x, 1, MPI_INT, 0, 1, local);
    MPI_Send(&y, 1, MPI_INT, high ? 0 : cut, 1, WORLD);
    MPI_Send(&z, 1, MPI_INT, 0, 1, c);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    SAY("%d %d %d", a[0], a[1], a[2]);
  }
  done(&c);
}
TEST(intercomm_bcast, 2, "§6.4: data is broadcast from the root to all processes in the other group; the root passes MPI_ROOT, its group MPI_PROC_NULL") {
  MPI_Comm c = halves();
  for (int up = 0; up < 2; up++) {
    int from = high == up, x = from ? -1 : 0, root = from ? (me == P - 1 ? MPI_ROOT : MPI_PROC_NULL) : Q - 1;
    if (root == MPI_ROOT) x = 100 + up;
    MPI_Bcast(&x, 1, MPI_INT, root, c);
    SAY("%d", x);
  }
  done(&c);
}
TEST(intercomm_reduce, 2, "§6.9.1: the result of the operands of the other group goes to the root") {
  MPI_Comm c = halves();
  int x[2] = {rank, 10 * rank}, y[2] = {-1, -1}, root = high ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Reduce(x, y, 2, MPI_INT, MPI_SUM, root, c);
  SAY("%d %d", y[0], y[1]);
  done(&c);
}
TEST(intercomm_allreduce, 2, "§6.9.6: the result of the data provided by group A is stored at each process of group B, and vice versa") {
  MPI_Comm c = halves();
  int y;
  MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_SUM, c);
  CHECK(y == sum(theirs, Q));
  SAY("%d", y);
  done(&c);
}
TEST(intercomm_gather_scatter, 2, "§6.5, §6.6: the root gathers of all processes of the other group, in its rank order, and scatters to them") {
  MPI_Comm c = halves();
  int a[16], x = rank * 3, y = -1, root = high ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (int i = 0; i < 16; i++) a[i] = -1;
  MPI_Gather(&x, 1, MPI_INT, a, 1, MPI_INT, root, c);
  if (root == MPI_ROOT) for (int i = 0; i < Q; i++) SAY("%d", a[i]);
  MPI_Scatter(a, 1, MPI_INT, &y, 1, MPI_INT, root, c);
  CHECK(y == (high ? x : -1));
  done(&c);
}
TEST(intercomm_gatherv_scatterv, 2, "§6.5.2, §6.6.2: blocks of the other group's processes may differ in length") {
  MPI_Comm c = halves();
  int a[64], n[16], d[16], x[16], y[16], root = high ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (int i = 0, k = 0; i < Q; i++) n[i] = i + 1, d[i] = k, k += i + 2;
  for (int i = 0; i < 64; i++) a[i] = -1;
  for (int i = 0; i < 16; i++) x[i] = 10 * rank + i, y[i] = -1;
  MPI_Gatherv(x, me + 1, MPI_INT, a, n, d, MPI_INT, root, c);
  if (root == MPI_ROOT) for (int i = 0; i < Q; i++) CHECK(a[d[i]] == 10 * theirs(i) && a[d[i] + i] == 10 * theirs(i) + i && a[d[i] + i + 1] == -1);
  MPI_Scatterv(a, n, d, MPI_INT, y, me + 1, MPI_INT, root, c);
  CHECK(high ? y[0] == x[0] && y[me] == x[me] && y[me + 1] == -1 : y[0] == -1);
  done(&c);
}
TEST(intercomm_allgather, 2, "§6.7: each process of a group gets the other group's items; the amounts may differ in the two directions") {
  MPI_Comm c = halves();
  int a[64], x[2] = {rank, -rank}, s = high ? 2 : 1, r = high ? 1 : 2;
  for (int i = 0; i < 64; i++) a[i] = 99;
  MPI_Allgather(x, s, MPI_INT, a, r, MPI_INT, c);
  for (int i = 0; i < Q * r; i++) SAY("%d", a[i]);
  CHECK(a[Q * r] == 99);
  done(&c);
}
TEST(intercomm_alltoall, 2, "§6.8: the j-th block of process i of A is received by process j of B as its i-th block, and vice versa") {
  MPI_Comm c = halves();
  int x[16], a[16];
  for (int i = 0; i < Q; i++) x[i] = 100 * rank + theirs(i);
  MPI_Alltoall(x, 1, MPI_INT, a, 1, MPI_INT, c);
  for (int i = 0; i < Q; i++) CHECK(a[i] == 100 * theirs(i) + rank);
  done(&c);
}
TEST(intercomm_reduce_scatter, 2, "§6.10: the result of group A's data is scattered among the processes of group B") {
  MPI_Comm c = halves();
  int x[64], a[64];
  for (int i = 0; i < P * Q; i++) x[i] = rank + i;
  MPI_Reduce_scatter_block(x, a, Q, MPI_INT, MPI_SUM, c);
  for (int i = 0; i < Q; i++) CHECK(a[i] == sum(theirs, Q) + Q * (me * Q + i));
  done(&c);
}
TEST(intercomm_nonblocking, 2, "§6.12: non-blocking collectives of an intercommunicator may be under way together") {
  MPI_Comm c = halves();
  MPI_Request q[3];
  int x, y, z = high ? 0 : 5;
  MPI_Iallreduce(&rank, &x, 1, MPI_INT, MPI_MAX, c, &q[0]);
  MPI_Iallreduce(&rank, &y, 1, MPI_INT, MPI_MIN, c, &q[1]);
  MPI_Ibarrier(c, &q[2]);
  MPI_Wait(&q[2], NOSTATUS);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  CHECK(x == theirs(Q - 1) && y == theirs(0));
  (void)z;
  done(&c);
}
TEST(intercomm_merge, 2, "§7.6.2: the group that provided high = true is ordered after the one that provided false") {
  MPI_Comm c = halves(), m;
  for (int up = 0; up < 2; up++) {
    int r;
    MPI_Intercomm_merge(c, high == up, &m);
    MPI_Comm_rank(m, &r);
    SAY("%d", r);
    MPI_Comm_free(&m);
  }
  done(&c);
}
TEST(intercomm_dup_compare, 2, "§7.4.1: MPI_CONGRUENT: the same groups in the same order, another context") {
  MPI_Comm c = halves(), d, e;
  MPI_Request q;
  int x;
  MPI_Comm_dup(c, &d);
  MPI_Comm_compare(c, d, &x);
  CHECK(x == MPI_CONGRUENT);
  MPI_Comm_compare(c, c, &x);
  CHECK(x == MPI_IDENT);
  MPI_Comm_compare(c, WORLD, &x);
  CHECK(x == MPI_UNEQUAL);
  MPI_Comm_idup(d, &e, &q);
  MPI_Wait(&q, NOSTATUS);
  MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, e);
  CHECK(x == sum(theirs, Q));
  MPI_Comm_free(&d);
  MPI_Comm_free(&e);
  done(&c);
}
TEST(intercomm_split, 2, "§7.4.2: processes on the left with the same color as those on the right combine; colors of one side only get MPI_COMM_NULL") {
  MPI_Comm c = halves(), d;
  int n, m;
  MPI_Comm_split(c, me % 2, -me, &d);
  if (d == MPI_COMM_NULL) SAY("null");
  else {
    MPI_Comm_size(d, &n);
    MPI_Comm_remote_size(d, &m);
    SAY("%d %d", n, m);
    int a[16];
    MPI_Allgather(&rank, 1, MPI_INT, a, 1, MPI_INT, d);
    for (int i = 0; i < m; i++) SAY("%d", a[i]);
    MPI_Comm_free(&d);
  }
  done(&c);
}
TEST(intercomm_create, 2, "§7.4.2: the local group consists only of those processes contained in group; MPI_COMM_NULL where either side has none") {
  MPI_Comm c = halves(), d;
  MPI_Group g, h;
  int last = P - 1, n = -1;
  MPI_Comm_group(c, &g);
  MPI_Group_incl(g, 1, &last, &h);
  MPI_Comm_create(c, h, &d);
  CHECK((d == MPI_COMM_NULL) == (me != last));
  if (d != MPI_COMM_NULL) {
    MPI_Comm_remote_size(d, &n);
    CHECK(n == 1);
    MPI_Comm_free(&d);
  }
  MPI_Comm_create(c, high ? MPI_GROUP_EMPTY : g, &d);
  CHECK(d == MPI_COMM_NULL);
  MPI_Group_free(&g);
  MPI_Group_free(&h);
  done(&c);
}
TEST(intercomm_errors, 2, "§6.2.3: the in place option is not supported for intercommunicators; §6.11: MPI_SCAN is invalid for them") {
  MPI_Comm c = halves();
  int x = 1, y;
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, c)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, c)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Bcast(&x, 1, MPI_INT, Q, c)) == MPI_ERR_ROOT);
  CHECK(class_of(MPI_Send(&x, 1, MPI_INT, Q, 0, c)) == MPI_ERR_RANK);
  done(&c);
}
TEST(session_communicator, 2, "§11.3: MPI_COMM_CREATE_FROM_GROUP: a communicator of a group alone, beside the World Model") {
#if MPI_AT_LEAST(4, 0)
  MPI_Session s;
  MPI_Group g, h;
  MPI_Comm c;
  int x;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
  MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
  int ranges[1][3] = {{0, size - 1, 2}};
  MPI_Group_range_incl(g, 1, ranges, &h);
  MPI_Comm_create_from_group(g, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
  MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, c);
  SAY("%d", x);
  MPI_Comm_free(&c);
  if (rank % 2 == 0) {
    MPI_Comm_create_from_group(h, "org.example.even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, c);
    SAY("%d", x);
    MPI_Comm_free(&c);
  }
  MPI_Group_free(&g);
  MPI_Group_free(&h);
  MPI_Session_finalize(&s);
#endif
}
