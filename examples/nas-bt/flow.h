/* The synthetic flow problem of NAS BT: compressible Navier-Stokes equations with a forcing that makes a known polynomial the exact solution. */
#ifndef NAS_BT_FLOW_H
#define NAS_BT_FLOW_H

#include "cells.h"

/* Constants of the equations, scaled by the grid. */
typedef struct {
  double dt;
  double first, second;     /* factors of first differences, 1/(2h), and of second ones, 1/h² */
  double viscous;           /* c3 c4 / h² */
  double artificial[3];     /* diffusion by direction, the same for all values */
} Flow;

/* Ratio of specific heats and its kin, in the report's numbering. */
#define C1 1.4
#define C2 0.4
#define C3C4 0.1
#define C1C5 1.96

void flow_constants(Flow *flow, int n, double dt);
void flow_exact(const Domain *domain, int x, int y, int z, double value[VALUES]);
/* Sets the forcing, then u to the initial guess: exact on the border, blended from opposite borders inside. */
void flow_begin(const Flow *flow, const Domain *domain);
/* rhs = dt · (forcing + fluxes and dissipation of u); ghost layers must be filled. */
void flow_rhs(const Flow *flow, const Domain *domain);

#endif
