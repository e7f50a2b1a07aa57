/* One factor of the implicit operator: block-tridiagonal systems with 5 × 5 blocks along every line of a direction. */
#ifndef NAS_BT_SWEEP_H
#define NAS_BT_SWEEP_H

#include "flow.h"

/* rhs = (I - dt ∂/∂d)⁻¹ rhs, over all cells of the direction, by all ranks together. */
void sweep(const Flow *flow, const Domain *domain, int direction);

#endif
