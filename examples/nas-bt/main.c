/*
 * NAS BT: time steps of the compressible Navier-Stokes equations on a cube. The implicit operator is split into its three directions (ADI),
 * each a set of independent block-tridiagonal systems. After the last step the distance from the exact solution and the size of the
 * right-hand side must be those of the report.
 */
#include "../nas-common/nas.h"
#include "cells.h"
#include "flow.h"
#include "sweep.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>

static const struct {
  int n, steps;
  double dt, residual[VALUES], error[VALUES];
} CLASSES[] = {
    {12, 60, 0.010,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02, 1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05, 8.9269630987491446e-04}},
    {24, 200, 0.0008,
     {1.125590409344e+02, 1.180007595731e+01, 2.710329767846e+01, 2.469174937669e+01, 2.638427874317e+02},
     {4.419655736008e+00, 4.638531260002e-01, 1.011551749967e+00, 9.235878729944e-01, 1.018045837718e+01}},
    {64, 200, 0.0008,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01, 2.3665622544678910e+01, 2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01, 8.8302063039765474e-01, 9.7379901770829278e+00}},
};

/* u += rhs, inside the domain. */
static void add(const Domain *domain) {
  for (int k = 0; k < domain->p; k++) {
    const Cell *c = &domain->cells[k];
    for (int z = c->begin[2]; z < c->end[2]; z++)
      for (int y = c->begin[1]; y < c->end[1]; y++) {
        size_t at = cell_at(c, c->begin[0], y, z) * VALUES;
        double *restrict u = c->u + at;
        const double *restrict r = c->rhs + at;
        for (int i = 0; i < (c->end[0] - c->begin[0]) * VALUES; i++) u[i] += r[i];
      }
  }
}

static void step(const Flow *flow, const Domain *domain) {
  domain_exchange(domain);
  flow_rhs(flow, domain);
  for (int d = 0; d < 3; d++) sweep(flow, domain, d);
  add(domain);
}

/* Root mean squares over the points inside: of the right-hand side, or of the distance from the exact solution. */
static void norms(const Domain *domain, bool error, double norm[VALUES]) {
  double sum[VALUES] = {0};
  for (int k = 0; k < domain->p; k++) {
    const Cell *c = &domain->cells[k];
    for (int z = c->begin[2]; z < c->end[2]; z++)
      for (int y = c->begin[1]; y < c->end[1]; y++)
        for (int x = c->begin[0]; x < c->end[0]; x++) {
          size_t at = cell_at(c, x, y, z) * VALUES;
          double exact[VALUES];
          if (error) flow_exact(domain, c->first[0] + x, c->first[1] + y, c->first[2] + z, exact);
          for (int m = 0; m < VALUES; m++) {
            double value = error ? c->u[at + (size_t)m] - exact[m] : c->rhs[at + (size_t)m];
            sum[m] += value * value;
          }
        }
  }
  MPI_Allreduce(sum, norm, VALUES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int m = 0; m < VALUES; m++) norm[m] = sqrt(norm[m] / pow(domain->n - 2, 3));
}

int main(int argc, char **argv) {
  int class = nas_start(&argc, &argv, "BT");
  int n = CLASSES[class].n, steps = CLASSES[class].steps;
  Domain domain;
  domain_layout(&domain, n);
  Flow flow;
  flow_constants(&flow, n, CLASSES[class].dt);
  nas_say("  %d^3 points, %d steps of %g, %d cell%s per rank", n, steps, flow.dt, domain.p, domain.p == 1 ? "" : "s");
  flow_begin(&flow, &domain);

  nas_clock();
  for (int i = 1; i <= steps; i++) {
    state_progress(i - 1, steps);
    step(&flow, &domain);
    if (i % 20 == 0) nas_say("  step %d", i);
  }
  double error[VALUES], residual[VALUES];
  norms(&domain, true, error);
  domain_exchange(&domain);
  flow_rhs(&flow, &domain);
  norms(&domain, false, residual);

  bool good = true;
  for (int m = 0; m < VALUES; m++) {
    char name[16];
    snprintf(name, sizeof name, "residual %d", m + 1);
    good &= nas_check(name, residual[m] / flow.dt, CLASSES[class].residual[m], 1e-8);
  }
  for (int m = 0; m < VALUES; m++) {
    char name[16];
    snprintf(name, sizeof name, "error %d", m + 1);
    good &= nas_check(name, error[m], CLASSES[class].error[m], 1e-8);
  }
  double cube = pow(n, 3), square = pow(n, 2);
  return nas_finish(good, steps * (3478.8 * cube - 17655.7 * square + 28023.7 * n));
}
