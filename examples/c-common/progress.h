/*
 * How far the program is, for people who watch it: a bar on the job page. Only Mayfly has this call; elsewhere nothing happens.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <mpi.h>

static inline void state_progress(double done, double total) {
#ifdef MAYFLY_MPI_H
  MPIX_Progress(done, total);
#else
  (void)done;
  (void)total;
#endif
}

#endif
