/*
 * Heat that spreads in a square plate: the heat equation by explicit steps on a grid of ranks (a Cartesian topology). Every rank owns a
 * block of the plate with a border of one point around it, and exchanges its border with its four neighbours in every step: rows as they
 * lie, columns by a vector datatype.
 *
 *   --points 254      inner points along a side
 *   --steps 2000      time steps
 *   --pictures 10     how often heat.png is written on the way; 0: never
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"
#include "../c-common/png.h"
#include "plate.h"

typedef struct {
  int top, left, rows, columns; /* the first inner point (from 1), and how many */
} Block;

static MPI_Comm grid;
static int ranks, me, dims[2], north, south, west, east, points;
static Block mine;

/* First inner point (from 1) of part k when the inner points are cut into `parts`. */
static int first_of(int k, int parts) { return 1 + (int)((int64_t)k * points / parts); }

static Block block_of(int rank) {
  int at[2];
  MPI_Cart_coords(grid, rank, 2, at);
  const int top = first_of(at[0], dims[0]), left = first_of(at[1], dims[1]);
  return (Block){top, left, first_of(at[0] + 1, dims[0]) - top, first_of(at[1] + 1, dims[1]) - left};
}

/* Where there is no neighbour (MPI_PROC_NULL), the border keeps the temperature of the plate's edge. */
static void exchange_borders(double *u, MPI_Datatype column) {
  enum { DOWN, UP, RIGHT, LEFT };
  const int stride = mine.columns + 2;
  double *const first = u + stride + 1, *const last = first + (size_t)(mine.rows - 1) * (size_t)stride;
  MPI_Request requests[8];
  MPI_Irecv(first - stride, mine.columns, MPI_DOUBLE, north, DOWN, grid, &requests[0]);
  MPI_Irecv(last + stride, mine.columns, MPI_DOUBLE, south, UP, grid, &requests[1]);
  MPI_Irecv(first - 1, 1, column, west, RIGHT, grid, &requests[2]);
  MPI_Irecv(first + mine.columns, 1, column, east, LEFT, grid, &requests[3]);
  MPI_Isend(first, mine.columns, MPI_DOUBLE, north, UP, grid, &requests[4]);
  MPI_Isend(last, mine.columns, MPI_DOUBLE, south, DOWN, grid, &requests[5]);
  MPI_Isend(first, 1, column, west, LEFT, grid, &requests[6]);
  MPI_Isend(first + mine.columns - 1, 1, column, east, RIGHT, grid, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* One time step: u_new = u + LAMBDA · (sum of the neighbours − 4 u). */
static void step(const double *restrict u, double *restrict v) {
  const int stride = mine.columns + 2;
  for (int i = 1; i <= mine.rows; i++) {
    const double *p = u + (size_t)i * (size_t)stride;
    double *q = v + (size_t)i * (size_t)stride;
    for (int j = 1; j <= mine.columns; j++) q[j] = p[j] + LAMBDA * ((p[j - stride] + p[j + stride]) + (p[j - 1] + p[j + 1]) - 4 * p[j]);
  }
}

/* Gathers the plate at rank 0, each block straight into its place, and writes it. */
static void write_picture(const double *u) {
  const int stride = mine.columns + 2;
  MPI_Datatype inner;
  MPI_Type_vector(mine.rows, mine.columns, stride, MPI_DOUBLE, &inner);
  MPI_Type_commit(&inner);
  MPI_Request sent;
  MPI_Isend(u + stride + 1, 1, inner, 0, 0, grid, &sent);
  if (me == 0) {
    double *plate = malloc((size_t)points * (size_t)points * sizeof *plate);
    for (int rank = 0; rank < ranks; rank++) {
      const Block b = block_of(rank);
      MPI_Datatype place;
      MPI_Type_create_subarray(2, (int[]){points, points}, (int[]){b.rows, b.columns}, (int[]){b.top - 1, b.left - 1}, MPI_ORDER_C, MPI_DOUBLE, &place);
      MPI_Type_commit(&place);
      MPI_Recv(plate, 1, place, rank, 0, grid, MPI_STATUS_IGNORE);
      MPI_Type_free(&place);
    }
    uint8_t *rgb = malloc(3 * (size_t)points * (size_t)points);
    for (size_t i = 0; i < (size_t)points * (size_t)points; i++) colour_of(plate[i], rgb + 3 * i);
    Png *png = png_open("heat.png", points, points, points);
    if (!png) {
      fprintf(stderr, "heat.png cannot be written\n");
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    png_put(png, 0, 0, points, points, rgb);
    png_write_rows(png, 0, points);
    png_close(png);
    free(rgb);
    free(plate);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Type_free(&inner);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  points = (int)option_number(argc, argv, "points", 254, 1, 20000);
  const int steps = (int)option_number(argc, argv, "steps", 2000, 0, 100000000);
  const int pictures = (int)option_number(argc, argv, "pictures", 10, 0, 100000);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  if (points < dims[0]) refuse("%d points are too few for %d ranks", points, ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){0, 0}, 1, &grid);
  MPI_Comm_rank(grid, &me);
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  mine = block_of(me);

  const int stride = mine.columns + 2;
  const size_t cells = (size_t)(mine.rows + 2) * (size_t)stride;
  double *now = malloc(cells * sizeof *now), *then = malloc(cells * sizeof *then);
  if (!now || !then) MPI_Abort(MPI_COMM_WORLD, 3);
  plate_at(points, 0);
  for (int i = 0; i < mine.rows + 2; i++)
    for (int j = 0; j < stride; j++) now[i * stride + j] = temperature(mine.top - 1 + i, mine.left - 1 + j);
  memcpy(then, now, cells * sizeof *now);
  MPI_Datatype column;
  MPI_Type_vector(mine.rows, 1, stride, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  const double start = MPI_Wtime();
  const int every = pictures > 0 && steps > pictures ? (steps + pictures - 1) / pictures : steps > 0 ? steps : 1;
  for (int s = 1; s <= steps; s++) {
    state_progress(s - 1, steps);
    exchange_borders(now, column);
    step(now, then);
    double *const swap = now;
    now = then;
    then = swap;
    if (s % every == 0 || s == steps) {
      double hottest = 0, of_all;
      for (int i = 1; i <= mine.rows; i++)
        for (int j = 1; j <= mine.columns; j++)
          if (now[i * stride + j] > hottest) hottest = now[i * stride + j];
      MPI_Allreduce(&hottest, &of_all, 1, MPI_DOUBLE, MPI_MAX, grid);
      if (pictures > 0) write_picture(now);
      if (me == 0) printf("step %d: the hottest point inside has %.12f\n", s, of_all);
    }
  }

  /* The check: the exact answer of the scheme is known. */
  plate_at(points, steps);
  double error = 0, worst;
  for (int i = 1; i <= mine.rows; i++)
    for (int j = 1; j <= mine.columns; j++) {
      const double off = now[i * stride + j] - temperature(mine.top - 1 + i, mine.left - 1 + j);
      if (off > error) error = off;
      if (-off > error) error = -off;
      if (!(off == off)) error = 1;
    }
  MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, grid);
  const int failed = !(worst < 1e-9);
  if (me == 0) {
    fprintf(stderr, "%.3f s, off by %.2e\n", MPI_Wtime() - start, worst);
    printf("%s: off the exact answer by %s than 1e-9 on %d x %d ranks\n", failed ? "FAIL" : "PASS", failed ? "more" : "less", dims[0], dims[1]);
  }
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  free(now);
  free(then);
  MPI_Finalize();
  return failed;
}
