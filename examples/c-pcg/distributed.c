#include "distributed.h"

#include <stdlib.h>

enum { PATTERN = 1, HALO = 2 };
/* Behind an error nothing is sent or received: programs that survive errors look at d->error. */
#define TRY(call)                                                                                    \
  do {                                                                                               \
    if (d->error == MPI_SUCCESS) d->error = (call);                                                  \
  } while (0)

static int ascending(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

void distribute(Distributed *d, const Matrix *whole, MPI_Comm comm) {
  int rank, size;
  *d = (Distributed){.comm = comm};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
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
    TRY(MPI_Isend(needed + n->at - d->own, n->incoming, MPI_INT, n->rank, PATTERN, comm, &d->requests[k]));
  }
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    MPI_Status status;
    TRY(MPI_Probe(n->rank, PATTERN, comm, &status));
    TRY(MPI_Get_count(&status, MPI_INT, &n->outgoing));
    if (d->error != MPI_SUCCESS) break;
    n->give = allocate(n->outgoing, sizeof *n->give);
    n->packed = allocate(n->outgoing, sizeof *n->packed);
    TRY(MPI_Recv(n->give, n->outgoing, MPI_INT, n->rank, PATTERN, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < n->outgoing; i++) n->give[i] -= d->first;
  }
  TRY(MPI_Waitall(d->neighbours, d->requests, MPI_STATUSES_IGNORE));
  free(place);
  free(needed);
}

void multiply(Distributed *d, double *p, double *y) {
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    TRY(MPI_Irecv(p + n->at, n->incoming, MPI_DOUBLE, n->rank, HALO, d->comm, &d->requests[k]));
  }
  for (int k = 0; k < d->neighbours; k++) {
    Neighbour *n = &d->neighbour[k];
    for (int i = 0; i < n->outgoing; i++) n->packed[i] = p[n->give[i]];
    TRY(MPI_Isend(n->packed, n->outgoing, MPI_DOUBLE, n->rank, HALO, d->comm, &d->requests[d->neighbours + k]));
  }
  TRY(MPI_Waitall(2 * d->neighbours, d->requests, MPI_STATUSES_IGNORE));
  for (int r = 0; r < d->own; r++) {
    double sum = 0;
    for (int e = d->rows.start[r]; e < d->rows.start[r + 1]; e++) sum += d->rows.value[e] * p[d->rows.column[e]];
    y[r] = sum;
  }
}

double dot(Distributed *d, const double *a, const double *b) {
  enum { MOST = 4096 };
  double part = 0, parts[MOST], sum = 0;
  int size;
  MPI_Comm_size(d->comm, &size);
  if (size > MOST) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < d->own; i++) part += a[i] * b[i];
  TRY(MPI_Allgather(&part, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, d->comm));
  if (d->error != MPI_SUCCESS) return 1;
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
  *d = (Distributed){0};
}
