#include "grid.h"

void grid_exchange(grid *g) {
  int rank, size;
  MPI_Comm_rank(g->comm, &rank);
  MPI_Comm_size(g->comm, &size);
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&g->value[g->cells], 1, MPI_DOUBLE, right, 1, &g->value[0], 1, MPI_DOUBLE, left, 1, g->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&g->value[1], 1, MPI_DOUBLE, left, 2, &g->value[g->cells + 1], 1, MPI_DOUBLE, right, 2, g->comm, MPI_STATUS_IGNORE);
  if (left == MPI_PROC_NULL) g->value[0] = 1;
  if (right == MPI_PROC_NULL) g->value[g->cells + 1] = 0;
}
