/*
 * Two coupled solvers: a rod of two materials, each computed by a solver of its own, which is one half of the ranks. A solver iterates its
 * half of the heat equation with the other's temperature at their common end held fixed; every so many steps they exchange it. Ranks of a
 * solver talk in each step, the solvers seldom: under the protocol hc3i each solver is a cluster.
 *
 *   --cells 500      of each rank
 *   --steps 2000     of both solvers
 *   --every 50       steps from one exchange to the next
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

enum { HALO = 1, COUPLING = 2 };

/* What a step moves of the difference between neighbours, by solver. */
static const double CONDUCTS[2] = {0.25, 0.4};
static const double HOT = 100, COLD = 0;

/* One step of `cells` cells; u[0] and u[cells + 1] are what lies beyond its ends. */
static void step(const double *u, double *next, int cells, double conducts) {
  for (int i = 1; i <= cells; i++) next[i] = u[i] + conducts * (u[i - 1] - 2 * u[i] + u[i + 1]);
}

static double *rod(int cells) {
  double *u = calloc((size_t)cells + 2, sizeof *u);
  if (!u) MPI_Abort(MPI_COMM_WORLD, 3);
  return u;
}

static void swap(double **a, double **b) {
  double *t = *a;
  *a = *b;
  *b = t;
}

/* The same on one rank: both halves of `cells` cells, with the same numbers in the same order. Returns how many cells of `all` differ. */
static long differences(const double *all, int cells, int64_t steps, int64_t every) {
  double *u[2], *next[2];
  for (int s = 0; s < 2; s++) u[s] = rod(cells), next[s] = rod(cells);
  double beyond[2] = {0, 0};
  for (int64_t n = 0; n < steps; n++) {
    if (n % every == 0) beyond[0] = u[1][1], beyond[1] = u[0][cells];
    u[0][0] = HOT, u[0][cells + 1] = beyond[0];
    u[1][0] = beyond[1], u[1][cells + 1] = COLD;
    for (int s = 0; s < 2; s++) step(u[s], next[s], cells, CONDUCTS[s]), swap(&u[s], &next[s]);
  }
  long wrong = 0;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < cells; i++) wrong += all[s * cells + i] != u[s][i + 1];
  for (int s = 0; s < 2; s++) free(u[s]), free(next[s]);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int cells = (int)option_number(argc, argv, "cells", 500, 1, 1000000);
  const int64_t steps = option_number(argc, argv, "steps", 2000, 1, 1000000000);
  const int64_t every = option_number(argc, argv, "every", 50, 1, 1000000000);
  if (size < 2 || size % 2) refuse("two solvers of as many ranks each: the number of ranks has to be even");

  const int half = size / 2, solver = rank / half;
  MPI_Comm mine;
  MPI_Comm_split(MPI_COMM_WORLD, solver, rank, &mine);
  const int place = rank % half;
  const int left = place > 0 ? place - 1 : MPI_PROC_NULL, right = place + 1 < half ? place + 1 : MPI_PROC_NULL;
  /* The ranks on both sides of the common end. */
  const int other = rank == half - 1 ? half : rank == half ? half - 1 : MPI_PROC_NULL;

  double *u = rod(cells), *next = rod(cells), beyond = 0;
  const int64_t report = (steps + 9) / 10;
  for (int64_t n = 0; n < steps; n++) {
    state_progress((double)n, (double)steps);
    if (n % every == 0) {
      const double here = solver == 0 ? u[cells] : u[1];
      MPI_Sendrecv(&here, 1, MPI_DOUBLE, other, COUPLING, &beyond, 1, MPI_DOUBLE, other, COUPLING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(&u[cells], 1, MPI_DOUBLE, right, HALO, &u[0], 1, MPI_DOUBLE, left, HALO, mine, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, HALO, &u[cells + 1], 1, MPI_DOUBLE, right, HALO, mine, MPI_STATUS_IGNORE);
    if (rank == 0) u[0] = HOT;
    if (rank == half - 1) u[cells + 1] = beyond;
    if (rank == half) u[0] = beyond;
    if (rank == size - 1) u[cells + 1] = COLD;
    step(u, next, cells, CONDUCTS[solver]);
    swap(&u, &next);
    if (rank == 0 && (n + 1) % report == 0) printf("step %lld: %.9f degrees at the hot end\n", (long long)n + 1, u[1]);
  }

  double *all = rank == 0 ? malloc((size_t)size * (size_t)cells * sizeof *all) : NULL;
  MPI_Gather(u + 1, cells, MPI_DOUBLE, all, cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int wrong = 0;
  if (rank == 0) {
    const long cellsWrong = differences(all, half * cells, steps, every);
    wrong = cellsWrong > 0;
    printf("%s: %ld of %d cells differ from the same computation on one rank, after %lld steps and %lld exchanges\n", wrong ? "FAIL" : "PASS", cellsWrong,
           size * cells, (long long)steps, (long long)((steps + every - 1) / every));
  }
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(all);
  free(u);
  free(next);
  MPI_Comm_free(&mine);
  MPI_Finalize();
  return wrong;
}
