/*
 * A master that takes results from anybody: rank 0 hands out tasks, the others compute. Prints the seconds from the
 * first task to the last result.
 *
 *   team-master tasks turns
 *
 * A task is so many turns of a small generator; its result depends on the task alone.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size, tasks = atoi(argv[1]), turns = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned task[2] = {0, 0};
  if (rank == 0) {
    unsigned given = 0, sum = 0;
    MPI_Status from;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int results = 1 - size; results < tasks; results++) {
      MPI_Recv(task, 2, MPI_UNSIGNED, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &from);
      sum += task[1];
      task[0] = given < tasks ? ++given : 0;
      MPI_Send(task, 2, MPI_UNSIGNED, from.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
    printf("%.6f %u\n", MPI_Wtime() - began, sum);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    do {
      MPI_Send(task, 2, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(task, 2, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      task[1] = task[0];
      for (int i = 0; task[0] && i < turns; i++) task[1] = task[1] * 1664525u + 1013904223u;
    } while (task[0]);
  }
  MPI_Finalize();
  return 0;
}
