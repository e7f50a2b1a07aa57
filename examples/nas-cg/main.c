/*
 * NAS CG: the smallest eigenvalue of a large sparse symmetric matrix by inverse iteration, each step of which runs 25 iterations of conjugate
 * gradients. The matrix lies on a grid of ranks, as many columns as rows or twice as many. A vector is cut like the columns of the grid, and
 * every row of the grid holds it whole. A product with the matrix takes a sum along each row of the grid and an exchange with the rank that
 * needs the result as its part of the vector.
 *
 * Sums run over hypercubes of messages, so that their order, and with it the last digit, is the same under every MPI library.
 */
#include "../nas-common/nas.h"
#include "matrix.h"
#include <math.h>
#include <mpi.h>
#include <string.h>

enum { INNER = 25 };

static const struct {
  int n, nonzeros, iterations;
  double shift, zeta;
} CLASSES[] = {
    {1400, 7, 15, 10, 8.5971775078648},
    {7000, 8, 15, 12, 10.362595087124},
    {14000, 11, 15, 20, 17.130235054029},
};

typedef struct {
  int rows, columns, row, column; /* of the grid; where this rank stands */
  MPI_Comm along;                 /* the ranks of this row, by column */
  int partner;                    /* who needs part of my sums, and whose I need */
  int give, give_count;           /* which part of the block's rows, when there are twice as many columns as rows */
} Grid;

static Block block;
static Grid grid;
static double *sums, *other; /* of the block's rows */

static void layout(int n) {
  int power = 0;
  while (1 << (power + 1) <= nas_size) power++;
  if (1 << power != nas_size) nas_refuse("CG runs on 1, 2, 4, 8, 16 … ranks, not on %d", nas_size);
  if (nas_size > n) nas_refuse("at most %d ranks for this class", n);
  grid.rows = 1 << (power / 2);
  grid.columns = nas_size / grid.rows;
  grid.row = nas_rank / grid.columns;
  grid.column = nas_rank % grid.columns;
  MPI_Comm_split(MPI_COMM_WORLD, grid.row, grid.column, &grid.along);

  block.first_row = (int)nas_share(grid.row, n, grid.rows);
  block.rows = (int)nas_share(grid.row + 1, n, grid.rows) - block.first_row;
  block.first_column = (int)nas_share(grid.column, n, grid.columns);
  block.columns = (int)nas_share(grid.column + 1, n, grid.columns) - block.first_column;
  /*
   * Sums of this row of the grid are the vector's parts for one column (square grid) or two. Transposed places map onto themselves:
   * who gives to a rank also receives from it.
   */
  int per = grid.columns / grid.rows, half = grid.column % per;
  int column = grid.row * per + half;
  grid.partner = grid.column / per * grid.columns + column;
  grid.give = (int)nas_share(column, n, grid.columns) - block.first_row;
  grid.give_count = (int)nas_share(column + 1, n, grid.columns) - block.first_row - grid.give;
  sums = nas_allocate((size_t)block.rows, sizeof(double));
  other = nas_allocate((size_t)block.rows, sizeof(double));
}

/* Adds up `values` over the ranks of a row; all get the sum. */
static void add_along(double *restrict values, double *restrict room, int count) {
  for (int bit = 1; bit < grid.columns; bit *= 2) {
    int peer = grid.column ^ bit;
    MPI_Sendrecv(values, count, MPI_DOUBLE, peer, 1, room, count, MPI_DOUBLE, peer, 1, grid.along, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) values[i] += room[i];
  }
}

static double dot(const double *restrict x, const double *restrict y) {
  double sum = 0, room;
  for (int i = 0; i < block.columns; i++) sum += x[i] * y[i];
  add_along(&sum, &room, 1);
  return sum;
}

/* y = A x, both as parts of vectors. */
static void multiply(const double *x, double *y) {
  block_times(&block, x, sums);
  add_along(sums, other, block.rows);
  if (grid.partner == nas_rank) memcpy(y, sums + grid.give, sizeof(double) * (size_t)block.columns);
  else
    MPI_Sendrecv(sums + grid.give, grid.give_count, MPI_DOUBLE, grid.partner, 2, y, block.columns, MPI_DOUBLE, grid.partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* z ≈ A⁻¹ x. Returns the norm of the residual. */
static double solve(const double *restrict x, double *restrict z, double *restrict r, double *restrict p, double *restrict q) {
  int n = block.columns;
  for (int i = 0; i < n; i++) z[i] = 0, r[i] = p[i] = x[i];
  double rho = dot(r, r);
  for (int it = 0; it < INNER; it++) {
    multiply(p, q);
    double alpha = rho / dot(p, q);
    for (int i = 0; i < n; i++) z[i] += alpha * p[i];
    for (int i = 0; i < n; i++) r[i] -= alpha * q[i];
    double before = rho;
    rho = dot(r, r);
    double beta = rho / before;
    for (int i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
  }
  multiply(z, q);
  for (int i = 0; i < n; i++) r[i] = x[i] - q[i];
  return sqrt(dot(r, r));
}

int main(int argc, char **argv) {
  int class = nas_start(&argc, &argv, "CG");
  int n = CLASSES[class].n, iterations = CLASSES[class].iterations;
  layout(n);
  nas_say("  order %d, %d iterations of %d, grid of %d × %d ranks", n, iterations, INNER, grid.rows, grid.columns);
  block_generate(&block, n, CLASSES[class].nonzeros, CLASSES[class].shift);
  size_t part = (size_t)block.columns;
  double *x = nas_allocate(part, sizeof(double)), *z = nas_allocate(part, sizeof(double));
  double *p = nas_allocate(part, sizeof(double)), *q = nas_allocate(part, sizeof(double)), *r = nas_allocate(part, sizeof(double));
  for (size_t i = 0; i < part; i++) x[i] = 1;

  nas_clock();
  double zeta = 0;
  bool converged = true;
  for (int it = 1; it <= iterations; it++) {
    state_progress(it - 1, iterations);
    double residual = solve(x, z, r, p, q);
    zeta = CLASSES[class].shift + 1 / dot(x, z);
    double scale = 1 / sqrt(dot(z, z));
    for (size_t i = 0; i < part; i++) x[i] = scale * z[i];
    /* The residual itself is rounding error: its digits mean nothing. */
    converged &= residual < 1e-10;
    nas_say("  iteration %2d: zeta %.11f", it, zeta);
  }
  nas_say("  residuals %s 1e-10", converged ? "below" : "NOT below");
  bool right = nas_check("zeta", zeta, CLASSES[class].zeta, 1e-10);
  double per_row = CLASSES[class].nonzeros * (CLASSES[class].nonzeros + 1.0);
  return nas_finish(right && converged, 2.0 * iterations * n * (3 + per_row + INNER * (5 + per_row) + 3));
}
