/* ranks: 6. One test for each call of ULFM and each of the rules U1 to U5. Three processes fail: the last before the tests, the two before it inside them. */
#include "ulfm.h"

static MPI_Comm A, B, C, D, E, F, G;
static int first, second, third;

TEST(delivered, "MPIX_ERR_PROC_FAILED: a process failure prevents the completion of an MPI operation; what was sent before it is received") {
  int x = -1;
  if (rank != 0) return;
  for (int i = 0; i < 3; i++) {
    WORKS(MPI_Recv(&x, 1, MPI_INT, first, i, A, MPI_STATUS_IGNORE));
    CHECK(x == 10 + i);
  }
  FAILS(MPI_Recv(&x, 1, MPI_INT, first, 3, A, MPI_STATUS_IGNORE));
}

TEST(get_failed, "returns the group of processes that are locally known to have failed") {
  MPI_Group g;
  hear(A, 1);
  WORKS(MPIX_Comm_get_failed(A, &g));
  CHECK(is_rank(g, A, first));
  MPI_Group_free(&g);
}

TEST(failure_ack, "gives the users a way to acknowledge all locally notified failures on comm") {
  MPI_Group g;
  int n = -1;
  WORKS(MPIX_Comm_failure_get_acked(A, &g));
  WORKS(MPI_Group_size(g, &n));
  CHECK(n == 0);
  WORKS(MPIX_Comm_failure_ack(A));
  WORKS(MPIX_Comm_failure_get_acked(A, &g));
  CHECK(is_rank(g, A, first));
  MPI_Group_free(&g);
}

TEST(ack_failed, "acknowledges the first num_to_ack process failures on comm … sets the value of num_acked to the current number of acknowledged process failures") {
  int n = -1;
  hear(B, 1);
  WORKS(MPIX_Comm_ack_failed(B, 0, &n));
  CHECK(n == 0);
  WORKS(MPIX_Comm_ack_failed(B, 5, &n));
  CHECK(n == 1);
  WORKS(MPIX_Comm_ack_failed(B, 0, &n));
  CHECK(n == 1);
}

TEST(peers, "point to point with a failed peer fails; between others it does not") {
  int x = rank, y = -1, left = (rank + first - 1) % first, right = (rank + 1) % first;
  MPI_Request r[2];
  hear(C, 1);
  FAILS(MPI_Send(&x, 1, MPI_INT, first, 0, C));
  FAILS(MPI_Ssend(&x, 1, MPI_INT, first, 0, C));
  FAILS(MPI_Recv(&y, 1, MPI_INT, first, 0, C, MPI_STATUS_IGNORE));
  FAILS(MPI_Probe(first, 0, C, MPI_STATUS_IGNORE));
  WORKS(MPI_Isend(&x, 1, MPI_INT, first, 0, C, &r[0]));
  FAILS(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
  WORKS(MPI_Sendrecv(&x, 1, MPI_INT, right, 1, &y, 1, MPI_INT, left, 1, C, MPI_STATUS_IGNORE));
  CHECK(y == left);
}

TEST(any_source, "a potential sender matching a non-blocking wildcard source receive has failed: MPIX_ERR_PROC_FAILED_PENDING; after an acknowledgement it proceeds without further raising errors") {
  int x = 5, y = -1, flag = 1;
  MPI_Request r;
  MPI_Status s;
  hear(C, 1);
  if (rank == 0) {
    FAILS(MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 2, C, &s));
    WORKS(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 2, C, &r));
    CHECK(class_of(MPI_Wait(&r, &s)) == MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(r != MPI_REQUEST_NULL);
    CHECK(class_of(MPI_Test(&r, &flag, &s)) == MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(class_of(MPI_Waitall(1, &r, &s)) == MPI_ERR_IN_STATUS && s.MPI_ERROR == MPIX_ERR_PROC_FAILED_PENDING);
    WORKS(MPI_Send(&x, 1, MPI_INT, 1, 3, C));
    WORKS(MPIX_Comm_failure_ack(C));
    WORKS(MPI_Wait(&r, &s));
    CHECK(y == 6 && s.MPI_SOURCE == 1 && r == MPI_REQUEST_NULL);
  } else if (rank == 1) {
    WORKS(MPI_Recv(&x, 1, MPI_INT, 0, 3, C, MPI_STATUS_IGNORE));
    x = 6;
    WORKS(MPI_Send(&x, 1, MPI_INT, 0, 2, C));
  }
}

TEST(collective, "a collective that involves a failed process fails, and no process waits for ever") {
  int x[8] = {0}, y[8] = {0};
  MPI_Comm none;
  FAILS(MPI_Barrier(D));
  FAILS(MPI_Bcast(x, 1, MPI_INT, 0, D));
  FAILS(MPI_Bcast(x, 1, MPI_INT, first, D));
  FAILS(MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, 0, D));
  FAILS(MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, D));
  FAILS(MPI_Gather(x, 1, MPI_INT, y, 1, MPI_INT, 0, D));
  FAILS(MPI_Scatter(x, 1, MPI_INT, y, 1, MPI_INT, 1, D));
  FAILS(MPI_Allgather(x, 1, MPI_INT, y, 1, MPI_INT, D));
  FAILS(MPI_Alltoall(x, 1, MPI_INT, y, 1, MPI_INT, D));
  FAILS(MPI_Scan(x, y, 1, MPI_INT, MPI_SUM, D));
  FAILS(MPI_Comm_dup(D, &none));
  FAILS(MPI_Comm_split(D, 0, 0, &none));
}

TEST(nonblocking_collective, "errors of nonblocking operations come from their completion") {
  int x = 1, y[2];
  MPI_Request r[2];
  WORKS(MPI_Ibarrier(D, &r[0]));
  WORKS(MPI_Iallreduce(&x, y, 1, MPI_INT, MPI_SUM, D, &r[1]));
  FAILS(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
  FAILS(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
}

TEST(agree, "all non-failed MPI processes have agreed to set the output integer value of flag to the result of a bitwise AND operation over the contributed input values of flag … the error is consistently raised; an acknowledged failure is not raised") {
  int flag = 7 & ~(1 << (rank & 1));
  FAILS(MPIX_Comm_agree(E, &flag));
  CHECK(flag == 4);
  WORKS(MPIX_Comm_failure_ack(E));
  flag = 12 + rank % 2;
  WORKS(MPIX_Comm_agree(E, &flag));
  CHECK(flag == 12);
}

TEST(iagree, "MPIX_Comm_iagree is the non-blocking variant of MPIX_Comm_agree") {
  int a = 3, b = 6 + (rank == 1);
  MPI_Request r[2];
  WORKS(MPIX_Comm_iagree(E, &a, &r[0]));
  WORKS(MPIX_Comm_iagree(E, &b, &r[1]));
  WORKS(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  CHECK(a == 3 && b == 6);
}

TEST(shrink, "creates a new communicator … while excluding failed processes; ranks keep their order") {
  MPI_Comm small, too;
  MPI_Request r;
  int n = 0, me = -1, sum = 0, one = 1;
  WORKS(MPIX_Comm_shrink(F, &small));
  MPI_Comm_size(small, &n);
  MPI_Comm_rank(small, &me);
  CHECK(n == size - 1 && me == rank);
  WORKS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, small));
  CHECK(sum == n);
  WORKS(MPIX_Comm_ishrink(F, &too, &r));
  WORKS(MPI_Wait(&r, MPI_STATUS_IGNORE));
  WORKS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, too));
  CHECK(sum == n);
  MPI_Comm_free(&small);
  MPI_Comm_free(&too);
}

TEST(revoke, "marks the communicator comm as revoked at all MPI processes … non-local operations raise MPIX_ERR_REVOKED, except for select fault-tolerant operations") {
  int x = 1, y = 0, flag = 0;
  MPI_Comm small;
  MPI_Request r;
  WORKS(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 5, G, &r));
  if (rank == 1) WORKS(MPIX_Comm_revoke(G));
  /* The receive has no message: the revocation ends it. */
  if (rank != 1) REVOKED(MPI_Recv(&x, 1, MPI_INT, 1, 6, G, MPI_STATUS_IGNORE));
  REVOKED(MPI_Wait(&r, MPI_STATUS_IGNORE));
  WORKS(MPIX_Comm_is_revoked(G, &flag));
  CHECK(flag == 1);
  REVOKED(MPI_Send(&x, 1, MPI_INT, 0, 0, G));
  REVOKED(MPI_Barrier(G));
  REVOKED(MPI_Probe(0, 0, G, MPI_STATUS_IGNORE));
  WORKS(MPIX_Comm_revoke(G));
  WORKS(MPIX_Comm_failure_ack(G));
  flag = 1;
  WORKS(MPIX_Comm_agree(G, &flag));
  WORKS(MPIX_Comm_shrink(G, &small));
  WORKS(MPI_Barrier(small));
  WORKS(MPIX_Comm_is_revoked(small, &flag));
  CHECK(flag == 0);
  MPI_Comm_free(&small);
}

static MPI_Comm left;

/* The others are inside the call, or on their way to it. */
static void later(void) {
  for (double end = MPI_Wtime() + 0.3; MPI_Wtime() < end;) continue;
  die();
}

TEST(dies_within_agree, "When an MPI process fails before contributing to the operation, the flag is computed ignoring its contribution") {
  int flag = 6;
  if (rank == second) later();
  FAILS(MPIX_Comm_agree(left, &flag));
  CHECK(flag == 6);
  WORKS(MPIX_Comm_failure_ack(left));
  WORKS(MPIX_Comm_agree(left, &flag));
}

TEST(dies_within_a_collective, "no process waits for ever") {
  MPI_Comm small;
  int n = 0, sum = 0, one = 1;
  WORKS(MPIX_Comm_shrink(left, &small));
  if (rank == third) later();
  FAILS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, small));
  MPI_Comm_free(&left);
  WORKS(MPIX_Comm_shrink(small, &left));
  MPI_Comm_size(left, &n);
  CHECK(n == size - 3);
  WORKS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left));
  CHECK(sum == n);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  first = size - 1, second = size - 2, third = size - 3;
  A = again(MPI_COMM_WORLD), B = again(MPI_COMM_WORLD), C = again(MPI_COMM_WORLD), D = again(MPI_COMM_WORLD);
  E = again(MPI_COMM_WORLD), F = again(MPI_COMM_WORLD), G = again(MPI_COMM_WORLD);
  if (rank == first) {
    for (int i = 0; i < 3; i++) {
      int x = 10 + i;
      MPI_Send(&x, 1, MPI_INT, 0, i, A);
    }
    die();
  }
  RUN(delivered);
  RUN(get_failed);
  RUN(failure_ack);
  RUN(ack_failed);
  RUN(peers);
  RUN(any_source);
  RUN(collective);
  RUN(nonblocking_collective);
  RUN(agree);
  RUN(iagree);
  RUN(shrink);
  RUN(revoke);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
  RUN(dies_within_agree);
  RUN(dies_within_a_collective);
  MPI_Finalize();
  return 0;
}
