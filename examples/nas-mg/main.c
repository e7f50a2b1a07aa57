/*
 * NAS MG: four V-cycles of multigrid on the periodic Poisson equation, whose right-hand side is +1 at ten points, -1 at ten others and 0
 * elsewhere. On the way down residuals are restricted, level by level; on the way up corrections are interpolated and smoothed once.
 * Communication is near and far: the borders of boxes at every operator of every level.
 */
#include "../nas-common/nas.h"
#include "grid.h"
#include "stencil.h"
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { CHARGES = 10, LEVELS = 9 };

static const struct {
  int top, iterations; /* 2^top points in each direction */
  double norm;
} CLASSES[] = {
    {5, 4, 0.5307707005734e-4},
    {7, 4, 0.6467329375339e-5},
    {8, 4, 0.2433365309069e-5},
};

static Level levels[LEVELS];
static double *u[LEVELS], *r[LEVELS];
/* The lowest shared level once more, held whole: where the cycle goes on when the ranks are too many for what is coarser. */
static Level whole;
static double *whole_u, *whole_r;

typedef struct {
  double value, place; /* the place in the whole grid, x fastest: an exact integer */
} Extreme;

static int by_value(const void *a, const void *b) {
  double x = ((const Extreme *)a)->value, y = ((const Extreme *)b)->value;
  return (x > y) - (x < y);
}

/* Keeps the CHARGES largest of `sign` · value in ascending order, the smallest of which is best[0]. */
static void offer(Extreme *best, double value, double place) {
  int i = 0;
  while (i + 1 < CHARGES && best[i + 1].value < value) {
    best[i] = best[i + 1];
    i++;
  }
  best[i] = (Extreme){value, place};
}

/* Random numbers at all points; +1 where the ten largest lie, -1 where the ten smallest lie. */
static void charge(const Level *l, double *v) {
  Extreme mine[2][CHARGES]; /* largest; smallest, by negated value */
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < CHARGES; i++) mine[s][i] = (Extreme){-2, -1};
  int64_t n = l->points;
  for (int z = 0; z < l->size[0]; z++)
    for (int y = 0; y < l->size[1]; y++) {
      int64_t place = l->first[2] + n * (l->first[1] + y + n * (l->first[0] + z));
      uint64_t x = nas_jump(314159265, (uint64_t)place);
      for (int i = 0; i < l->size[2]; i++) {
        double value = nas_random(&x, NAS_A);
        if (value > mine[0][0].value) offer(mine[0], value, (double)(place + i));
        if (-value > mine[1][0].value) offer(mine[1], -value, (double)(place + i));
      }
    }
  size_t per = sizeof mine / sizeof(double);
  Extreme(*all)[2][CHARGES] = nas_allocate((size_t)nas_size, sizeof mine);
  MPI_Allgather(mine, (int)per, MPI_DOUBLE, all, (int)per, MPI_DOUBLE, MPI_COMM_WORLD);
  Extreme *list = nas_allocate((size_t)nas_size * CHARGES, sizeof(Extreme));
  for (int s = 0; s < 2; s++) {
    for (int q = 0; q < nas_size; q++) memcpy(list + q * CHARGES, all[q][s], sizeof all[q][s]);
    qsort(list, (size_t)nas_size * CHARGES, sizeof(Extreme), by_value);
    for (int i = 0; i < CHARGES; i++) {
      int64_t place = (int64_t)list[(nas_size - 1) * CHARGES + i].place;
      int64_t x = place % n - l->first[2], y = place / n % n - l->first[1], z = place / n / n - l->first[0];
      if (x < 0 || x >= l->size[2] || y < 0 || y >= l->size[1] || z < 0 || z >= l->size[0]) continue;
      v[(size_t)(z + 1) * l->plane + (size_t)(y + 1) * l->row + (size_t)(x + 1)] = s ? -1 : 1;
    }
  }
  free(list), free(all);
  grid_exchange(l, v);
}

static double norm(const Level *l, const double *a) {
  double sum = 0, all = 0;
  for (int z = 1; z <= l->size[0]; z++)
    for (int y = 1; y <= l->size[1]; y++) {
      const double *row = a + (size_t)z * l->plane + (size_t)y * l->row;
      for (int x = 1; x <= l->size[2]; x++) sum += row[x] * row[x];
    }
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(all / pow(l->points, 3));
}

static void clear(const Level *l, double *a) { memset(a, 0, sizeof(double) * l->all); }

/* A correction is interpolated into u of this level, and smoothed. Below the top u is 0 before. */
static void refine(int k, const Level *coarse_level, const double *coarse) {
  clear(&levels[k], u[k]);
  stencil_prolong(coarse_level, coarse, &levels[k], u[k]);
  stencil_residual(&levels[k], u[k], r[k], r[k]);
  stencil_smooth(&levels[k], r[k], u[k]);
}

/* u of the top level += an approximate solution for the residual r of the top level. */
static void cycle(int top, const double *v) {
  int lowest = grid_lowest_shared();
  for (int k = top; k > 1; k--) {
    if (k == lowest) {
      grid_gather(&levels[k], r[k], &whole, whole_r);
      stencil_restrict(&whole, whole_r, &levels[k - 1], r[k - 1]);
    } else
      stencil_restrict(&levels[k], r[k], &levels[k - 1], r[k - 1]);
  }
  clear(&levels[1], u[1]);
  stencil_smooth(&levels[1], r[1], u[1]);
  for (int k = 2; k < top; k++) {
    if (k == lowest) {
      clear(&whole, whole_u);
      stencil_prolong(&levels[k - 1], u[k - 1], &whole, whole_u);
      stencil_residual(&whole, whole_u, whole_r, whole_r);
      stencil_smooth(&whole, whole_r, whole_u);
      grid_pick(&whole, whole_u, &levels[k], u[k]);
    } else
      refine(k, &levels[k - 1], u[k - 1]);
  }
  stencil_prolong(&levels[top - 1], u[top - 1], &levels[top], u[top]);
  stencil_residual(&levels[top], u[top], v, r[top]);
  stencil_smooth(&levels[top], r[top], u[top]);
}

int main(int argc, char **argv) {
  int class = nas_start(&argc, &argv, "MG");
  int top = CLASSES[class].top, iterations = CLASSES[class].iterations;
  grid_layout(levels, top);
  const Level *l = &levels[top];
  nas_say("  %d^3 points, %d iterations, boxes of %d × %d × %d", l->points, iterations, l->size[2], l->size[1], l->size[0]);
  for (int k = 1; k <= top; k++) u[k] = grid_array(&levels[k]), r[k] = grid_array(&levels[k]);
  whole = grid_whole(grid_lowest_shared());
  whole_u = grid_array(&whole), whole_r = grid_array(&whole);
  double *v = grid_array(l);
  charge(l, v);

  nas_clock();
  stencil_residual(l, u[top], v, r[top]);
  nas_say("  residual before: %.10e", norm(l, r[top]));
  for (int it = 1; it <= iterations; it++) {
    state_progress(it - 1, iterations);
    cycle(top, v);
    stencil_residual(l, u[top], v, r[top]);
  }
  bool right = nas_check("residual", norm(l, r[top]), CLASSES[class].norm, 1e-8);
  return nas_finish(right, 58.0 * iterations * pow(l->points, 3));
}
