/* The four operators of NAS MG. All arrays carry the layer around the box. */
#ifndef NAS_MG_STENCIL_H
#define NAS_MG_STENCIL_H

#include "grid.h"

/* r = v - A u; r may be v. */
void stencil_residual(const Level *l, const double *u, const double *v, double *r);
/* u = u + S r */
void stencil_smooth(const Level *l, const double *restrict r, double *restrict u);
/* coarse = P fine: full weighting */
void stencil_restrict(const Level *fine_level, const double *restrict fine, const Level *coarse_level, double *restrict coarse);
/* fine = fine + Q coarse: trilinear interpolation, into the layer around the box too */
void stencil_prolong(const Level *coarse_level, const double *restrict coarse, const Level *fine_level, double *restrict fine);

#endif
