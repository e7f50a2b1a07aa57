#include "distributed.h"

#include <stdlib.h>

enum { PATTERN = 1, HALO = 2 };

static int ascending(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

void distribute(Distributed *d, const Matrix *whole) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  d->first = matrix_cut(whole, rank, size);
  d->own = matrix_cut(whole, rank + 1, size) - d->first;
  const int from = whole->start[d->first], entries = whole->start[d->first + d->own] - from;

  /* Which unknowns of others do my rows refer to? */
  int *place = allocate(whole->n, sizeof *place), *needed = allocate(entries, sizeof *needed);
  d->halo = 0;
  for (int e = from; e < from + entries; e++) {
    const int c = whole->column[e];
    if (c >= d->first && c < d->first + d->own) place[c] = c - d->first;
    else if (place[c] == 0) {
      place[c] = -1;
      needed[d->halo++] = c;
    }
  }
  qsort(needed, (size_t)d->halo, sizeof *needed, ascending);
  for (int k = 0; k < d->halo; k++) place[needed[k]] = d->own + k;

  d->rows.n = d->own;
  d->rows.start = allocate(d->own + 1, sizeof *d->rows.start);
  d->rows.column = allocate(entries, sizeof *d->rows.column);
  d->rows.value = allocate(entries, sizeof *d->rows.value);
  for (int r = 0; r <= d->own; r++) d->rows.start[r] = whole->start[d->first + r] - from;
  for (int e = 0; e < entries; e++) {
    d->rows.column[e] = place[whole->column[from + e]];
    d->rows.value[e] = whole->value[from + e];
  }

  /* The matrix is symmetric: whom I need, needs me. Each tells the other which unknowns. */
  d->neighbours = 0;
  d->neighbour = allocate(size, sizeof *d->neighbour);
  for (int r = 0, at = 0; r < size; r++) {
    const int end = matrix_cut(whole, r + 1, size), begin = at;
    while (at < d->halo && needed[at] < end) at++;
    if (at > begin) d->neighbour[d->neighbours++] = (Neighbour){.rank = r, .incoming = at - begin, .at = d->own + begin};
  }
  d->requests = allocate(2 * (int64_t)d->neighbours, sizeof *d->requests);
  for (int k = 0; k < d->neighbours; k++) {
    const Neighbour *n = &d->neighbour[k];
    MPI_Isend(needed + n->at - d->own, n->incoming, MPI_INT, n->rank, PATTERN, MPI_COMM_WORLD, &d->requests[k]);
  }
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    MPI_Status status;
    MPI_Probe(n->rank, PATTERN, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &n->outgoing);
    n->give = allocate(n->outgoing, sizeof *n->give);
    n->packed = allocate(n->outgoing, sizeof *n->packed);
    MPI_Recv(n->give, n->outgoing, MPI_INT, n->rank, PATTERN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n->outgoing; i++) n->give[i] -= d->first;
  }
  MPI_Waitall(d->neighbours, d->requests, MPI_STATUSES_IGNORE);
  free(place);
  free(needed);
}

void multiply(Distributed *d, double *p, double *y) {
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    MPI_Irecv(p + n->at, n->incoming, MPI_DOUBLE, n->rank, HALO, MPI_COMM_WORLD, &d->requests[k]);
  }
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    for (int i = 0; i < n->outgoing; i++) n->packed[i] = p[n->give[i]];
    MPI_Isend(n->packed, n->outgoing, MPI_DOUBLE, n->rank, HALO, MPI_COMM_WORLD, &d->requests[d->neighbours + k]);
  }
  MPI_Waitall(2 * d->neighbours, d->requests, MPI_STATUSES_IGNORE);
  for (int r = 0; r < d->own; r++) {
    double sum = 0;
    for (int e = d->rows.start[r]; e < d->rows.start[r + 1]; e++) sum += d->rows.value[e] * p[d->rows.column[e]];
    y[r] = sum;
  }
}

double dot(const Distributed *d, const double *a, const double *b) {
  enum { MOST = 4096 };
  double part = 0, parts[MOST], sum = 0;
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < d->own; i++) part += a[i] * b[i];
  MPI_Allgather(&part, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < size; r++) sum += parts[r];
  return sum;
}

void distributed_free(Distributed *d) {
  matrix_free(&d->rows);
  for (int k = 0; k < d->neighbours; k++) {
    free(d->neighbour[k].give);
    free(d->neighbour[k].packed);
  }
  free(d->neighbour);
  free(d->requests);
}
