/* Holds <megabytes> of noise, changes <share> percent of its pages per round, and waits in MPI_Recv for the next round (rank 1 tells it). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  size_t words = (size_t)atoi(argv[1]) << 18, page = 16384;
  unsigned *x = malloc(words * 4), s = 1;
  int share = atoi(argv[2]), round = 0;
  for (size_t i = 0; i < words; i++) x[i] = s = s * 1664525u + 1013904223u;
  for (;;) {
    if (rank == 0) {
      char line[32];
      if (!fgets(line, sizeof line, stdin)) break;
    }
    round++;
    for (size_t p = 0; p < words / page; p++)
      if ((int)(p * 37 % 100) < share) x[p * page] += round;
    printf("round %d\n", round);
  }
  printf("%u\n", x[words / 2]);
  MPI_Finalize();
  return 0;
}
