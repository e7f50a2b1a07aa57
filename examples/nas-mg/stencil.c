/*
 * 27-point stencils whose weight depends on the distance only: centre, 6 faces, 12 edges, 8 corners. For each row, sums over the four
 * neighbouring rows at distance 1 and the four at distance √2 are formed once and used by three points each.
 */
#include "stencil.h"
#include "../nas-common/nas.h"
#include <stdlib.h>

/* A: the discrete Laplace operator; its weight on faces is 0. */
static const double A0 = -8.0 / 3, A2 = 1.0 / 6, A3 = 1.0 / 12;
/* S: the approximate inverse of classes S, W and A; its weight on corners is 0. */
static const double S0 = -3.0 / 8, S1 = 1.0 / 32, S2 = -1.0 / 64;

/* near = the four rows that share a face with this one, far = the four that share an edge. */
static void around(const Level *l, const double *restrict a, double *restrict near, double *restrict far) {
  const double *restrict up = a - l->plane, *restrict down = a + l->plane;
  ptrdiff_t row = (ptrdiff_t)l->row;
  for (ptrdiff_t x = 0; x < row; x++) {
    near[x] = a[x - row] + a[x + row] + up[x] + down[x];
    far[x] = up[x - row] + up[x + row] + down[x - row] + down[x + row];
  }
}

void stencil_residual(const Level *l, const double *u, const double *v, double *r) {
  double *restrict near = nas_allocate(2 * l->row, sizeof(double)), *restrict far = near + l->row;
  for (int z = 1; z <= l->size[0]; z++)
    for (int y = 1; y <= l->size[1]; y++) {
      size_t at = (size_t)z * l->plane + (size_t)y * l->row;
      const double *restrict c = u + at, *b = v + at;
      double *to = r + at;
      around(l, c, near, far);
      for (int x = 1; x <= l->size[2]; x++) to[x] = b[x] - A0 * c[x] - A2 * (far[x] + near[x - 1] + near[x + 1]) - A3 * (far[x - 1] + far[x + 1]);
    }
  free(near);
  grid_exchange(l, r);
}

void stencil_smooth(const Level *l, const double *restrict r, double *restrict u) {
  double *restrict near = nas_allocate(2 * l->row, sizeof(double)), *restrict far = near + l->row;
  for (int z = 1; z <= l->size[0]; z++)
    for (int y = 1; y <= l->size[1]; y++) {
      size_t at = (size_t)z * l->plane + (size_t)y * l->row;
      const double *restrict c = r + at;
      double *restrict to = u + at;
      around(l, c, near, far);
      for (int x = 1; x <= l->size[2]; x++) to[x] += S0 * c[x] + S1 * (c[x - 1] + c[x + 1] + near[x]) + S2 * (far[x] + near[x - 1] + near[x + 1]);
    }
  free(near);
  grid_exchange(l, u);
}

void stencil_restrict(const Level *fine_level, const double *restrict fine, const Level *coarse_level, double *restrict coarse) {
  const Level *f = fine_level, *c = coarse_level;
  double *restrict near = nas_allocate(2 * f->row, sizeof(double)), *restrict far = near + f->row;
  for (int z = 1; z <= c->size[0]; z++)
    for (int y = 1; y <= c->size[1]; y++) {
      const double *restrict from = fine + (size_t)(2 * z) * f->plane + (size_t)(2 * y) * f->row;
      double *restrict to = coarse + (size_t)z * c->plane + (size_t)y * c->row;
      around(f, from, near, far);
      for (int x = 1; x <= c->size[2]; x++) {
        int i = 2 * x;
        to[x] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1] + near[i]) + 0.125 * (near[i - 1] + near[i + 1] + far[i]) + 0.0625 * (far[i - 1] + far[i + 1]);
      }
    }
  free(near);
  grid_exchange(c, coarse);
}

void stencil_prolong(const Level *coarse_level, const double *restrict coarse, const Level *fine_level, double *restrict fine) {
  const Level *c = coarse_level, *f = fine_level;
  int n = c->size[2];
  double *restrict sum = nas_allocate(c->row, sizeof(double));
  /* Coarse point i lies on fine point 2i; the fine point between i and i + 1 gets the mean. In z and y the same, by rows. */
  for (int z = 0; z <= 2 * c->size[0] + 1; z++)
    for (int y = 0; y <= 2 * c->size[1] + 1; y++) {
      const double *restrict from = coarse + (size_t)(z / 2) * c->plane + (size_t)(y / 2) * c->row;
      double *restrict to = fine + (size_t)z * f->plane + (size_t)y * f->row;
      size_t dz = z % 2 ? c->plane : 0, dy = y % 2 ? c->row : 0;
      double weight = z % 2 && y % 2 ? 0.25 : z % 2 || y % 2 ? 0.5 : 1;
      if (dz && dy)
        for (int x = 0; x <= n + 1; x++) sum[x] = weight * (from[x] + from[(size_t)x + dy] + from[(size_t)x + dz] + from[(size_t)x + dy + dz]);
      else if (dz || dy)
        for (int x = 0; x <= n + 1; x++) sum[x] = weight * (from[x] + from[(size_t)x + dy + dz]);
      else
        for (int x = 0; x <= n + 1; x++) sum[x] = from[x];
      for (int x = 0; x <= n; x++) {
        to[2 * x] += sum[x];
        to[2 * x + 1] += 0.5 * (sum[x] + sum[x + 1]);
      }
    }
  free(sum);
}
