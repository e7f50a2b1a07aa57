/*
 * Block elimination along lines, forth and back. A line crosses the p cells of a direction, which belong to p ranks: what elimination leaves
 * at the end of a cell, a 5 × 5 block and five values, goes to the next, and on the way back five values. A stage works on all lines of a
 * cell and sends one message.
 *
 * On the border of the domain u does not change: its rows are the identity with a zero right-hand side, so lines begin and end inside.
 */
#include "sweep.h"
#include "../nas-common/nas.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = VALUES * VALUES, TAIL = VALUES * (VALUES + 1) };

/*
 * What one point contributes: to the row behind it as lower block, to its own as middle, to the row before it as upper. Blocks are stored by
 * rows. Entries which are always zero are set once, and left out of products: density feels one momentum only, a momentum across the
 * direction itself and the one along it.
 */
typedef struct {
  double lower[BLOCK], middle[BLOCK], upper[BLOCK];
} Blocks;

/* A row of a tail: five entries of the eliminated upper block, then the right-hand side. */
#define AT(r, k) ((r) * VALUES + (k))
#define INLINE __attribute__((always_inline)) static inline

INLINE void point_blocks(const Flow *flow, const Cell *c, size_t at, const int d, Blocks *restrict b) {
  const int n = 1 + d, s = 1 + (d + 1) % 3, t = 1 + (d + 2) % 3; /* momenta along, and across */
  const double *restrict u = c->u + at * VALUES;
  const double i1 = c->inverse[at], i2 = i1 * i1, i3 = i1 * i2, q = c->speed[at], square = c->square[at];
  const double t1 = flow->dt * flow->second, t2 = flow->dt * flow->first, spread = t1 * flow->artificial[d];
  const double con = 4.0 / 3 * C3C4, heat = C1C5 * C3C4;
  double f, v;
#define PUT(r, k, flux, viscosity) (f = t2 * (flux), v = t1 * (viscosity), b->lower[AT(r, k)] = -f - v, b->middle[AT(r, k)] = 2 * v, b->upper[AT(r, k)] = f - v)
  PUT(0, n, 1, 0);
  PUT(n, 0, C2 * q - u[n] * u[n] * i2, -con * i2 * u[n]);
  PUT(n, n, (2 - C2) * u[n] * i1, con * i1);
  PUT(n, s, -C2 * u[s] * i1, 0);
  PUT(n, t, -C2 * u[t] * i1, 0);
  PUT(n, 4, C2, 0);
  PUT(s, 0, -u[n] * u[s] * i2, -C3C4 * i2 * u[s]);
  PUT(s, n, u[s] * i1, 0);
  PUT(s, s, u[n] * i1, C3C4 * i1);
  PUT(t, 0, -u[n] * u[t] * i2, -C3C4 * i2 * u[t]);
  PUT(t, n, u[t] * i1, 0);
  PUT(t, t, u[n] * i1, C3C4 * i1);
  PUT(4, 0, (2 * C2 * square - C1 * u[4]) * u[n] * i2, -((con - heat) * u[n] * u[n] + (C3C4 - heat) * (u[s] * u[s] + u[t] * u[t])) * i3 - heat * i2 * u[4]);
  PUT(4, n, C1 * u[4] * i1 - C2 * (q + u[n] * u[n] * i2), (con - heat) * i2 * u[n]);
  PUT(4, s, -C2 * u[s] * u[n] * i2, (C3C4 - heat) * i2 * u[s]);
  PUT(4, t, -C2 * u[t] * u[n] * i2, (C3C4 - heat) * i2 * u[t]);
  PUT(4, 4, C1 * u[n] * i1, heat * i1);
  PUT(0, 0, 0, 0);
#undef PUT
  for (int m = 0; m < VALUES; m++) {
    b->lower[AT(m, m)] -= spread;
    b->middle[AT(m, m)] += 1 + 2 * spread;
    b->upper[AT(m, m)] -= spread;
  }
}

/* middle -= lower · (block of the tail before), value -= lower · (values of it) */
INLINE void subtract(const double *restrict lower, const double *restrict before, double *restrict middle, double *restrict value, const int d) {
  const int n = 1 + d, s = 1 + (d + 1) % 3, t = 1 + (d + 2) % 3;
#define TERM(r, k)                                                                                                                     \
  do {                                                                                                                                 \
    const double f = lower[AT(r, k)], *restrict row = before + (k) * (VALUES + 1);                                                     \
    for (int m = 0; m < VALUES; m++) middle[AT(r, m)] -= f * row[m];                                                                   \
    value[r] -= f * row[VALUES];                                                                                                       \
  } while (0)
  TERM(0, 0); TERM(0, n);
  TERM(n, 0); TERM(n, n); TERM(n, s); TERM(n, t); TERM(n, 4);
  TERM(s, 0); TERM(s, n); TERM(s, s);
  TERM(t, 0); TERM(t, n); TERM(t, t);
  TERM(4, 0); TERM(4, n); TERM(4, s); TERM(4, t); TERM(4, 4);
#undef TERM
}

/* tail = middle⁻¹ · tail, by elimination without pivoting: the blocks are dominated by their diagonals. middle is used up. */
INLINE void eliminate(double *restrict middle, double *restrict tail) {
  for (int p = 0; p < VALUES; p++) {
    const double inverse = 1 / middle[AT(p, p)];
    for (int m = p + 1; m < VALUES; m++) middle[AT(p, m)] *= inverse;
    for (int m = 0; m <= VALUES; m++) tail[p * (VALUES + 1) + m] *= inverse;
    for (int r = p + 1; r < VALUES; r++) {
      const double f = middle[AT(r, p)];
      for (int m = p + 1; m < VALUES; m++) middle[AT(r, m)] -= f * middle[AT(p, m)];
      for (int m = 0; m <= VALUES; m++) tail[r * (VALUES + 1) + m] -= f * tail[p * (VALUES + 1) + m];
    }
  }
  for (int p = VALUES - 1; p > 0; p--)
    for (int r = 0; r < p; r++) {
      const double f = middle[AT(r, p)];
      for (int m = 0; m <= VALUES; m++) tail[r * (VALUES + 1) + m] -= f * tail[p * (VALUES + 1) + m];
    }
}

/* Eliminates along one line from point `at` on. `entry` is the tail of the cell before, or NULL; `more` whether a cell follows. */
INLINE void forward_line(const Flow *flow, const Cell *c, size_t at, const int d, const double *entry, int more, Blocks ring[3], double *restrict tails) {
  const size_t step = c->stride[d];
  const int count = c->end[d] - c->begin[d];
  Blocks *last = &ring[0], *here = &ring[1], *next = &ring[2];
  if (entry) point_blocks(flow, c, at - step, d, last);
  point_blocks(flow, c, at, d, here);
  const double *before = entry;
  for (int i = 0; i < count; i++, at += step) {
    double middle[BLOCK], value[VALUES];
    double *restrict tail = tails + (size_t)i * TAIL;
    memcpy(middle, here->middle, sizeof middle);
    memcpy(value, c->rhs + at * VALUES, sizeof value);
    if (before) subtract(last->lower, before, middle, value, d);
    /* What stands behind the last point inside is 0, so its block does not matter. */
    const int needed = i + 1 < count || more;
    if (needed) point_blocks(flow, c, at + step, d, next);
    for (int r = 0; r < VALUES; r++) {
      for (int m = 0; m < VALUES; m++) tail[r * (VALUES + 1) + m] = needed ? next->upper[AT(r, m)] : 0;
      tail[r * (VALUES + 1) + VALUES] = value[r];
    }
    eliminate(middle, tail);
    before = tail;
    Blocks *spare = last;
    last = here;
    here = next;
    next = spare;
  }
}

/* The way back: each point's value, known the next one's. `at` is the first point of the line. */
INLINE void backward_line(const Cell *c, size_t at, const int d, const double *entry, const double *restrict tails) {
  const int count = c->end[d] - c->begin[d];
  const size_t step = c->stride[d];
  double next[VALUES] = {0};
  if (entry) memcpy(next, entry, sizeof next);
  at += step * (size_t)count;
  for (int i = count - 1; i >= 0; i--) {
    at -= step;
    const double *restrict tail = tails + (size_t)i * TAIL;
    double value[VALUES];
    for (int r = 0; r < VALUES; r++) {
      const double *restrict row = tail + r * (VALUES + 1);
      value[r] = row[VALUES] - row[0] * next[0] - row[1] * next[1] - row[2] * next[2] - row[3] * next[3] - row[4] * next[4];
    }
    memcpy(next, value, sizeof next);
    memcpy(c->rhs + at * VALUES, value, sizeof value);
  }
}

/* Lines of a cell: one for each pair of points in the other directions, the one with the smaller stride running fastest. */
static int lines(const Cell *c, int d) {
  int n = 1;
  for (int e = 0; e < 3; e++)
    if (e != d) n *= c->end[e] - c->begin[e];
  return n;
}

typedef struct {
  const double *in; /* of the cell before (forth) or behind (back), or NULL at the border */
  double *out;      /* for the next one, or NULL */
} Stage;

/* All lines of a cell: forth, or back, or both at once where a line lies in one cell. `tails` has room for one line then, else for all. */
INLINE void cell_sweep(const Flow *flow, const Cell *c, const int d, Stage stage, double *tails, int forth, int back) {
  const int inner = d == 0 ? 1 : 0, outer = d == 2 ? 1 : 2;
  const int count = c->end[d] - c->begin[d], both = forth && back;
  static Blocks ring[3]; /* the zeros of one direction are no zeros of another */
  memset(ring, 0, sizeof ring);
  int place[3], line = 0;
  place[d] = c->begin[d];
  for (place[outer] = c->begin[outer]; place[outer] < c->end[outer]; place[outer]++)
    for (place[inner] = c->begin[inner]; place[inner] < c->end[inner]; place[inner]++, line++) {
      const size_t at = cell_at(c, place[0], place[1], place[2]);
      double *mine = both ? tails : tails + (size_t)line * (size_t)count * TAIL;
      if (forth) {
        forward_line(flow, c, at, d, stage.in ? stage.in + (size_t)line * TAIL : NULL, stage.out != NULL, ring, mine);
        if (stage.out) memcpy(stage.out + (size_t)line * TAIL, mine + (size_t)(count - 1) * TAIL, TAIL * sizeof(double));
      }
      if (back) {
        backward_line(c, at, d, stage.in ? stage.in + (size_t)line * VALUES : NULL, mine);
        if (stage.out) memcpy(stage.out + (size_t)line * VALUES, c->rhs + at * VALUES, VALUES * sizeof(double));
      }
    }
}

static void cell_forth(const Flow *flow, const Cell *c, int d, Stage stage) {
  if (d == 0) cell_sweep(flow, c, 0, stage, c->tails, 1, 0);
  if (d == 1) cell_sweep(flow, c, 1, stage, c->tails, 1, 0);
  if (d == 2) cell_sweep(flow, c, 2, stage, c->tails, 1, 0);
}
static void cell_back(const Flow *flow, const Cell *c, int d, Stage stage) {
  if (d == 0) cell_sweep(flow, c, 0, stage, c->tails, 0, 1);
  if (d == 1) cell_sweep(flow, c, 1, stage, c->tails, 0, 1);
  if (d == 2) cell_sweep(flow, c, 2, stage, c->tails, 0, 1);
}
static void cell_both(const Flow *flow, const Cell *c, int d) {
  Stage alone = {NULL, NULL};
  if (d == 0) cell_sweep(flow, c, 0, alone, c->tails, 1, 1);
  if (d == 1) cell_sweep(flow, c, 1, alone, c->tails, 1, 1);
  if (d == 2) cell_sweep(flow, c, 2, alone, c->tails, 1, 1);
}

static Cell *in_slice(const Domain *domain, int d, int slice) {
  Cell *c = domain->cells;
  while (c->coord[d] != slice) c++;
  return c;
}

/* Room for what a cell's elimination leaves, and for messages of the largest number of lines. */
static double *in, *out;
static void prepare(const Domain *domain) {
  if (domain->cells[0].tails) return;
  size_t most = 0;
  for (int k = 0; k < domain->p; k++) {
    Cell *c = &domain->cells[k];
    size_t points = (size_t)c->size[0] * (size_t)c->size[1] * (size_t)c->size[2];
    c->tails = nas_allocate(domain->p == 1 ? (size_t)domain->n * TAIL : points * TAIL, sizeof(double));
    for (int d = 0; d < 3; d++)
      if ((size_t)lines(c, d) > most) most = (size_t)lines(c, d);
  }
  if (domain->p == 1) return;
  in = nas_allocate(most * TAIL, sizeof(double));
  out = nas_allocate(most * TAIL, sizeof(double));
}

void sweep(const Flow *flow, const Domain *domain, int d) {
  prepare(domain);
  int p = domain->p;
  if (p == 1) {
    cell_both(flow, domain->cells, d);
    return;
  }
  MPI_Request sent = MPI_REQUEST_NULL;
  for (int stage = 0; stage < 2 * p; stage++) {
    int forth = stage < p, slice = forth ? stage : 2 * p - 1 - stage;
    const Cell *c = in_slice(domain, d, slice);
    int count = lines(c, d) * (forth ? TAIL : VALUES), first = forth ? slice == 0 : slice == p - 1, last = forth ? slice == p - 1 : slice == 0;
    int from = forth ? domain->before[d] : domain->after[d], to = forth ? domain->after[d] : domain->before[d], tag = 10 + 2 * d + !forth;
    if (!first) MPI_Recv(in, count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    Stage borders = {first ? NULL : in, last ? NULL : out};
    if (forth) cell_forth(flow, c, d, borders);
    else cell_back(flow, c, d, borders);
    if (!last) MPI_Isend(out, count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &sent);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}
