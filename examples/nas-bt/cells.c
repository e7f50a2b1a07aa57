/* Which rank owns which cell, and the exchange of borders. See cells.h. */
#include "cells.h"
#include "../nas-common/nas.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int wrap(int i, int p) { return ((i % p) + p) % p; }

/* Cells on one diagonal share an owner. */
static int owner(const int coord[3], int p) { return wrap(coord[0] - coord[2], p) + p * wrap(coord[1] + coord[2], p); }

static void cell_layout(Cell *c, int n, int p) {
  size_t stride = 1;
  for (int d = 0; d < 3; d++) {
    c->first[d] = (int)nas_share(c->coord[d], n, p);
    c->size[d] = (int)nas_share(c->coord[d] + 1, n, p) - c->first[d];
    c->begin[d] = c->coord[d] == 0;
    c->end[d] = c->size[d] - (c->coord[d] == p - 1);
    c->stride[d] = stride;
    stride *= (size_t)(c->size[d] + 2 * GHOST);
  }
  c->points = stride;
  c->u = nas_allocate(stride * VALUES, sizeof(double));
  c->rhs = nas_allocate(stride * VALUES, sizeof(double));
  c->forcing = nas_allocate(stride * VALUES, sizeof(double));
  c->inverse = nas_allocate(stride, sizeof(double));
  for (int d = 0; d < 3; d++) c->velocity[d] = nas_allocate(stride, sizeof(double));
  c->square = nas_allocate(stride, sizeof(double));
  c->speed = nas_allocate(stride, sizeof(double));
}

void domain_layout(Domain *domain, int n) {
  int p = 1;
  while (p * p < nas_size) p++;
  if (p * p != nas_size) nas_refuse("BT runs on 1, 4, 9, 16, 25 … ranks, not on %d", nas_size);
  if (n / p < GHOST) nas_refuse("BT of this class runs on at most %d ranks", n / GHOST * (n / GHOST));
  domain->n = n;
  domain->p = p;
  domain->cells = nas_allocate((size_t)p, sizeof(Cell));
  for (int k = 0; k < p; k++) {
    Cell *c = &domain->cells[k];
    c->coord[0] = wrap(nas_rank % p + k, p);
    c->coord[1] = wrap(nas_rank / p - k, p);
    c->coord[2] = k;
    cell_layout(c, n, p);
  }
  for (int d = 0; d < 3; d++) {
    int coord[3];
    memcpy(coord, domain->cells[0].coord, sizeof coord);
    coord[d]++;
    domain->after[d] = owner(coord, p);
    coord[d] -= 2;
    domain->before[d] = owner(coord, p);
  }
}

/*
 * GHOST planes from `at` on in direction d, of every cell which has a neighbour on that side: packed, or stored. Returns the number of
 * values. Owner and neighbour list the same faces in the same order.
 */
static int faces(const Domain *domain, int d, int upper, int ghosts, double *buffer, int store) {
  int n = 0;
  for (int k = 0; k < domain->p; k++) {
    const Cell *c = &domain->cells[k];
    if (c->coord[d] == (upper ? domain->p - 1 : 0)) continue;
    int low[3] = {0, 0, 0}, high[3] = {c->size[0], c->size[1], c->size[2]};
    low[d] = upper ? c->size[d] - (ghosts ? 0 : GHOST) : ghosts ? -GHOST : 0;
    high[d] = low[d] + GHOST;
    size_t count = (size_t)(high[0] - low[0]) * VALUES;
    for (int z = low[2]; z < high[2]; z++)
      for (int y = low[1]; y < high[1]; y++, n += (int)count) {
        double *row = c->u + cell_at(c, low[0], y, z) * VALUES;
        if (!buffer) continue;
        if (store) memcpy(row, buffer + n, count * sizeof(double));
        else memcpy(buffer + n, row, count * sizeof(double));
      }
  }
  return n;
}

void domain_exchange(const Domain *domain) {
  if (domain->p == 1) return;
  /* By direction and side, 0 = towards lower coordinates. */
  static double *out[3][2], *in[3][2];
  MPI_Request wait[12];
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      int n = faces(domain, d, side, 1, NULL, 0);
      if (!in[d][side]) {
        in[d][side] = nas_allocate((size_t)n, sizeof(double));
        out[d][side] = nas_allocate((size_t)n, sizeof(double));
      }
      MPI_Irecv(in[d][side], n, MPI_DOUBLE, side ? domain->after[d] : domain->before[d], 2 * d + 1 - side, MPI_COMM_WORLD, &wait[2 * d + side]);
    }
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      int n = faces(domain, d, side, 0, out[d][side], 0);
      MPI_Isend(out[d][side], n, MPI_DOUBLE, side ? domain->after[d] : domain->before[d], 2 * d + side, MPI_COMM_WORLD, &wait[6 + 2 * d + side]);
    }
  MPI_Waitall(12, wait, MPI_STATUSES_IGNORE);
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) faces(domain, d, side, 1, in[d][side], 1);
}
