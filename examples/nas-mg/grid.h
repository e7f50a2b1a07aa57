/*
 * The grids of NAS MG. A level k has 2^k points in each direction, periodic, shared by the ranks as a box each, with one layer of points of
 * the neighbours around it. Where the grid has become too coarse to be shared, every rank holds and computes all of it.
 */
#ifndef NAS_MG_GRID_H
#define NAS_MG_GRID_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  int points;    /* in each direction, of all ranks */
  int shared;    /* or held whole by every rank */
  int size[3];   /* of this rank's box, z, y, x; without the layer around it */
  int first[3];  /* its place */
  size_t row, plane, all; /* distances in an array of this level, and its length */
} Level;

/* Places the ranks in a box, and describes levels 1 … top. levels[k] must have room for top + 1. */
void grid_layout(Level *levels, int top);
/* The lowest level that is shared. */
int grid_lowest_shared(void);
/* Level k, held whole by everyone. */
Level grid_whole(int k);
double *grid_array(const Level *level);
/* Fills the layer around the box from the neighbours. */
void grid_exchange(const Level *level, double *a);
/* Copies between a shared level and the same level held whole by everyone. */
void grid_gather(const Level *shared, const double *box, const Level *whole, double *all);
void grid_pick(const Level *whole, const double *all, const Level *shared, double *box);

#endif
