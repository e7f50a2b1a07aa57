/*
 * The rows of a matrix that belong to this rank, and the exchange of the unknowns that they need from others.
 *
 * A local vector holds the rank's own unknowns first, then those of others that its rows refer to (the halo), in the order of
 * their numbers, so that each neighbour's lie together.
 */
#ifndef DISTRIBUTED_H
#define DISTRIBUTED_H

#include <mpi.h>

#include "matrix.h"

typedef struct {
  int rank; /* the neighbour */
  int outgoing, *give; /* places of my unknowns that it needs */
  double *packed;
  int incoming, at; /* the part of my halo that it fills */
} Neighbour;

typedef struct {
  MPI_Comm comm;
  int error;      /* the first code of a call that was not MPI_SUCCESS; nothing is right from then on */
  Matrix rows;    /* columns are places in the local vector */
  int first, own; /* my unknowns: numbers first … first + own − 1 */
  int halo;
  int neighbours;
  Neighbour *neighbour;
  MPI_Request *requests;
} Distributed;

/* Every rank of the communicator holds the whole matrix, and keeps its share. Collective. */
void distribute(Distributed *d, const Matrix *whole, MPI_Comm comm);
/* y = A p. Fills the halo of p. Collective. */
void multiply(Distributed *d, double *p, double *y);
/* a · b over all ranks, added up in the order of the ranks: so it has the same bits under every MPI. Collective. */
double dot(Distributed *d, const double *a, const double *b);
void distributed_free(Distributed *d);

#endif
