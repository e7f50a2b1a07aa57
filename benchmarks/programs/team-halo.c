/*
 * Eight ranks, the corners of a cube, exchange faces with their three neighbours.
 *
 *   team-halo steps bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, steps = atoi(argv[1]), bytes = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *out = calloc(3, bytes), *in = calloc(3, bytes);
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[6];
    for (int d = 0; d < 3; d++) {
      out[d * bytes] = (char)(rank + step);
      MPI_Irecv(in + d * bytes, bytes, MPI_BYTE, rank ^ 1 << d, d, MPI_COMM_WORLD, requests + d);
      MPI_Isend(out + d * bytes, bytes, MPI_BYTE, rank ^ 1 << d, d, MPI_COMM_WORLD, requests + 3 + d);
    }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int d = 0; d < 3; d++)
      if (in[d * bytes] != (char)((rank ^ 1 << d) + step)) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
