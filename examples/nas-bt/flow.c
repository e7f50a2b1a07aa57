/*
 * Right-hand side: per direction central differences of the convective fluxes, viscous terms, and a fourth-order dissipation. The three
 * directions are one function, which the compiler specialises; so are the momenta, of which one lies along the direction.
 */
#include "flow.h"
#include "../nas-common/nas.h"
#include <stdlib.h>
#include <string.h>

/* Coefficients of the exact solution by value: 1, then ξ η ζ by ascending power. */
static const double EXACT[VALUES][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};
static const double DISSIPATION = 0.25; /* a quarter of the largest artificial diffusion */

void flow_constants(Flow *flow, int n, double dt) {
  double h = 1.0 / (n - 1);
  flow->dt = dt;
  flow->first = 1 / (2 * h);
  flow->second = 1 / (h * h);
  flow->viscous = C3C4 / (h * h);
  flow->artificial[0] = flow->artificial[1] = 0.75;
  flow->artificial[2] = 1;
}

static void exact_at(const double place[3], double value[VALUES]) {
  for (int m = 0; m < VALUES; m++) {
    const double *c = EXACT[m];
    double sum = c[0];
    for (int d = 0; d < 3; d++) sum += place[d] * (c[1 + d] + place[d] * (c[4 + d] + place[d] * (c[7 + d] + place[d] * c[10 + d])));
    value[m] = sum;
  }
}

void flow_exact(const Domain *domain, int x, int y, int z, double value[VALUES]) {
  double h = 1.0 / (domain->n - 1);
  exact_at((double[3]){x * h, y * h, z * h}, value);
}

/* On the border of the domain the exact solution; inside, means of opposite borders in each direction, blended. */
static void initial_at(const Domain *domain, const int at[3], double value[VALUES]) {
  double h = 1.0 / (domain->n - 1), place[3] = {at[0] * h, at[1] * h, at[2] * h}, mean[3][VALUES];
  for (int d = 0; d < 3; d++)
    if (at[d] == 0 || at[d] == domain->n - 1) {
      exact_at(place, value);
      return;
    }
  for (int d = 0; d < 3; d++) {
    double low[VALUES], high[VALUES], moved[3];
    memcpy(moved, place, sizeof moved);
    moved[d] = 0;
    exact_at(moved, low);
    moved[d] = 1;
    exact_at(moved, high);
    for (int m = 0; m < VALUES; m++) mean[d][m] = place[d] * high[m] + (1 - place[d]) * low[m];
  }
  for (int m = 0; m < VALUES; m++) {
    double a = mean[0][m], b = mean[1][m], c = mean[2][m];
    value[m] = a + b + c - a * b - a * c - b * c + a * b * c;
  }
}

/* What several terms share, at the points of a cell and the layer around it that belongs to the domain; edges are not needed. */
static void derive(const Domain *domain, Cell *c) {
  int low[3], high[3];
  for (int d = 0; d < 3; d++) {
    low[d] = c->coord[d] == 0 ? 0 : -1;
    high[d] = c->size[d] + (c->coord[d] == domain->p - 1 ? 0 : 1);
  }
  double *restrict inverse = c->inverse, *restrict vx = c->velocity[0], *restrict vy = c->velocity[1], *restrict vz = c->velocity[2];
  double *restrict square = c->square, *restrict speed = c->speed;
  for (int z = low[2]; z < high[2]; z++)
    for (int y = low[1]; y < high[1]; y++) {
      int outside = (z < 0 || z >= c->size[2]) + (y < 0 || y >= c->size[1]);
      if (outside == 2) continue;
      int from = outside ? 0 : low[0], to = outside ? c->size[0] : high[0];
      size_t at = cell_at(c, from, y, z);
      const double *restrict u = c->u + at * VALUES;
      for (int x = from; x < to; x++, at++, u += VALUES) {
        double i = 1 / u[0], q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * i;
        inverse[at] = i;
        vx[at] = u[1] * i;
        vy[at] = u[2] * i;
        vz[at] = u[3] * i;
        square[at] = q;
        speed[at] = q * i;
      }
    }
}

/* Weights of the fourth difference at place i of n: one-sided near the border, where the outer points do not exist. */
static void dissipation(int i, int n, double w[5]) {
  static const double inner[5] = {1, -4, 6, -4, 1};
  for (int k = 0; k < 5; k++) w[k] = -DISSIPATION * (i + k - 2 < 1 || i + k - 2 > n - 2 ? 0 : inner[k]);
  if (i == 1) w[2] = -DISSIPATION * 5, w[1] = 0;
  if (i == 2) w[1] = -DISSIPATION * -4;
  if (i == n - 2) w[2] = -DISSIPATION * 5, w[3] = 0;
  if (i == n - 3) w[3] = -DISSIPATION * -4;
}

/* Adds to rhs what flows in direction d. */
__attribute__((always_inline)) static inline void fluxes(const Flow *flow, const Domain *domain, const Cell *c, const int d) {
  const double t2 = flow->first, diffusion = flow->artificial[d] * flow->second, viscous = flow->viscous;
  const ptrdiff_t s = (ptrdiff_t)c->stride[d];
  const double *restrict w = c->velocity[d], *restrict square = c->square, *restrict speed = c->speed, *restrict inverse = c->inverse;
  for (int z = c->begin[2]; z < c->end[2]; z++)
    for (int y = c->begin[1]; y < c->end[1]; y++)
      for (int x = c->begin[0]; x < c->end[0]; x++) {
        const size_t at = cell_at(c, x, y, z), next = at + (size_t)s, last = at - (size_t)s;
        const double *restrict u = c->u + at * VALUES, *restrict up = u + s * VALUES, *restrict um = u - s * VALUES;
        double *restrict r = c->rhs + at * VALUES;
        const double w0 = w[at], wp = w[next], wm = w[last];
        for (int m = 0; m < VALUES; m++) r[m] += diffusion * (up[m] - 2 * u[m] + um[m]);
        r[0] -= t2 * (up[1 + d] - um[1 + d]);
        for (int e = 0; e < 3; e++) {
          const double *restrict v = c->velocity[e];
          r[1 + e] += (e == d ? viscous * (4.0 / 3) : viscous) * (v[next] - 2 * v[at] + v[last]) - t2 * (up[1 + e] * wp - um[1 + e] * wm);
        }
        r[1 + d] -= t2 * C2 * (up[4] - square[next] - um[4] + square[last]);
        r[4] += viscous * ((1 - C1C5) * (speed[next] - 2 * speed[at] + speed[last]) + (1.0 / 6) * (wp * wp - 2 * w0 * w0 + wm * wm) +
                           C1C5 * (up[4] * inverse[next] - 2 * u[4] * inverse[at] + um[4] * inverse[last])) -
                t2 * ((C1 * up[4] - C2 * square[next]) * wp - (C1 * um[4] - C2 * square[last]) * wm);
      }
  for (int z = c->begin[2]; z < c->end[2]; z++)
    for (int y = c->begin[1]; y < c->end[1]; y++)
      for (int x = c->begin[0]; x < c->end[0]; x++) {
        const int place = c->first[d] + (d == 0 ? x : d == 1 ? y : z);
        const double *restrict u = c->u + cell_at(c, x, y, z) * VALUES;
        double *restrict r = c->rhs + cell_at(c, x, y, z) * VALUES;
        if (place > 2 && place < domain->n - 3) {
          for (int m = 0; m < VALUES; m++) r[m] -= DISSIPATION * (u[m - 2 * s * VALUES] - 4 * u[m - s * VALUES] + 6 * u[m] - 4 * u[m + s * VALUES] + u[m + 2 * s * VALUES]);
        } else {
          double k[5];
          dissipation(place, domain->n, k);
          for (int m = 0; m < VALUES; m++) r[m] += k[0] * u[m - 2 * s * VALUES] + k[1] * u[m - s * VALUES] + k[2] * u[m] + k[3] * u[m + s * VALUES] + k[4] * u[m + 2 * s * VALUES];
        }
      }
}

static void all_fluxes(const Flow *flow, const Domain *domain, Cell *c) {
  derive(domain, c);
  fluxes(flow, domain, c, 0);
  fluxes(flow, domain, c, 1);
  fluxes(flow, domain, c, 2);
}

void flow_rhs(const Flow *flow, const Domain *domain) {
  for (int k = 0; k < domain->p; k++) {
    Cell *c = &domain->cells[k];
    memcpy(c->rhs, c->forcing, c->points * VALUES * sizeof(double));
    all_fluxes(flow, domain, c);
    for (int z = c->begin[2]; z < c->end[2]; z++)
      for (int y = c->begin[1]; y < c->end[1]; y++) {
        double *restrict r = c->rhs + cell_at(c, c->begin[0], y, z) * VALUES;
        for (int i = 0; i < (c->end[0] - c->begin[0]) * VALUES; i++) r[i] *= flow->dt;
      }
  }
}

void flow_begin(const Flow *flow, const Domain *domain) {
  for (int k = 0; k < domain->p; k++) {
    Cell *c = &domain->cells[k];
    /* The forcing undoes what flows in the exact solution, which is known in the ghost layers as well. */
    for (int z = -GHOST; z < c->size[2] + GHOST; z++)
      for (int y = -GHOST; y < c->size[1] + GHOST; y++)
        for (int x = -GHOST; x < c->size[0] + GHOST; x++) flow_exact(domain, c->first[0] + x, c->first[1] + y, c->first[2] + z, c->u + cell_at(c, x, y, z) * VALUES);
    memset(c->rhs, 0, c->points * VALUES * sizeof(double));
    all_fluxes(flow, domain, c);
    for (size_t i = 0; i < c->points * VALUES; i++) c->forcing[i] = -c->rhs[i];
    for (int z = 0; z < c->size[2]; z++)
      for (int y = 0; y < c->size[1]; y++)
        for (int x = 0; x < c->size[0]; x++) initial_at(domain, (int[3]){c->first[0] + x, c->first[1] + y, c->first[2] + z}, c->u + cell_at(c, x, y, z) * VALUES);
  }
}
