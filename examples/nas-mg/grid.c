/* Boxes of the ranks, and the exchange of their borders. See grid.h. */
#include "grid.h"
#include "../nas-common/nas.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int ranks[3], place[3];     /* the box of ranks, z, y, x; this one's place */
static int before[3], after[3];    /* neighbours */
static int lowest;
static double *out[2], *in[2];     /* one face each, of the largest level */

static void describe(Level *l, int k, int shared) {
  l->points = 1 << k;
  l->shared = shared;
  for (int d = 0; d < 3; d++) {
    l->size[d] = shared ? l->points / ranks[d] : l->points;
    l->first[d] = shared ? place[d] * l->size[d] : 0;
  }
  l->row = (size_t)l->size[2] + 2;
  l->plane = l->row * (size_t)(l->size[1] + 2);
  l->all = l->plane * (size_t)(l->size[0] + 2);
}

void grid_layout(Level *levels, int top) {
  int power = 0;
  while (1 << (power + 1) <= nas_size) power++;
  if (1 << power != nas_size || power > 3 * (top - 1)) nas_refuse("MG runs on 1, 2, 4, 8, 16 … %d ranks, not on %d", 1 << 3 * (top - 1), nas_size);
  /* z is cut first: its faces lie in one piece. */
  for (int d = 0; d < 3; d++) ranks[d] = 1 << ((power + 2 - d) / 3);
  place[0] = nas_rank / (ranks[1] * ranks[2]);
  place[1] = nas_rank / ranks[2] % ranks[1];
  place[2] = nas_rank % ranks[2];
  int stride[3] = {ranks[1] * ranks[2], ranks[2], 1};
  for (int d = 0; d < 3; d++) {
    before[d] = nas_rank + ((place[d] + ranks[d] - 1) % ranks[d] - place[d]) * stride[d];
    after[d] = nas_rank + ((place[d] + 1) % ranks[d] - place[d]) * stride[d];
  }
  lowest = 1;
  while (1 << lowest < ranks[0]) lowest++;
  for (int k = 1; k <= top; k++) describe(&levels[k], k, k >= lowest);
  /* The largest face: z is cut into the most parts, so x faces and y faces may be larger than z faces. */
  const Level *l = &levels[top];
  size_t largest = l->plane, across = (size_t)(l->size[0] + 2) * (l->row > (size_t)l->size[1] + 2 ? l->row : (size_t)l->size[1] + 2);
  if (across > largest) largest = across;
  /* Whole grids that stand in for shared ones are small, but their faces may be larger still. */
  size_t side = ((size_t)1 << lowest) + 2;
  if (side * side > largest) largest = side * side;
  for (int i = 0; i < 2; i++) {
    out[i] = nas_allocate(largest, sizeof(double));
    in[i] = nas_allocate(largest, sizeof(double));
  }
}

Level grid_whole(int k) {
  Level l;
  describe(&l, k, 0);
  return l;
}

int grid_lowest_shared(void) { return lowest; }

double *grid_array(const Level *level) { return nas_allocate(level->all, sizeof(double)); }

/*
 * One face, `at` points along direction d: x faces cover the box's own points, y faces also the x layer, z faces all. So edges and corners
 * come right when x goes first.
 */
static int face(const Level *l, int d, int at, double *a, double *buffer, int store) {
  int n = 0;
  if (d == 0) {
    double *from = a + (size_t)at * l->plane;
    if (store) memcpy(from, buffer, sizeof(double) * l->plane);
    else memcpy(buffer, from, sizeof(double) * l->plane);
    return (int)l->plane;
  }
  for (int z = 1; z <= l->size[0]; z++) {
    double *plane = a + (size_t)z * l->plane;
    if (d == 1) {
      double *row = plane + (size_t)at * l->row;
      if (store) memcpy(row, buffer + n, sizeof(double) * l->row);
      else memcpy(buffer + n, row, sizeof(double) * l->row);
      n += (int)l->row;
    } else
      for (int y = 1; y <= l->size[1]; y++, n++) {
        double *point = plane + (size_t)y * l->row + at;
        if (store) *point = buffer[n];
        else buffer[n] = *point;
      }
  }
  return n;
}

void grid_exchange(const Level *l, double *a) {
  for (int d = 2; d >= 0; d--) {
    int n = face(l, d, 1, a, out[0], 0);
    face(l, d, l->size[d], a, out[1], 0);
    if (!l->shared || ranks[d] == 1) {
      face(l, d, l->size[d] + 1, a, out[0], 1);
      face(l, d, 0, a, out[1], 1);
      continue;
    }
    MPI_Request wait[4];
    MPI_Irecv(in[0], n, MPI_DOUBLE, after[d], 2 * d, MPI_COMM_WORLD, &wait[0]);
    MPI_Irecv(in[1], n, MPI_DOUBLE, before[d], 2 * d + 1, MPI_COMM_WORLD, &wait[1]);
    MPI_Isend(out[0], n, MPI_DOUBLE, before[d], 2 * d, MPI_COMM_WORLD, &wait[2]);
    MPI_Isend(out[1], n, MPI_DOUBLE, after[d], 2 * d + 1, MPI_COMM_WORLD, &wait[3]);
    MPI_Waitall(4, wait, MPI_STATUSES_IGNORE);
    face(l, d, l->size[d] + 1, a, in[0], 1);
    face(l, d, 0, a, in[1], 1);
  }
}

void grid_gather(const Level *shared, const double *box, const Level *whole, double *all) {
  int n = shared->size[0] * shared->size[1] * shared->size[2], at = 0;
  double *mine = nas_allocate((size_t)n, sizeof(double)), *boxes = nas_allocate((size_t)n * (size_t)nas_size, sizeof(double));
  for (int z = 1; z <= shared->size[0]; z++)
    for (int y = 1; y <= shared->size[1]; y++)
      for (int x = 1; x <= shared->size[2]; x++) mine[at++] = box[(size_t)z * shared->plane + (size_t)y * shared->row + (size_t)x];
  MPI_Allgather(mine, n, MPI_DOUBLE, boxes, n, MPI_DOUBLE, MPI_COMM_WORLD);
  at = 0;
  for (int r = 0; r < nas_size; r++) {
    size_t z0 = (size_t)(r / (ranks[1] * ranks[2]) * shared->size[0]), y0 = (size_t)(r / ranks[2] % ranks[1] * shared->size[1]), x0 = (size_t)(r % ranks[2] * shared->size[2]);
    for (int z = 1; z <= shared->size[0]; z++)
      for (int y = 1; y <= shared->size[1]; y++)
        for (int x = 1; x <= shared->size[2]; x++) all[(z0 + (size_t)z) * whole->plane + (y0 + (size_t)y) * whole->row + x0 + (size_t)x] = boxes[at++];
  }
  free(mine), free(boxes);
  grid_exchange(whole, all);
}

void grid_pick(const Level *whole, const double *all, const Level *shared, double *box) {
  for (int z = 0; z <= shared->size[0] + 1; z++)
    for (int y = 0; y <= shared->size[1] + 1; y++)
      memcpy(box + (size_t)z * shared->plane + (size_t)y * shared->row, all + (size_t)(shared->first[0] + z) * whole->plane + (size_t)(shared->first[1] + y) * whole->row + shared->first[2], sizeof(double) * shared->row);
}
