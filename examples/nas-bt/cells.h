/*
 * The domain of NAS BT and its distribution by multi-partition: n³ points are cut into p³ cells, and each of the p² ranks owns p of them, one
 * in every slice of every direction. So whichever way a sweep goes, every rank has a cell to work on at every stage.
 *
 * Directions are 0 = x, 1 = y, 2 = z; x is contiguous. A point holds five values: density, three momenta, energy. Arrays of points carry
 * GHOST layers on all sides; those of one cell are filled from its neighbours, those outside of the domain are never read.
 */
#ifndef NAS_BT_CELLS_H
#define NAS_BT_CELLS_H

#include <stddef.h>

enum { VALUES = 5, GHOST = 2 };

typedef struct {
  int coord[3];            /* which cell */
  int first[3], size[3];   /* its points in the domain */
  int begin[3], end[3];    /* local indices of its points that do not lie on the border of the domain */
  size_t stride[3];        /* between neighbouring points */
  size_t points;           /* ghosts included */
  double *u, *rhs, *forcing;             /* VALUES per point */
  double *inverse, *velocity[3], *square, *speed; /* 1/ρ; velocities; ρ|v|²/2; |v|²/2 */
  double *tails;           /* of the solver: what elimination leaves, TAIL per point without ghosts */
} Cell;

typedef struct {
  int n, p;                /* points per direction; cells per direction and per rank */
  Cell *cells;             /* by ascending z */
  int before[3], after[3]; /* the ranks that own the neighbours of all of my cells */
} Domain;

/* Refuses a number of ranks that is no square, or more than the domain can feed. */
void domain_layout(Domain *domain, int n);
/* Fills the ghost layers of u. */
void domain_exchange(const Domain *domain);

static inline size_t cell_at(const Cell *c, int x, int y, int z) {
  return (size_t)(x + GHOST) + (size_t)(y + GHOST) * c->stride[1] + (size_t)(z + GHOST) * c->stride[2];
}

#endif
