/* Collectives (MPI 4.1 chapter 6): blocking forms, vectors, MPI_IN_PLACE, derived types. ranks: 1 2 3 5 8 13 */
#include "check.h"

TEST(barrier, 1, "§6.3: MPI_BARRIER blocks the caller until all group members have called it") {
  for (int i = 0; i < 3; i++) MPI_Barrier(WORLD);
}
TEST(barrier_orders, 2, "§6.3: The call returns at any process only after all group members have entered the call") {
  int x = 5, flag = 0;
  if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, TAG, WORLD);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    /* The message precedes the barrier's own ones of rank 1; a probe of it need not wait for rank 1 any more. */
    MPI_Recv(&x, 1, MPI_INT, 1, TAG, WORLD, NOSTATUS);
    flag = x == 5;
    CHECK(flag);
  }
}
TEST(bcast, 1, "§6.4: MPI_BCAST broadcasts a message from the process with rank root to all processes of the group, itself included") {
  for (int root = 0; root < size; root++) {
    int a[100];
    if (rank == root) fill(a, 100, root);
    MPI_Bcast(a, 100, MPI_INT, root, WORLD);
    CHECK(filled(a, 100, root));
  }
}
TEST(bcast_sizes, 1, "§6.4: ... of any count, zero included") {
  int sizes[] = {0, 1, 3, 1000, 20000};
  for (int k = 0; k < LENGTH(sizes); k++) {
    int n = sizes[k], *a = malloc((size_t)(n + 1) * sizeof *a);
    if (rank == size - 1) fill(a, n, k);
    a[n] = -5;
    MPI_Bcast(a, n, MPI_INT, size - 1, WORLD);
    CHECK(filled(a, n, k) && a[n] == -5);
    free(a);
  }
}
TEST(bcast_types, 1, "§6.4: ... distinct type maps between root and others are allowed") {
  int a[12];
  MPI_Datatype t;
  MPI_Type_vector(3, 1, 4, MPI_INT, &t);
  MPI_Type_commit(&t);
  memset(a, -1, sizeof a);
  if (rank == 0) {
    fill(a, 3, 0);
    MPI_Bcast(a, 3, MPI_INT, 0, WORLD);
  } else {
    MPI_Bcast(a, 1, t, 0, WORLD);
    CHECK(a[0] == value(0, 0) && a[4] == value(0, 1) && a[8] == value(0, 2) && a[1] == -1);
  }
  MPI_Type_free(&t);
}
TEST(gather, 1, "§6.5: the root process receives the messages and stores them in rank order") {
  int a[3], *b = malloc((size_t)size * 3 * sizeof *b);
  for (int root = 0; root < size; root++) {
    fill(a, 3, rank);
    MPI_Gather(a, 3, MPI_INT, rank == root ? b : NULL, 3, MPI_INT, root, WORLD);
    if (rank == root)
      for (int r = 0; r < size; r++) CHECK(filled(b + 3 * r, 3, r));
  }
  free(b);
}
TEST(gather_in_place, 1, "§6.5: the in place option ... MPI_IN_PLACE as the value of sendbuf at the root: its contribution is assumed to be in the correct place") {
  int a[2], *b = malloc((size_t)size * 2 * sizeof *b);
  fill(a, 2, rank);
  if (rank == size - 1) {
    fill(b + 2 * rank, 2, rank);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, b, 2, MPI_INT, rank, WORLD);
    for (int r = 0; r < size; r++) CHECK(filled(b + 2 * r, 2, r));
  } else MPI_Gather(a, 2, MPI_INT, NULL, 0, MPI_INT, size - 1, WORLD);
  free(b);
}
TEST(gatherv, 1, "§6.5: MPI_GATHERV ... allows a varying count of data from each process ... displs gives flexibility as to where the data is placed on the root") {
  int a[16], counts[16], displs[16], b[400];
  fill(a, rank, rank);
  memset(b, -1, sizeof b);
  for (int r = 0; r < size; r++) {
    counts[r] = r;
    displs[r] = 20 * (size - 1 - r);
  }
  MPI_Gatherv(a, rank, MPI_INT, b, counts, displs, MPI_INT, 0, WORLD);
  if (rank == 0)
    for (int r = 0; r < size; r++) CHECK(filled(b + displs[r], r, r) && b[displs[r] + r] == -1);
}
TEST(scatter, 1, "§6.6: MPI_SCATTER is the inverse operation to MPI_GATHER") {
  int a[2], *b = malloc((size_t)size * 2 * sizeof *b);
  for (int root = 0; root < size; root++) {
    for (int r = 0; r < size; r++) fill(b + 2 * r, 2, r + 50 * root);
    MPI_Scatter(rank == root ? b : NULL, 2, MPI_INT, a, 2, MPI_INT, root, WORLD);
    CHECK(filled(a, 2, rank + 50 * root));
  }
  free(b);
}
TEST(scatter_in_place, 1, "§6.6: MPI_IN_PLACE as the value of recvbuf at the root: the root sends no data to itself") {
  int a[2], b[32];
  for (int r = 0; r < size; r++) fill(b + 2 * r, 2, r);
  if (rank == 0) MPI_Scatter(b, 2, MPI_INT, MPI_IN_PLACE, 2, MPI_INT, 0, WORLD);
  else {
    MPI_Scatter(NULL, 2, MPI_INT, a, 2, MPI_INT, 0, WORLD);
    CHECK(filled(a, 2, rank));
  }
  CHECK(filled(b, 2, 0));
}
TEST(scatterv, 1, "§6.6: MPI_SCATTERV ... counts and displacements per process") {
  int a[16], counts[16], displs[16], b[400];
  for (int r = 0; r < size; r++) {
    counts[r] = size - r;
    displs[r] = 20 * r + 1;
    fill(b + displs[r], counts[r], r);
  }
  memset(a, -1, sizeof a);
  MPI_Scatterv(b, counts, displs, MPI_INT, a, size - rank, MPI_INT, size - 1, WORLD);
  CHECK(filled(a, size - rank, rank));
}
TEST(allgather, 1, "§6.7: MPI_ALLGATHER can be thought of as MPI_GATHER, but where all processes receive the result") {
  int a[3], b[48];
  fill(a, 3, rank);
  MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + 3 * r, 3, r));
  memset(b, -1, sizeof b);
  fill(b + 3 * rank, 3, rank);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, 3, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + 3 * r, 3, r));
}
TEST(allgather_long, 1, "§6.7: ... long blocks") {
  enum { N = 5000 };
  int *b = malloc((size_t)size * N * sizeof *b);
  fill(b + rank * N, N, rank);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + r * N, N, r));
  free(b);
}
TEST(allgatherv, 1, "§6.7: MPI_ALLGATHERV") {
  int a[16], counts[16], displs[16], b[200], at = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = r % 3 + (r == 0);
    displs[r] = at;
    at += counts[r] + 1;
  }
  memset(b, -1, sizeof b);
  fill(a, counts[rank], rank);
  MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + displs[r], counts[r], r) && b[displs[r] + counts[r]] == -1);
}
TEST(alltoall, 1, "§6.8: The j-th block sent from process i is received by process j and is placed in the i-th block of recvbuf") {
  int a[32], b[32];
  for (int r = 0; r < size; r++) fill(a + 2 * r, 2, 20 * rank + r);
  MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + 2 * r, 2, 20 * r + rank));
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, a, 2, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(a + 2 * r, 2, 20 * r + rank));
}
TEST(alltoallv, 1, "§6.8: MPI_ALLTOALLV adds flexibility to MPI_ALLTOALL in that the location of data is specified by displacements") {
  int a[400], b[400], sc[16], sd[16], rc[16], rd[16];
  memset(b, -1, sizeof b);
  for (int r = 0; r < size; r++) {
    sc[r] = (rank + r) % 4;
    sd[r] = 5 * r;
    rc[r] = (rank + r) % 4;
    rd[r] = 5 * (size - 1 - r);
    fill(a + sd[r], sc[r], 20 * rank + r);
  }
  MPI_Alltoallv(a, sc, sd, MPI_INT, b, rc, rd, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + rd[r], rc[r], 20 * r + rank) && b[rd[r] + rc[r]] == -1);
}
TEST(alltoallw, 1, "§6.8: MPI_ALLTOALLW ... separate specification of count, displacement and datatype; displacements in bytes") {
  char a[512], b[512];
  int sc[16], sd[16], rc[16], rd[16];
  MPI_Datatype st[16], rt[16];
  for (int r = 0; r < size; r++) {
    sc[r] = rc[r] = 1;
    sd[r] = rd[r] = 16 * r;
    st[r] = r % 2 ? MPI_DOUBLE : MPI_INT;
    rt[r] = rank % 2 ? MPI_DOUBLE : MPI_INT;
    if (r % 2) *(double *)(a + 16 * r) = rank + r / 100.0;
    else *(int *)(a + 16 * r) = 100 * rank + r;
  }
  MPI_Alltoallw(a, sc, sd, st, b, rc, rd, rt, WORLD);
  for (int r = 0; r < size; r++)
    if (rank % 2) CHECK(*(double *)(b + 16 * r) == r + rank / 100.0);
    else CHECK(*(int *)(b + 16 * r) == 100 * r + rank);
}
TEST(reduce_sum, 1, "§6.9.1: MPI_REDUCE combines the elements provided in the input buffer of each process ... and returns the combined value in the output buffer of root") {
  int a[4], b[4];
  for (int root = 0; root < size; root++) {
    fill(a, 4, rank);
    memset(b, -1, sizeof b);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, root, WORLD);
    if (rank == root)
      for (int i = 0; i < 4; i++) CHECK(b[i] == 1000 * size * (size - 1) / 2 + size * (7 * i + 3));
    else CHECK(all(b, 4, -1));
  }
}
TEST(reduce_in_place, 1, "§6.9.1: MPI_IN_PLACE as sendbuf at the root: the input data is taken from the receive buffer") {
  int b[2] = {rank, 2 * rank};
  if (rank == 0) {
    MPI_Reduce(MPI_IN_PLACE, b, 2, MPI_INT, MPI_SUM, 0, WORLD);
    CHECK(b[0] == size * (size - 1) / 2 && b[1] == size * (size - 1));
  } else {
    MPI_Reduce(b, NULL, 2, MPI_INT, MPI_SUM, 0, WORLD);
    CHECK(b[0] == rank);
  }
}
TEST(allreduce_ops, 1, "§6.9.2: MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR") {
  MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  for (int k = 0; k < LENGTH(ops); k++) {
    int a[3] = {rank + 1, rank % 2 + 1, rank == 2 ? 0 : 6}, b[3];
    if (ops[k] == MPI_PROD) a[0] = rank % 3 + 1;
    MPI_Allreduce(a, b, 3, MPI_INT, ops[k], WORLD);
    SAY("%d,%d,%d", b[0], b[1], b[2]);
  }
}
TEST(allreduce_types, 1, "§6.9.2: operations and the types that they are defined for") {
#define REDUCED(ctype, type, op)                                                                                        \
  do {                                                                                                                  \
    ctype x_ = (ctype)(rank + 1), y_ = 0;                                                                               \
    MPI_Allreduce(&x_, &y_, 1, type, op, WORLD);                                                                        \
    SAY("%lld", (long long)y_);                                                                                         \
  } while (0)
  REDUCED(signed char, MPI_SIGNED_CHAR, MPI_SUM);
  REDUCED(unsigned char, MPI_UNSIGNED_CHAR, MPI_MAX);
  REDUCED(short, MPI_SHORT, MPI_SUM);
  REDUCED(unsigned short, MPI_UNSIGNED_SHORT, MPI_BOR);
  REDUCED(unsigned, MPI_UNSIGNED, MPI_SUM);
  REDUCED(long, MPI_LONG, MPI_MAX);
  REDUCED(unsigned long, MPI_UNSIGNED_LONG, MPI_SUM);
  REDUCED(long long, MPI_LONG_LONG, MPI_PROD);
  REDUCED(unsigned long long, MPI_UNSIGNED_LONG_LONG, MPI_BXOR);
  REDUCED(float, MPI_FLOAT, MPI_SUM);
  REDUCED(double, MPI_DOUBLE, MPI_PROD);
  REDUCED(long double, MPI_LONG_DOUBLE, MPI_SUM);
  REDUCED(int8_t, MPI_INT8_T, MPI_MIN);
  REDUCED(uint16_t, MPI_UINT16_T, MPI_SUM);
  REDUCED(int32_t, MPI_INT32_T, MPI_BAND);
  REDUCED(uint64_t, MPI_UINT64_T, MPI_SUM);
  REDUCED(int64_t, MPI_INT64_T, MPI_LXOR);
  REDUCED(MPI_Aint, MPI_AINT, MPI_SUM);
  REDUCED(MPI_Offset, MPI_OFFSET, MPI_MAX);
  REDUCED(MPI_Count, MPI_COUNT, MPI_SUM);
  REDUCED(unsigned char, MPI_BYTE, MPI_BOR);
  REDUCED(_Bool, MPI_C_BOOL, MPI_LAND);
}
TEST(complex_sum, 1, "§6.9.2: complex: MPI_SUM and MPI_PROD") {
  double x[2] = {rank, 1}, y[2];
  MPI_Allreduce(x, y, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, WORLD);
  SAY("%g %g", y[0], y[1]);
  x[0] = 1;
  MPI_Allreduce(x, y, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, WORLD);
  SAY("%g %g", y[0], y[1]);
}
TEST(minloc_maxloc, 1, "§6.9.4: MPI_MINLOC and MPI_MAXLOC ... if the values are equal the lower index") {
  struct { int v, i; } a = {(rank * 7) % 5, rank}, b;
  MPI_Allreduce(&a, &b, 1, MPI_2INT, MPI_MAXLOC, WORLD);
  SAY("%d@%d", b.v, b.i);
  MPI_Allreduce(&a, &b, 1, MPI_2INT, MPI_MINLOC, WORLD);
  SAY("%d@%d", b.v, b.i);
  struct { double v; int i; } c = {(rank * 3) % 4 / 2.0, rank}, d;
  MPI_Allreduce(&c, &d, 1, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
  SAY("%g@%d", d.v, d.i);
  struct { float v; int i; } e = {(float)(-rank), rank}, f;
  MPI_Allreduce(&e, &f, 1, MPI_FLOAT_INT, MPI_MINLOC, WORLD);
  SAY("%g@%d", f.v, f.i);
  struct { short v; int i; } g = {(short)(rank % 2), rank}, h;
  MPI_Allreduce(&g, &h, 1, MPI_SHORT_INT, MPI_MAXLOC, WORLD);
  SAY("%d@%d", h.v, h.i);
  struct { long v; int i; } k = {rank / 2, rank}, l;
  MPI_Allreduce(&k, &l, 1, MPI_LONG_INT, MPI_MAXLOC, WORLD);
  SAY("%ld@%d", l.v, l.i);
}
TEST(allreduce_in_place_long, 1, "§6.9.6: MPI_ALLREDUCE ... MPI_IN_PLACE at all processes; the same result at all of them") {
  enum { N = 4000 };
  static double a[N];
  for (int i = 0; i < N; i++) a[i] = (rank + 1) * 0.1 * (i % 17);
  MPI_Allreduce(MPI_IN_PLACE, a, N, MPI_DOUBLE, MPI_SUM, WORLD);
  static double b[N];
  memcpy(b, a, sizeof a);
  MPI_Bcast(b, N, MPI_DOUBLE, 0, WORLD);
  CHECK(memcmp(a, b, sizeof a) == 0);
  for (int i = 0; i < N; i++) CHECK(a[i] > size * (size + 1) / 2 * 0.1 * (i % 17) - 1e-9 && a[i] < size * (size + 1) / 2 * 0.1 * (i % 17) + 1e-9);
}
/* Composition of x → a x + b: associative, not commutative. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *t) {
  (void)t;
  unsigned *f = in, *g = inout;
  for (int i = 0; i < *n; i++) {
    unsigned a = f[2 * i] * g[2 * i], b = g[2 * i] * f[2 * i + 1] + g[2 * i + 1];
    g[2 * i] = a;
    g[2 * i + 1] = b;
  }
}
TEST(user_op_not_commutative, 1, "§6.9.5: If commute = false, then the order of operands is fixed and is defined to be in ascending, process rank order") {
  unsigned a[6], b[6], x[6];
  MPI_Op op;
  MPI_Datatype t;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &t);
  MPI_Type_commit(&t);
  MPI_Op_create(compose, 0, &op);
  int c = 1;
  MPI_Op_commutative(op, &c);
  CHECK(c == 0);
  for (int i = 0; i < 3; i++) {
    a[2 * i] = (unsigned)(rank + 2 + i);
    a[2 * i + 1] = (unsigned)(3 * rank + 1);
    x[2 * i] = 1;
    x[2 * i + 1] = 0;
  }
  for (int r = 0; r < size; r++) {
    unsigned f[6];
    for (int i = 0; i < 3; i++) {
      f[2 * i] = (unsigned)(r + 2 + i);
      f[2 * i + 1] = (unsigned)(3 * r + 1);
    }
    int n = 3;
    compose(x, f, &n, &t);
    memcpy(x, f, sizeof x);
  }
  MPI_Allreduce(a, b, 3, t, op, WORLD);
  CHECK(memcmp(b, x, sizeof b) == 0);
  memset(b, 0, sizeof b);
  MPI_Reduce(a, b, 3, t, op, size - 1, WORLD);
  if (rank == size - 1) CHECK(memcmp(b, x, sizeof b) == 0);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Type_free(&t);
}
TEST(reduce_scatter_block, 1, "§6.10.1: MPI_REDUCE_SCATTER_BLOCK ... the i-th block of the vector is sent to process i") {
  int a[32], b[2];
  for (int i = 0; i < 2 * size; i++) a[i] = rank + 100 * i;
  MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, WORLD);
  for (int i = 0; i < 2; i++) CHECK(b[i] == size * (size - 1) / 2 + 100 * size * (2 * rank + i));
  MPI_Reduce_scatter_block(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, WORLD);
  for (int i = 0; i < 2; i++) CHECK(a[i] == size * (size - 1) / 2 + 100 * size * (2 * rank + i));
}
TEST(reduce_scatter, 1, "§6.10.2: MPI_REDUCE_SCATTER extends ... such that the scattered blocks can vary in size") {
  int counts[16], a[200], b[16], n = 0, mine = 0;
  for (int r = 0; r < size; r++) {
    if (r == rank) mine = n;
    counts[r] = r % 3;
    n += counts[r];
  }
  for (int i = 0; i < n; i++) a[i] = rank + 100 * i;
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, WORLD);
  for (int i = 0; i < counts[rank]; i++) CHECK(b[i] == size * (size - 1) / 2 + 100 * size * (mine + i));
}
TEST(scan, 1, "§6.11.1: MPI_SCAN is used to perform an inclusive prefix reduction") {
  int a[2] = {rank + 1, 1}, b[2];
  MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, WORLD);
  CHECK(b[0] == (rank + 1) * (rank + 2) / 2 && b[1] == rank + 1);
  MPI_Scan(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, WORLD);
  CHECK(a[0] == b[0]);
}
TEST(exscan, 1, "§6.11.2: MPI_EXSCAN ... exclusive prefix reduction; the value in recvbuf on the process with rank 0 is undefined") {
  int a[2] = {rank + 1, 1}, b[2] = {-1, -1};
  MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, WORLD);
  if (rank > 0) CHECK(b[0] == rank * (rank + 1) / 2 && b[1] == rank);
  MPI_Exscan(MPI_IN_PLACE, a, 2, MPI_INT, MPI_MAX, WORLD);
  if (rank > 0) CHECK(a[0] == rank);
}
TEST(scan_not_commutative, 1, "§6.11: ... operands in ascending rank order") {
  unsigned a[2] = {(unsigned)rank + 2, 1}, b[2], x[2] = {1, 0};
  MPI_Op op;
  MPI_Datatype t;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &t);
  MPI_Type_commit(&t);
  MPI_Op_create(compose, 0, &op);
  for (int r = 0; r <= rank; r++) {
    unsigned f[2] = {(unsigned)r + 2, 1};
    int n = 1;
    compose(x, f, &n, &t);
    memcpy(x, f, sizeof x);
  }
  MPI_Scan(a, b, 1, t, op, WORLD);
  CHECK(b[0] == x[0] && b[1] == x[1]);
  MPI_Op_free(&op);
  MPI_Type_free(&t);
}
TEST(reduce_local, 1, "§6.9.7: MPI_REDUCE_LOCAL ... inoutbuf[i] = inbuf[i] op inoutbuf[i]") {
  int a[3] = {1, 5, 3}, b[3] = {4, 2, 6};
  MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM);
  CHECK(b[0] == 5 && b[1] == 7 && b[2] == 9);
  MPI_Reduce_local(a, b, 3, MPI_INT, MPI_MAX);
  CHECK(b[1] == 7);
}
TEST(op_commutative, 1, "§6.9.5: MPI_OP_COMMUTATIVE queries reduction operators for their commutativity: predefined ones are commutative") {
  MPI_Op ops[] = {MPI_MAX, MPI_SUM, MPI_MINLOC, MPI_BXOR};
  for (int i = 0; i < LENGTH(ops); i++) {
    int c = 0;
    MPI_Op_commutative(ops[i], &c);
    CHECK(c == 1);
  }
}
TEST(collectives_and_messages, 2, "§6.1: collective messages do not match point-to-point ones: the two use different contexts") {
  int x = 1, y = 0, s = 0;
  MPI_Request r;
  MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &r);
  MPI_Allreduce(&x, &s, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(s == size);
  MPI_Send(&rank, 1, MPI_INT, right, TAG, WORLD);
  MPI_Wait(&r, NOSTATUS);
  CHECK(y == left);
}
TEST(different_roots, 2, "§6.13: collective operations must be executed in the same order at all members of the communicator group") {
  int x, sum = 0;
  for (int i = 0; i < 10; i++) {
    x = rank == i % size ? i : -1;
    MPI_Bcast(&x, 1, MPI_INT, i % size, WORLD);
    sum += x;
  }
  CHECK(sum == 45);
}
TEST(zero_counts, 1, "§6.5: counts of zero: no data is moved") {
  int a = 1, b = 2, c[16] = {0}, d[16] = {0};
  MPI_Gather(&a, 0, MPI_INT, &b, 0, MPI_INT, 0, WORLD);
  MPI_Scatter(&a, 0, MPI_INT, &b, 0, MPI_INT, 0, WORLD);
  MPI_Allgather(&a, 0, MPI_INT, &b, 0, MPI_INT, WORLD);
  MPI_Alltoall(&a, 0, MPI_INT, &b, 0, MPI_INT, WORLD);
  MPI_Allreduce(&a, &b, 0, MPI_INT, MPI_SUM, WORLD);
  MPI_Alltoallv(&a, c, d, MPI_INT, &b, c, d, MPI_INT, WORLD);
  MPI_Reduce(&a, &b, 0, MPI_INT, MPI_SUM, 0, WORLD);
  CHECK(a == 1 && b == 2);
}
#if MPI_AT_LEAST(4, 0)
TEST(collectives_c, 1, "§6: the large count forms") {
  int a[2], b[32];
  MPI_Count counts[16];
  MPI_Aint displs[16];
  fill(a, 2, rank);
  MPI_Allgather_c(a, 2, MPI_INT, b, 2, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(filled(b + 2 * r, 2, r));
  for (int r = 0; r < size; r++) {
    counts[r] = 1;
    displs[r] = size - 1 - r;
  }
  MPI_Allgatherv_c(a, 1, MPI_INT, b, counts, displs, MPI_INT, WORLD);
  for (int r = 0; r < size; r++) CHECK(b[size - 1 - r] == value(r, 0));
  MPI_Allreduce_c(&rank, b, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(b[0] == size * (size - 1) / 2);
}
#endif
