/* ranks: 5. "REBUILD: failed processes are re-spawned, surviving processes have the same rank as before." */
#include "ft.h"

/* "the application introduces a static variable … each processes modifies the value of this variable after the initial check" */
static int lived;

/* All are there again, each with its rank; the new ones are those that have just begun. */
static void whole(int new1, int new2) {
  int all[5], lives[5];
  CHECK(size == 5);
  WORKS(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  WORKS(MPI_Allgather(&lived, 1, MPI_INT, lives, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < 5; i++) CHECK(all[i] == i && lives[i] == (i != new1 && i != new2));
  lived = 1;
  /* Messages in both directions between old and new processes. */
  int left = -1, to = (rank + 1) % 5, from = (rank + 4) % 5;
  WORKS(MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &left, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(left == from);
}
/* The processes that are left tell the new ones where they are. */
static void where(void) { WORKS(MPI_Bcast(&phase, 1, MPI_INT, 0, MPI_COMM_WORLD)); }

TEST(fails_before, "surviving processes have the same rank as before") {
  if (!restarted) {
    under_way(2);
    while_broken = refused;
    lose(2, -1, BEFORE);
    while_broken = NULL;
    where();
  }
  CHECK(failed_procs() == 1 && failed_text(" 2"));
  whole(2, -1);
}
TEST(fails_within, "failed processes are re-spawned") {
  if (!restarted) {
    lose(4, -1, WITHIN);
    where();
  }
  whole(4, -1);
}
TEST(fails_after, "ours: a replacement may fail, too") {
  if (!restarted) {
    lose(2, -1, AFTER);
    where();
  }
  CHECK(failed_procs() == 1 && failed_text(" 2"));
  whole(2, -1);
}
TEST(two_at_once, "FT-MPI can survive the failure of n-1 processes in a n-process job, and, if required, can re-spawn the failed processes") {
  if (!restarted) {
    lose(1, 3, WITHIN);
    where();
  }
  CHECK(failed_procs() == 2 && failed_text(" 1 3"));
  whole(1, 3);
}
TEST(from_main, "when a process is a replacement for a failed process, the return value of its MPI_Init call will be set to a specific new FT-MPI constant") {
  CHECK(restarted && MPI_INIT_RESTARTED_NODE == MPI_INIT_RESTARTED_PROCS && lived == 0);
}
TEST(nobody_else, "ours: without a loss the call succeeds and changes nothing") {
  MPI_Comm c;
  WORKS(recover());
  WORKS(MPIX_Comm_recover(&c));
  CHECK(c == MPI_COMM_WORLD && sum_of(1) == 5);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  if (restarted) {
    where();
    RUN(from_main);
  } else lived = 1;
#define PHASE(n, name)                                                                              \
  if (phase <= n) {                                                                                 \
    phase = n;                                                                                      \
    RUN(name);                                                                                      \
    restarted = 0;                                                                                  \
  }
  PHASE(0, fails_before);
  if (lived && phase == 0 && rank < 2) {
    RUN(messages);
  }
  PHASE(1, fails_within);
  PHASE(2, fails_after);
  PHASE(3, two_at_once);
  RUN(nobody_else);
  MPI_Finalize();
  return 0;
}
