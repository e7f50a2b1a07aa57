/*
 * π as the integral of 4 / (1 + x²) from 0 to 1, by a program that survives the loss of ranks (ULFM; docs/ulfm.md). The intervals of a round are divided among the
 * ranks that are left. A round in which a rank is lost is repeated by the others: first they make sure that nobody waits any more (revoke), then they agree on who is
 * left (shrink), and that all know what is to be done next (agree).
 *
 *   --intervals 2e6   in each round
 *   --rounds 20
 *   --fail -1         this rank leaves like one that crashes,
 *   --round 7         … in this round. By default nobody does: close a tab instead
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

static const double PI = 3.14159265358979323846;

/* Round k adds the intervals number k, k + rounds, k + 2·rounds … of all; this rank every parts-th of them. */
static double share(int64_t intervals, int round, int rounds, int part, int parts) {
  const double h = 1.0 / ((double)intervals * rounds);
  double sum = 0;
  for (int64_t i = part; i < intervals; i += parts) {
    const double x = h * ((double)(i * rounds + round) + 0.5);
    sum += 4.0 / (1.0 + x * x);
  }
  return h * sum;
}

static void check(int code, const char *what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int64_t intervals = option_number(argc, argv, "intervals", 2000000, 1, INT64_C(1000000000000));
  const int rounds = (int)option_number(argc, argv, "rounds", 20, 1, 1000000);
  const int fails = (int)option_number(argc, argv, "fail", -1, -1, 1000000);
  const int when = (int)option_number(argc, argv, "round", 7, 0, 1000000);

  int first, began;
  MPI_Comm_rank(MPI_COMM_WORLD, &first);
  MPI_Comm_size(MPI_COMM_WORLD, &began);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

  double pi = 0;
  for (int round = 0; round < rounds;) {
    state_progress(round, rounds);
    if (first == fails && round == when) exit(1);
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const double part = share(intervals, round, rounds, rank, size);
    double sum = 0;
    int done = MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS;
    if (!done) MPIX_Comm_revoke(comm);
    /* The round counts if everybody who is left has its sum. */
    const int lost = MPIX_Comm_agree(comm, &done) != MPI_SUCCESS;
    if (done) {
      pi += sum;
      round++;
    }
    if (done && !lost) continue;
    MPI_Comm left;
    check(MPIX_Comm_shrink(comm, &left), "MPIX_Comm_shrink");
    MPI_Comm_free(&comm);
    comm = left;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) fprintf(stderr, "%d of %d ranks are left; round %d is next\n", size, began, round);
  }

  int rank;
  MPI_Comm_rank(comm, &rank);
  /* The rule's own error is 1 / (12 n²); the rest is rounding. */
  const double n = (double)intervals * rounds, allowed = 1.0 / (12.0 * n * n) + 1e-11;
  const int failed = !(fabs(pi - PI) <= allowed);
  if (rank == 0) {
    printf("pi is %.10f\n", pi);
    printf("%s: off by %s than %.1e\n", failed ? "FAIL" : "PASS", failed ? "more" : "less", allowed);
  }
  MPI_Finalize();
  return failed;
}
