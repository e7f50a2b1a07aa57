/*
 * Gravity among N bodies, every pair of them, by the leapfrog method. Each rank owns N / P bodies. In every step the positions go round
 * a ring of ranks (a systolic loop): while the rank adds up the pull of the visitors that it has, the next ones are already on their way.
 *
 *   --bodies 1024    all together
 *   --steps 100
 *   --seed 1
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

typedef struct {
  double x, y, z, mass;
} Body;
typedef struct {
  double x, y, z;
} Vector;

#define SOFTENING 0.05 /* bodies are no points: close encounters stay finite */
#define STEP 0.001     /* in units where G, the total mass and the radius of the cloud are 1 */

static int rank, size;
static int64_t bodies;

static int64_t first_of(int r) { return bodies * r / size; }

/* splitmix64: a number in [0, 1) that depends on seed and index alone, so that the cloud is the same on any number of ranks. */
static double draw(uint64_t seed, uint64_t index) {
  uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + (index + 1) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

/* A body of a ball that turns as a whole: the first point inside the ball among those drawn from a cube. */
static void place(uint64_t seed, int64_t index, Body *b, Vector *v) {
  for (uint64_t tries = 0;; tries++) {
    const uint64_t at = ((uint64_t)index * 64 + tries) * 3;
    b->x = 2 * draw(seed, at) - 1;
    b->y = 2 * draw(seed, at + 1) - 1;
    b->z = 2 * draw(seed, at + 2) - 1;
    if (b->x * b->x + b->y * b->y + b->z * b->z <= 1) break;
  }
  b->mass = 1.0 / (double)bodies;
  *v = (Vector){-0.6 * b->y, 0.6 * b->x, 0};
}

/* Adds the pull of `there` on `here` to a; returns the part of the potential energy (each pair is met from both sides). */
static double pull(const Body *here, int64_t n, const Body *there, int64_t m, Vector *restrict a) {
  double potential = 0;
  for (int64_t i = 0; i < n; i++) {
    Vector sum = a[i];
    double depth = 0;
    for (int64_t j = 0; j < m; j++) {
      const double dx = there[j].x - here[i].x, dy = there[j].y - here[i].y, dz = there[j].z - here[i].z;
      const double square = dx * dx + dy * dy + dz * dz;
      if (square == 0) continue; /* itself */
      const double inverse = 1 / sqrt(square + SOFTENING * SOFTENING);
      const double f = there[j].mass * inverse * inverse * inverse;
      sum.x += f * dx;
      sum.y += f * dy;
      sum.z += f * dz;
      depth += there[j].mass * inverse;
    }
    a[i] = sum;
    potential -= 0.5 * here[i].mass * depth;
  }
  return potential;
}

/* Accelerations of all bodies of this rank. The visitors of round k come from the rank k places before. */
static double accelerate(const Body *here, int64_t n, Vector *a, Body *visitors, Body *coming, MPI_Datatype body) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  memset(a, 0, (size_t)n * sizeof *a);
  memcpy(visitors, here, (size_t)n * sizeof *visitors);
  double potential = 0;
  for (int k = 0; k < size; k++) {
    const int whose = (rank + size - k) % size, whose_next = (whose + size - 1) % size;
    const int64_t m = first_of(whose + 1) - first_of(whose), m_next = first_of(whose_next + 1) - first_of(whose_next);
    MPI_Request moving[2];
    const int more = k + 1 < size;
    if (more) {
      MPI_Irecv(coming, (int)m_next, body, previous, k, MPI_COMM_WORLD, &moving[0]);
      MPI_Isend(visitors, (int)m, body, next, k, MPI_COMM_WORLD, &moving[1]);
    }
    potential += pull(here, n, visitors, m, a);
    if (more) {
      MPI_Waitall(2, moving, MPI_STATUSES_IGNORE);
      Body *const swap = visitors;
      visitors = coming;
      coming = swap;
    }
  }
  return potential;
}

/* Energy and momentum of all bodies: kinetic, potential, px, py, pz, at rank 0. */
static void measure(const Body *b, const Vector *v, int64_t n, double potential, double sums[5]) {
  double part[5] = {0, potential, 0, 0, 0};
  for (int64_t i = 0; i < n; i++) {
    part[0] += 0.5 * b[i].mass * (v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
    part[2] += b[i].mass * v[i].x;
    part[3] += b[i].mass * v[i].y;
    part[4] += b[i].mass * v[i].z;
  }
  MPI_Reduce(part, sums, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bodies = option_number(argc, argv, "bodies", 1024, 2, 10000000);
  const int64_t steps = option_number(argc, argv, "steps", 100, 1, 1000000000);
  const uint64_t seed = (uint64_t)option_number(argc, argv, "seed", 1, 0, INT64_C(1) << 50);

  const int64_t first = first_of(rank), n = first_of(rank + 1) - first, room = bodies / size + 1;
  Body *b = calloc((size_t)room, sizeof *b), *visitors = calloc((size_t)room, sizeof *visitors), *coming = calloc((size_t)room, sizeof *coming);
  Vector *v = calloc((size_t)room, sizeof *v), *a = calloc((size_t)room, sizeof *a);
  if (!b || !visitors || !coming || !v || !a) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Datatype body;
  MPI_Type_contiguous(4, MPI_DOUBLE, &body);
  MPI_Type_commit(&body);
  for (int64_t i = 0; i < n; i++) place(seed, first + i, &b[i], &v[i]);

  const double start = MPI_Wtime();
  double before[5], now[5] = {0};
  double potential = accelerate(b, n, a, visitors, coming, body);
  measure(b, v, n, potential, before);
  if (rank == 0) printf("%lld bodies: energy %.9f\n", (long long)bodies, before[0] + before[1]);
  const int64_t report = (steps + 4) / 5;
  for (int64_t s = 1; s <= steps; s++) {
    state_progress((double)(s - 1), (double)steps);
    for (int64_t i = 0; i < n; i++) {
      v[i].x += 0.5 * STEP * a[i].x;
      v[i].y += 0.5 * STEP * a[i].y;
      v[i].z += 0.5 * STEP * a[i].z;
      b[i].x += STEP * v[i].x;
      b[i].y += STEP * v[i].y;
      b[i].z += STEP * v[i].z;
    }
    potential = accelerate(b, n, a, visitors, coming, body);
    for (int64_t i = 0; i < n; i++) {
      v[i].x += 0.5 * STEP * a[i].x;
      v[i].y += 0.5 * STEP * a[i].y;
      v[i].z += 0.5 * STEP * a[i].z;
    }
    if (s % report == 0 || s == steps) {
      measure(b, v, n, potential, now);
      if (rank == 0) printf("step %lld: kinetic %.9f, potential %.9f\n", (long long)s, now[0], now[1]);
    }
  }

  /* Where the bodies are, as bits: the hash of each rank's positions, xor of all. */
  uint64_t hash = UINT64_C(0xcbf29ce484222325) + (uint64_t)first, all = 0;
  const unsigned char *bytes = (const unsigned char *)b;
  for (size_t i = 0; i < (size_t)n * sizeof *b; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  int failed = 0;
  if (rank == 0) {
    const double drift = fabs((now[0] + now[1]) / (before[0] + before[1]) - 1);
    double push = 0;
    for (int k = 2; k < 5; k++) push = fmax(push, fabs(now[k] - before[k]));
    fprintf(stderr, "%.3f s, energy drifted by %.2e, momentum by %.2e\n", MPI_Wtime() - start, drift, push);
    failed = !(drift < 1e-4 && push < 1e-11);
    printf("hash of the positions %016llx\n", (unsigned long long)all);
    printf("%s: energy and momentum are %s\n", failed ? "FAIL" : "PASS", failed ? "not kept" : "kept");
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Type_free(&body);
  free(b);
  free(visitors);
  free(coming);
  free(v);
  free(a);
  MPI_Finalize();
  return failed;
}
