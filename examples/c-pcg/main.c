/*
 * Conjugate gradients with Jacobi's preconditioner on a matrix from a Matrix Market file: the program of Chen and others' experiments with
 * diskless checkpoints. There the program saves itself; here nothing in it speaks of checkpoints.
 *
 *   --matrix 1138_bus.mtx
 *   --poisson 0            k: instead of a file, the 5-point Laplacian on k × k points
 *   --digits 8             the residual shrinks by so many powers of ten
 *   --repeat 1             systems with different right-hand sides, one after the other
 *   --limit 20000          most iterations for one system
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"
#include "distributed.h"

typedef struct {
  int iterations;
  double residual; /* ‖b − A x‖ / ‖b‖, computed anew at the end */
} Outcome;

static double inverse_diagonal(const Matrix *m, int row) {
  for (int e = m->start[row]; e < m->start[row + 1]; e++)
    if (m->column[e] == row && m->value[e] != 0) return 1 / m->value[e];
  return 1;
}

static Outcome solve(Distributed *d, const double *b, double *x, double tolerance, int limit) {
  const int n = d->own;
  double *r = allocate(n, sizeof *r), *z = allocate(n, sizeof *z), *q = allocate(n, sizeof *q), *scale = allocate(n, sizeof *scale);
  double *p = allocate(n + d->halo, sizeof *p);
  for (int i = 0; i < n; i++) {
    scale[i] = inverse_diagonal(&d->rows, i);
    x[i] = 0;
    r[i] = b[i];
    p[i] = z[i] = scale[i] * r[i];
  }
  const double norm = sqrt(dot(d, b, b));
  double rz = dot(d, r, z);
  Outcome outcome = {0, 1};
  while (outcome.iterations < limit && sqrt(dot(d, r, r)) > tolerance * norm) {
    multiply(d, p, q);
    const double alpha = rz / dot(d, p, q);
    for (int i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      z[i] = scale[i] * r[i];
    }
    const double next = dot(d, r, z), beta = next / rz;
    rz = next;
    for (int i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
    outcome.iterations++;
  }
  memcpy(p, x, (size_t)n * sizeof *p);
  multiply(d, p, q);
  for (int i = 0; i < n; i++) r[i] = b[i] - q[i];
  outcome.residual = sqrt(dot(d, r, r)) / norm;
  free(r);
  free(z);
  free(q);
  free(scale);
  free(p);
  return outcome;
}

/* The bits of x in the order of the unknowns: the hash goes from rank to rank. */
static uint64_t hash_of(const Distributed *d, const double *x) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  if (rank > 0) MPI_Recv(&hash, 1, MPI_UINT64_T, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const unsigned char *bytes = (const unsigned char *)x;
  for (size_t i = 0; i < (size_t)d->own * sizeof *x; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  if (rank + 1 < size) MPI_Send(&hash, 1, MPI_UINT64_T, rank + 1, 3, MPI_COMM_WORLD);
  MPI_Bcast(&hash, 1, MPI_UINT64_T, size - 1, MPI_COMM_WORLD);
  return hash;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *path = option_text(argc, argv, "matrix", "1138_bus.mtx");
  const int poisson = (int)option_number(argc, argv, "poisson", 0, 0, 5000);
  const int digits = (int)option_number(argc, argv, "digits", 8, 1, 14);
  const int repeat = (int)option_number(argc, argv, "repeat", 1, 1, 1000000);
  const int limit = (int)option_number(argc, argv, "limit", 20000, 1, 1000000000);
  double tolerance = 1;
  for (int k = 0; k < digits; k++) tolerance /= 10;

  Matrix whole;
  if (poisson > 0) matrix_poisson(&whole, poisson);
  else {
    const char *wrong = matrix_read(&whole, path);
    if (wrong) refuse("%s: %s", path, wrong);
  }
  if (rank == 0) printf("%s: %d unknowns, %d entries\n", poisson > 0 ? "Laplacian" : path, whole.n, whole.start[whole.n]);
  Distributed d;
  distribute(&d, &whole, MPI_COMM_WORLD);
  matrix_free(&whole);

  double *b = allocate(d.own, sizeof *b), *x = allocate(d.own, sizeof *x);
  int unsolved = 0;
  const double start = MPI_Wtime();
  for (int k = 1; k <= repeat; k++) {
    state_progress(k - 1, repeat);
    /* The first right-hand side is all ones, as in the literature; the others differ from row to row. */
    for (int i = 0; i < d.own; i++) b[i] = k == 1 ? 1 : 1 + (double)((int64_t)(d.first + i) * k % 7) / 8;
    const Outcome o = solve(&d, b, x, tolerance, limit);
    const uint64_t hash = hash_of(&d, x);
    /* Rounding lets the true residual stay behind the one that the iteration carries along. */
    const int good = o.residual <= 10 * tolerance;
    if (!good) unsolved++;
    if (rank == 0) printf("system %d: %d iterations, residual %.2e, bits of the solution %016llx\n", k, o.iterations, o.residual, (unsigned long long)hash);
  }
  if (rank == 0) {
    fprintf(stderr, "%.3f s\n", MPI_Wtime() - start);
    if (unsolved) printf("FAIL: %d of %d systems not solved to 1e-%d\n", unsolved, repeat, digits);
    else printf("PASS: %d of %d systems solved to 1e-%d\n", repeat, repeat, digits);
  }
  free(b);
  free(x);
  distributed_free(&d);
  MPI_Finalize();
  return unsolved != 0;
}
