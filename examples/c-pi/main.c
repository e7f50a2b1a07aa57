/*
 * π as the integral of 4 / (1 + x²) from 0 to 1, by the midpoint rule, in rounds of growing fineness: rank 0 says how fine (bcast), every
 * rank sums its share of the intervals, and the parts are added up (reduce).
 *
 *   --intervals 2e7   in the last round; every earlier one has a tenth of them
 *   --rounds 8
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

static const double PI = 3.14159265358979323846;

/* Every parts-th interval of n, from number `part` on. */
static double share(int64_t n, int part, int parts) {
  const double h = 1.0 / (double)n;
  double sum = 0;
  for (int64_t i = part; i < n; i += parts) {
    const double x = h * ((double)i + 0.5);
    sum += 4.0 / (1.0 + x * x);
  }
  return h * sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t finest = option_number(argc, argv, "intervals", 20000000, 1, INT64_C(1000000000000));
  const int rounds = (int)option_number(argc, argv, "rounds", 8, 1, 1000000);

  const double start = MPI_Wtime();
  double pi = 0;
  for (int round = 1; round <= rounds; round++) {
    state_progress(round - 1, rounds);
    /* Only rank 0 decides; the others learn it from the message. */
    int64_t n = 0;
    if (rank == 0) {
      n = finest;
      for (int k = round; k < rounds && n > 1; k++) n /= 10;
    }
    MPI_Bcast(&n, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    const double part = share(n, rank, size);
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%13lld intervals: pi is %.10f\n", (long long)n, pi);
  }

  int failed = 0;
  if (rank == 0) {
    fprintf(stderr, "%.3f s\n", MPI_Wtime() - start);
    /* The rule's own error is 1 / (12 n²); the rest is rounding. */
    const double allowed = 1.0 / (12.0 * (double)finest * (double)finest) + 1e-12;
    failed = !(fabs(pi - PI) <= allowed);
    printf("%s: off by %s than %.1e\n", failed ? "FAIL" : "PASS", failed ? "more" : "less", allowed);
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
