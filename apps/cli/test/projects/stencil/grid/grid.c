#include "grid.h"
#include <stdlib.h>

grid *grid_create(MPI_Comm comm, int cells_per_rank) {
  grid *g = malloc(sizeof *g);
  g->comm = comm;
  g->cells = cells_per_rank;
  g->value = calloc(cells_per_rank + 2, sizeof(double));
  g->next = calloc(cells_per_rank + 2, sizeof(double));
  return g;
}

void grid_step(grid *g) {
  grid_exchange(g);
  for (int i = 1; i <= g->cells; i++) g->next[i] = 0.25 * g->value[i - 1] + 0.5 * g->value[i] + 0.25 * g->value[i + 1];
  double *old = g->value;
  g->value = g->next;
  g->next = old;
}

void grid_free(grid *g) {
  free(g->value);
  free(g->next);
  free(g);
}
