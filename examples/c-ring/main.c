/*
 * A token goes round the ring of ranks. Every rank adds its rank + 1 to each number in it, so that after L laps through P ranks
 * every number has grown by L · P (P + 1) / 2: if a message were lost, doubled or out of order, the sum would tell.
 *
 *   --laps 1000     how often it goes round
 *   --numbers 16    its length
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

enum { TOKEN = 7 };

static void pass_on(int64_t *token, int numbers, int rank, int next) {
  for (int i = 0; i < numbers; i++) token[i] += rank + 1;
  MPI_Send(token, numbers, MPI_INT64_T, next, TOKEN, MPI_COMM_WORLD);
}

static void take(int64_t *token, int numbers, int previous) {
  MPI_Status status;
  int count;
  MPI_Recv(token, numbers, MPI_INT64_T, MPI_ANY_SOURCE, TOKEN, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT64_T, &count);
  if (status.MPI_SOURCE != previous || count != numbers) {
    fprintf(stderr, "a token of %d numbers came from rank %d, not one of %d from rank %d\n", count, status.MPI_SOURCE, numbers, previous);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t laps = option_number(argc, argv, "laps", 1000, 1, 1000000000);
  const int numbers = (int)option_number(argc, argv, "numbers", 16, 1, 1000000);
  if (size < 2) refuse("a ring has two ranks or more");
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const int64_t report = (laps + 9) / 10;

  int64_t *token = malloc((size_t)numbers * sizeof *token);
  for (int i = 0; i < numbers; i++) token[i] = i;
  const double start = MPI_Wtime();
  for (int64_t lap = 1; lap <= laps; lap++) {
    state_progress((double)(lap - 1), (double)laps);
    if (rank == 0) {
      pass_on(token, numbers, rank, next);
      take(token, numbers, previous);
      if (lap % report == 0) printf("lap %lld: the first number is %lld\n", (long long)lap, (long long)token[0]);
    } else {
      take(token, numbers, previous);
      pass_on(token, numbers, rank, next);
    }
  }

  int wrong = 0;
  if (rank == 0) {
    fprintf(stderr, "%.1f microseconds per hop\n", 1e6 * (MPI_Wtime() - start) / (double)(laps * size));
    const int64_t growth = laps * size * (size + 1) / 2;
    while (wrong < numbers && token[wrong] == wrong + growth) wrong++;
    wrong = wrong < numbers;
    printf("%s: every number has %sgrown by %lld in %lld laps through %d ranks\n", wrong ? "FAIL" : "PASS", wrong ? "not " : "", (long long)growth, (long long)laps, size);
  }
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(token);
  MPI_Finalize();
  return wrong;
}
