/* For the programs of this folder: a failed check names itself; the last line of each rank says how many there were. */
#ifndef CHECK_H
#define CHECK_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int checks_, failures_, rank_, size_;
#define CHECK(x) do { checks_++; if (!(x)) { failures_++; printf("%d: line %d: %s\n", rank_, __LINE__, #x); } } while (0)
/* The class of the error that a call answers. */
static int class_of(int code) { int c = -1; MPI_Error_class(code, &c); return c; }
static void begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}
static int finish(void) {
  MPI_Finalize();
  if (failures_) printf("%d: %d of %d checks failed\n", rank_, failures_, checks_);
  else printf("%d: ok\n", rank_);
  return failures_ != 0;
}
#endif
