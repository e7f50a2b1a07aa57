/* A line of cells, split among the ranks, with one halo cell at each end. */
#ifndef GRID_H
#define GRID_H
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grid {
  MPI_Comm comm;
  int cells; /* own cells: value[1] … value[cells] */
  double *value, *next;
} grid;

grid *grid_create(MPI_Comm comm, int cells_per_rank);
void grid_exchange(grid *g);
/* One step of the heat equation; the ends of the line are held at 1 and 0. */
void grid_step(grid *g);
void grid_free(grid *g);

#ifdef __cplusplus
}
#endif
#endif
