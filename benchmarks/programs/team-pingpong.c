/*
 * Round trips between ranks 0 and 1, by size: "bytes microseconds" for each batch.
 *
 *   team-pingpong [bytes repetitions batches] …
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a + 2 < argc; a += 3) {
    int bytes = atoi(argv[a]), reps = atoi(argv[a + 1]), batches = atoi(argv[a + 2]);
    char *body = calloc(1, bytes);
    /* Batch -1 warms up. */
    for (int b = -1; b < batches; b++) {
      double began = MPI_Wtime();
      for (int i = 0; i < reps; i++)
        if (rank == 0) {
          MPI_Send(body, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
          MPI_Recv(body, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(body, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          MPI_Send(body, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
      if (b >= 0 && rank == 0) printf("%d %.3f\n", bytes, 1e6 * (MPI_Wtime() - began) / reps);
    }
    free(body);
  }
  MPI_Finalize();
  return 0;
}
