/* ranks: 6. "BLANK: failed processes are not replaced, all surviving processes have the same rank as before the crash and MPI_COMM_WORLD has the same size as before." */
#include "ft.h"

static int me;

static void same_place(void) { CHECK(rank == me && size == 6); }

TEST(fails_before, "all surviving processes have the same rank as before the crash and MPI_COMM_WORLD has the same size as before") {
  under_way(2);
  while_broken = refused;
  lose(2, -1, BEFORE);
  while_broken = NULL;
  same_place();
  CHECK(failed_procs() == 1 && failed_text(" 2"));
  CHECK(sum_of(1) == 5);
}

TEST(hole, "ours: a hole is as MPI_PROC_NULL; MPI_ANY_SOURCE ignores it") {
  int x = 5, y = -1, n = -1, flag = 0;
  MPI_Status s;
  MPI_Request r;
  WORKS(MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
  WORKS(MPI_Ssend(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
  WORKS(MPI_Recv(&y, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &s));
  WORKS(MPI_Get_count(&s, MPI_INT, &n));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && n == 0 && y == -1);
  WORKS(MPI_Irecv(&y, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &r));
  WORKS(MPI_Wait(&r, &s));
  WORKS(MPI_Probe(2, 0, MPI_COMM_WORLD, &s));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL);
  WORKS(MPI_Iprobe(2, 0, MPI_COMM_WORLD, &flag, &s));
  CHECK(flag == 1);
  if (rank == 1) WORKS(MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
  if (rank == 0) {
    WORKS(MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s));
    CHECK(y == 5 && s.MPI_SOURCE == 1);
  }
}

static int is_left(int r) { return r != 2; }

TEST(collectives, "ours: collectives run over the processes that are left; blocks of holes stay as they are; a root that is a hole is MPI_ERR_ROOT") {
  int out[6], in[6], x = rank, y = -1, z = -1, counts[6], at[6];
  for (int i = 0; i < 6; i++) counts[i] = 1, at[i] = i;
#define CLEAR memset(in, -1, sizeof in)
#define HAVE(value)                                                                                 \
  for (int i = 0; i < 6; i++) CHECK(in[i] == (is_left(i) ? (value) : -1))
  for (int i = 0; i < 6; i++) out[i] = 10 * rank + i;
  WORKS(MPI_Barrier(MPI_COMM_WORLD));
  ANSWERS(MPI_ERR_ROOT, MPI_Bcast(&y, 1, MPI_INT, 2, MPI_COMM_WORLD));
  ANSWERS(MPI_ERR_ROOT, MPI_Gather(&x, 1, MPI_INT, in, 1, MPI_INT, 2, MPI_COMM_WORLD));
  if (rank == 4) y = 77;
  WORKS(MPI_Bcast(&y, 1, MPI_INT, 4, MPI_COMM_WORLD));
  CHECK(y == 77);
  CLEAR;
  WORKS(MPI_Allgather(&x, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  HAVE(i);
  CLEAR;
  WORKS(MPI_Allgatherv(&x, 1, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD));
  HAVE(i);
  CLEAR;
  WORKS(MPI_Gather(&x, 1, MPI_INT, in, 1, MPI_INT, 3, MPI_COMM_WORLD));
  if (rank == 3) HAVE(i);
  CLEAR;
  WORKS(MPI_Gatherv(&x, 1, MPI_INT, in, counts, at, MPI_INT, 3, MPI_COMM_WORLD));
  if (rank == 3) HAVE(i);
  WORKS(MPI_Scatter(out, 1, MPI_INT, &y, 1, MPI_INT, 5, MPI_COMM_WORLD));
  CHECK(y == 50 + rank);
  WORKS(MPI_Scatterv(out, counts, at, MPI_INT, &y, 1, MPI_INT, 1, MPI_COMM_WORLD));
  CHECK(y == 10 + rank);
  CLEAR;
  WORKS(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  HAVE(10 * i + rank);
  CLEAR;
  WORKS(MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD));
  HAVE(10 * i + rank);
  WORKS(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(y == 5);
  WORKS(MPI_Scan(&x, &z, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(z == rank * (rank + 1) / 2 - (rank > 2 ? 2 : 0));
  for (int i = 0; i < 6; i++) out[i] = i;
  WORKS(MPI_Reduce_scatter_block(out, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(y == 5 * rank);
}

TEST(new_communicators, "ours: new communicators can be made; a duplicate has the holes, a split has none") {
  int n = -1, x = 1, sum = 0;
  MPI_Comm c;
  WORKS(MPI_Comm_dup(MPI_COMM_WORLD, &c));
  WORKS(MPI_Comm_size(c, &n));
  WORKS(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c));
  CHECK(n == 6 && sum == 5);
  MPI_Comm_free(&c);
  WORKS(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &c));
  WORKS(MPI_Comm_size(c, &n));
  WORKS(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c));
  CHECK(n == (rank % 2 ? 3 : 2) && sum == n);
}

TEST(fails_within, "failed processes are not replaced") {
  lose(4, -1, WITHIN);
  same_place();
  CHECK(sum_of(1) == 4);
}
TEST(fails_after, "all surviving processes have the same rank as before the crash") {
  lose(3, -1, AFTER);
  same_place();
  CHECK(failed_procs() == 1 && failed_text(" 3"));
  CHECK(sum_of(rank) == 0 + 1 + 5);
}
TEST(two_at_once, "FT-MPI can survive the failure of n-1 processes in a n-process job") {
  lose(1, 5, WITHIN);
  same_place();
  CHECK(failed_procs() == 2 && failed_text(" 1 5"));
  CHECK(sum_of(1) == 1);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  me = rank;
  RUN(fails_before);
  RUN(messages);
  RUN(objects);
  RUN(hole);
  RUN(collectives);
  RUN(new_communicators);
  phase = 1;
  RUN(fails_within);
  RUN(fails_after);
  RUN(two_at_once);
  MPI_Finalize();
  return 0;
}
