/*
 * The plate, and the exact answer of the scheme. On the (n + 2)² points of the plate:
 *
 *   steady state   a harmonic polynomial of degree 2, which the scheme keeps as it is
 *   disturbance    sin(p π x) · sin(q π y), 0 on the edge, shrinks in every step by 1 − 4 λ (sin² (p π h / 2) + sin² (q π h / 2))
 *
 * Sines are computed here, from + − × ÷ alone: C libraries differ in the last bits, and the picture must have the same bytes everywhere.
 */
#ifndef PLATE_H
#define PLATE_H

#include <stdint.h>

/* Time step × diffusivity / h²; the scheme is stable up to 1/4. */
#define LAMBDA 0.2

/* Sets what `temperature` answers for: n × n inner points, after so many steps. */
void plate_at(int n, int steps);
/* At row i, column j, each 0 … n + 1. */
double temperature(int i, int j);
/* Red, green and blue of a temperature, from cold (dark blue) through red to hot (white). */
void colour_of(double temperature, uint8_t rgb[3]);

#endif
