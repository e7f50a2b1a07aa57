/* MPI 4.1 chapter 6. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
static void times(void *a, void *b, int *n, MPI_Datatype *t) { /* 2×2 matrices: associative, not commutative */
  int *x = a, *y = b; (void)t;
  for (int i = 0; i < *n; i++, x += 4, y += 4) {
    int r[4] = {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]};
    for (int k = 0; k < 4; k++) y[k] = r[k] % 10007;
  }
}
static void spaced(void *a, void *b, int *n, MPI_Datatype *t) { /* the same on a type with holes: elements lie at its extent */
  MPI_Aint lb, extent; int one = 1; MPI_Type_get_extent(*t, &lb, &extent);
  for (int i = 0; i < *n; i++) times((char *)a + i * extent, (char *)b + i * extent, &one, t);
}
static int seen_type;
static void plus(void *a, void *b, int *n, MPI_Datatype *t) { seen_type = *t == MPI_INT ? 1 : *t == MPI_UNSIGNED ? 2 : 3; for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i]; }
int main(int argc, char **argv) {
  int i, j; MPI_Request q; MPI_Status st; (void)st;
  begin(&argc, &argv);
  int N = size_, tri = N * (N - 1) / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int root = 0; root < N; root++) {
    int x[3] = {rank_ == root ? root : -1, rank_ == root ? 5 : -1, 9}; MPI_Bcast(x, 2, MPI_INT, root, MPI_COMM_WORLD); CHECK(x[0] == root && x[1] == 5);
    double s = rank_, r = -1; MPI_Reduce(&s, &r, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); CHECK(r == (rank_ == root ? tri : -1));
    int *all = malloc(N * 2 * sizeof(int)), me[2] = {rank_, rank_ * rank_};
    MPI_Gather(me, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD);
    if (rank_ == root) for (i = 0; i < N; i++) CHECK(all[2 * i] == i && all[2 * i + 1] == i * i);
    if (rank_ == root) for (i = 0; i < 2 * N; i++) all[i] = i * 3;
    int got[2]; MPI_Scatter(all, 2, MPI_INT, got, 2, MPI_INT, root, MPI_COMM_WORLD); CHECK(got[0] == rank_ * 6 && got[1] == rank_ * 6 + 3);
    /* "MPI_IN_PLACE … at the root" (6.5) */
    if (rank_ == root) { all[2 * root] = root; all[2 * root + 1] = root * root; MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD); for (i = 0; i < N; i++) CHECK(all[2 * i + 1] == i * i); }
    else MPI_Gather(me, 2, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
    free(all);
  }
  int *c = malloc(N * sizeof(int)), *d = malloc(N * sizeof(int)), *buf = calloc(N * N + N, sizeof(int)), *buf2 = calloc(N * N + N, sizeof(int));
  for (i = 0, j = 0; i < N; i++) { c[i] = i + 1; d[i] = j + i; j += i + 1; } /* a gap of one behind each block */
  int *own = malloc((rank_ + 1) * sizeof(int)); for (i = 0; i <= rank_; i++) own[i] = rank_ * 10 + i;
  MPI_Allgatherv(own, rank_ + 1, MPI_INT, buf, c, d, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < N; i++) for (j = 0; j <= i; j++) CHECK(buf[d[i] + j] == i * 10 + j);
  memset(buf, 0, (N * N + N) * sizeof(int));
  MPI_Gatherv(own, rank_ + 1, MPI_INT, buf, c, d, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank_ == 0) for (i = 0; i < N; i++) CHECK(buf[d[i] + i] == i * 10 + i);
  memset(own, 0, (rank_ + 1) * sizeof(int));
  MPI_Scatterv(buf, c, d, MPI_INT, own, rank_ + 1, MPI_INT, 0, MPI_COMM_WORLD); CHECK(own[rank_] == rank_ * 11);
  for (i = 0; i < N; i++) buf[i] = rank_ * 100 + i;
  MPI_Alltoall(buf, 1, MPI_INT, buf2, 1, MPI_INT, MPI_COMM_WORLD); for (i = 0; i < N; i++) CHECK(buf2[i] == i * 100 + rank_);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, buf, 1, MPI_INT, MPI_COMM_WORLD); for (i = 0; i < N; i++) CHECK(buf[i] == i * 100 + rank_);
  int *sc = malloc(N * sizeof(int)), *sd = malloc(N * sizeof(int)), *rc = malloc(N * sizeof(int)), *rd = malloc(N * sizeof(int));
  for (i = 0; i < N; i++) { sc[i] = i % 3; sd[i] = i * N; rc[i] = rank_ % 3; rd[i] = i * N; }
  for (i = 0; i < N * N; i++) { buf[i] = rank_ * 1000 + i; buf2[i] = -1; }
  MPI_Alltoallv(buf, sc, sd, MPI_INT, buf2, rc, rd, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < N; i++) for (j = 0; j < N; j++) CHECK(buf2[i * N + j] == (j < rank_ % 3 ? i * 1000 + rank_ * N + j : -1));
  MPI_Datatype *ts = malloc(N * sizeof *ts); for (i = 0; i < N; i++) { ts[i] = i % 2 ? MPI_INT : MPI_FLOAT; sd[i] = i * N * 4; rd[i] = i * N * 4; }
  MPI_Datatype *tr = malloc(N * sizeof *tr); for (i = 0; i < N; i++) tr[i] = rank_ % 2 ? MPI_INT : MPI_FLOAT;
  for (i = 0; i < N * N; i++) buf2[i] = -1;
  MPI_Alltoallw(buf, sc, sd, ts, buf2, rc, rd, tr, MPI_COMM_WORLD);
  for (i = 0; i < N; i++) CHECK(buf2[i * N] == (rank_ % 3 ? i * 1000 + rank_ * N : -1));
  /* Every predefined operation */
  int v = rank_ + 1, w; long long lv = rank_ + 1, lw; unsigned char uc = 1 << (rank_ % 8), ud; float f = rank_, g; bool bo = rank_ == 1, bp;
  MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(w == tri + N);
  MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); CHECK(w == N);
  MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); CHECK(w == 1);
  MPI_Allreduce(&lv, &lw, 1, MPI_LONG_LONG, MPI_PROD, MPI_COMM_WORLD); for (long long k = 1, p = 1; k <= N; k++) { p *= k; if (k == N) CHECK(lw == p); }
  MPI_Allreduce(&uc, &ud, 1, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD); CHECK(ud == (N >= 8 ? 255 : (1 << N) - 1));
  MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD); CHECK(w == 1);
  MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD); for (i = 1, j = 0; i <= N; i++) j ^= i; CHECK(w == j);
  MPI_Allreduce(&f, &g, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD); CHECK(g == N - 1);
  MPI_Allreduce(&bo, &bp, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD); CHECK(bp == (N > 1));
  /* Complex, long double, pairs */
  double complex z = 1 + rank_ * I, zz; MPI_Allreduce(&z, &zz, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD); CHECK(creal(zz) == N && cimag(zz) == tri);
  MPI_Allreduce(&z, &zz, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD); double complex pz = 1; for (i = 0; i < N; i++) pz *= 1 + i * I; CHECK(cabs(zz - pz) < 1e-9);
  long double ld = 1.0L / (rank_ + 3), lr, ls = 0; MPI_Allreduce(&ld, &lr, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD); CHECK(lr == 1.0L / 3);
  MPI_Reduce(&ld, &lr, 1, MPI_LONG_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); for (i = 0; i < N; i++) ls += 1.0L / (i + 3); if (rank_ == 0) { long double e = lr - ls; if (e < 0) e = -e; CHECK(e < 1e-30L); }
  struct { double v; int i; } di = {rank_ % 2, rank_}, dj; MPI_Allreduce(&di, &dj, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD); CHECK(N == 1 || (dj.v == 1 && dj.i == 1));
  MPI_Allreduce(&di, &dj, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD); CHECK(dj.v == 0 && dj.i == 0);
  int ii[2] = {-rank_, rank_}, ij[2]; MPI_Allreduce(ii, ij, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD); CHECK(ij[0] == 1 - N && ij[1] == N - 1);
  struct { short v; int i; } si = {(short)(rank_ + 3), rank_}, sj; MPI_Allreduce(&si, &sj, 1, MPI_SHORT_INT, MPI_MINLOC, MPI_COMM_WORLD); CHECK(sj.v == 3 && sj.i == 0);
  /* Scan, exscan, reduce_scatter */
  MPI_Scan(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(w == (rank_ + 1) * (rank_ + 2) / 2);
  w = -5; MPI_Exscan(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(w == (rank_ ? rank_ * (rank_ + 1) / 2 : -5));
  for (i = 0; i < N; i++) buf[i] = i + rank_; MPI_Reduce_scatter_block(buf, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(w == N * rank_ + tri);
  for (i = 0; i < N; i++) { rc[i] = 1 + i % 2; } for (i = 0; i < 2 * N; i++) buf[i] = i * 2 + rank_;
  int rs[2]; MPI_Reduce_scatter(buf, rs, rc, MPI_INT, MPI_SUM, MPI_COMM_WORLD); for (i = 0, j = 0; i < rank_; i++) j += rc[i]; CHECK(rs[0] == N * j * 2 + tri);
  MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(v == tri + N); v = rank_ + 1;
  /* User-defined operations: a commutative one is told the type of the call; one that does not commute keeps the order of ranks (6.9.5) */
  MPI_Op op, mat; MPI_Op_create(plus, 1, &op); MPI_Op_create(times, 0, &mat);
  MPI_Allreduce(&v, &w, 1, MPI_INT, op, MPI_COMM_WORLD); CHECK(w == tri + N); CHECK(seen_type == 0 || seen_type == 1); seen_type = 0;
  MPI_Allreduce(&v, &w, 1, MPI_UNSIGNED, op, MPI_COMM_WORLD); CHECK(w == tri + N); CHECK(seen_type == 0 || seen_type == 2);
  int commute; MPI_Op_commutative(mat, &commute); CHECK(!commute);
  MPI_Datatype m4; MPI_Type_contiguous(4, MPI_INT, &m4); MPI_Type_commit(&m4);
  int mm[4] = {rank_ + 1, 1, rank_, 2}, mr[4], want[4] = {1, 0, 0, 1}; for (i = 0; i < N; i++) { int one[4] = {i + 1, 1, i, 2}, n1 = 1; int left[4]; memcpy(left, want, sizeof left); times(left, one, &n1, &m4); memcpy(want, one, sizeof want); }
  MPI_Allreduce(mm, mr, 1, m4, mat, MPI_COMM_WORLD); CHECK(!memcmp(mr, want, sizeof mr));
  memset(mr, 0, sizeof mr); MPI_Reduce(mm, mr, 1, m4, mat, N - 1, MPI_COMM_WORLD); if (rank_ == N - 1) CHECK(!memcmp(mr, want, sizeof mr));
  MPI_Scan(mm, mr, 1, m4, mat, MPI_COMM_WORLD); if (rank_ == N - 1) CHECK(!memcmp(mr, want, sizeof mr));
  /* a type with holes: every second matrix */
  MPI_Datatype hole; MPI_Type_create_resized(m4, 0, 32, &hole); MPI_Type_commit(&hole);
  int hs[16], hr[16]; for (i = 0; i < 16; i++) { hs[i] = mm[i % 4]; hr[i] = -7; }
  MPI_Op_free(&mat); MPI_Op_create(spaced, 0, &mat); MPI_Allreduce(hs, hr, 2, hole, mat, MPI_COMM_WORLD); CHECK(!memcmp(hr, want, sizeof want) && !memcmp(hr + 8, want, sizeof want) && hr[5] == -7);
  MPI_Type_free(&hole); MPI_Type_free(&m4); MPI_Op_free(&op); MPI_Op_free(&mat); CHECK(op == MPI_OP_NULL);
  int la = 3, lb2 = 4; MPI_Reduce_local(&la, &lb2, 1, MPI_INT, MPI_SUM); CHECK(lb2 == 7);
  /* Non-blocking ones, two at a time (6.12), and persistent ones (6.13) */
  MPI_Request qs[3]; int ib = rank_ == 0 ? 77 : 0, ir; MPI_Ibcast(&ib, 1, MPI_INT, 0, MPI_COMM_WORLD, &qs[0]); MPI_Iallreduce(&v, &ir, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &qs[1]); MPI_Ibarrier(MPI_COMM_WORLD, &qs[2]);
  MPI_Waitall(3, qs, MPI_STATUSES_IGNORE); CHECK(ib == 77 && ir == tri + N);
  int flag = 0; MPI_Ialltoall(buf, 1, MPI_INT, buf2, 1, MPI_INT, MPI_COMM_WORLD, &q); while (!flag) MPI_Test(&q, &flag, MPI_STATUS_IGNORE); CHECK(buf2[0] == rank_ * 2);
  MPI_Allreduce_init(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
  for (i = 0; i < 3; i++) { v = rank_ + i; w = 0; MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE); CHECK(w == tri + N * i); } MPI_Request_free(&q);
  /* §6.13: initializations of persistent collectives match in their order; the order of their starts is each process's own */
  int first = 0, second = 0; MPI_Bcast_init(&first, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &qs[0]); MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &qs[1]); MPI_Bcast_init(&second, 1, MPI_INT, N - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &qs[2]);
  for (i = 1; i < 4; i++) {
    first = rank_ == 0 ? i : 0; second = rank_ == N - 1 ? -i : 0;
    for (j = 0; j < 3; j++) { MPI_Start(&qs[(rank_ * i + j) % 3]); if (j == 1) MPI_Allreduce(&rank_, &ir, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
    MPI_Waitall(3, qs, MPI_STATUSES_IGNORE); CHECK(first == i && second == -i && ir == tri);
  }
  for (j = 0; j < 3; j++) MPI_Request_free(&qs[j]);
  /* "An argument of type OUT or type INOUT cannot be aliased with any other argument" (§2.3): told at once, and nothing is begun */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int same[64] = {0}, each[16], places[16], x4[4]; for (i = 0; i < N; i++) { each[i] = 1; places[i] = i; }
#define ALIASED(call) CHECK(class_of(call) == MPI_ERR_BUFFER)
  ALIASED(MPI_Allreduce(same, same, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); ALIASED(MPI_Iscan(same, same, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q)); ALIASED(MPI_Reduce_local(same, same, 1, MPI_INT, MPI_SUM));
  ALIASED(MPI_Allgather(same + rank_, 1, MPI_INT, same, 1, MPI_INT, MPI_COMM_WORLD)); ALIASED(MPI_Allgatherv(same + rank_, 1, MPI_INT, same, each, places, MPI_INT, MPI_COMM_WORLD));
  ALIASED(MPI_Alltoall(same, 1, MPI_INT, same, 1, MPI_INT, MPI_COMM_WORLD)); ALIASED(MPI_Alltoallv(same, each, places, MPI_INT, same, each, places, MPI_INT, MPI_COMM_WORLD)); ALIASED(MPI_Reduce_scatter_block(same, same, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (rank_ == 0) { ALIASED(MPI_Gather(same, 1, MPI_INT, same, 1, MPI_INT, 0, MPI_COMM_WORLD)); ALIASED(MPI_Scatterv(same, each, places, MPI_INT, same, 1, MPI_INT, 0, MPI_COMM_WORLD)); ALIASED(MPI_Reduce(same, same, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD)); }
  CHECK(class_of(MPI_Allreduce(same, same + 1, 1, MPI_BYTE, MPI_MAX, MPI_COMM_WORLD)) == MPI_ERR_OP); CHECK(MPI_Allreduce(same, same + 1, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD) == MPI_SUCCESS);
  /* Counts that do not fit: whoever depends on what could not be computed is told, nobody waits for ever, and the next collective is in order. */
  int fault = MPI_Bcast(x4, rank_ == 0 ? 1 : 4, MPI_INT, 0, MPI_COMM_WORLD); CHECK(rank_ == 0 ? fault == MPI_SUCCESS : fault != MPI_SUCCESS);
  fault = MPI_Allreduce(same, same + 4, rank_ == 0 ? 1 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK((N > 1) == (fault != MPI_SUCCESS));
  MPI_Allreduce(&rank_, &ir, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CHECK(ir == tri);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#ifdef __MAYFLY_LONG64__
  /* Values that differ in the upper half, and beyond what a double tells apart; the pair of MPI_LONG, and both in external32 */
  struct { long v; int i; } mine_ = {(1L << 60) + rank_ / 2, rank_}, most_; MPI_Datatype pair; MPI_Aint at = 0; int bytes; long back[2]; unsigned char big[8]; unsigned long ul = -1UL, us;
  MPI_Allreduce(&mine_, &most_, 1, MPI_LONG_INT, MPI_MAXLOC, MPI_COMM_WORLD); CHECK(most_.v == (1L << 60) + (N - 1) / 2 && most_.i == (N - 1) / 2 * 2);
  mine_.v = -mine_.v; MPI_Allreduce(&mine_, &most_, 1, MPI_LONG_INT, MPI_MINLOC, MPI_COMM_WORLD); CHECK(most_.v == -(1L << 60) - (N - 1) / 2 && most_.i == (N - 1) / 2 * 2);
  MPI_Allreduce(&ul, &us, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD); CHECK(us == -1UL * N);
  MPI_Type_get_value_index(MPI_LONG, MPI_INT, &pair); CHECK(pair == MPI_LONG_INT); MPI_Type_size(pair, &bytes); CHECK(bytes == 12 && sizeof mine_ == 16);
  MPI_Pack_external("external32", (long[]){-5, 7}, 2, MPI_LONG, big, 8, &at); CHECK(at == 8 && big[0] == 0xff && big[3] == 0xfb && big[7] == 7);
  at = 0; MPI_Unpack_external("external32", big, 8, &at, back, 2, MPI_LONG); CHECK(back[0] == -5 && back[1] == 7);
#endif
  /* Long vectors: the other algorithms */
  enum { L = 20000 }; double *x = malloc(L * sizeof *x), *y = malloc(L * sizeof *y); for (i = 0; i < L; i++) x[i] = rank_ + i;
  MPI_Allreduce(x, y, L, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); for (i = 0; i < L; i += 997) CHECK(y[i] == tri + (double)N * i);
  MPI_Bcast(x, L, MPI_DOUBLE, N - 1, MPI_COMM_WORLD); CHECK(x[5] == N - 1 + 5);
  return finish();
}
