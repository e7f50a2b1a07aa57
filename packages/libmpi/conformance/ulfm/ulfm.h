/*
 * The library of the programs in this folder: tests of programs that lose processes (docs/ulfm.md). They run under the protocol app, on nodes of one slot; the
 * survivors check. A process that is to fail calls die(), which ends it as the argument how= says: exit (without MPI_Finalize), trap (a wrong access), node (the last
 * rank calls MPI until its node is killed, at the call that the argument fault= says; the others exit).
 *
 *   TEST(name, "sentence of the proposal") { CHECK(expression); }
 */
#ifndef ULFM_H
#define ULFM_H
#include "losing.h"

#define FAILS(call) CHECK(class_of(call) == MPIX_ERR_PROC_FAILED)
#define REVOKED(call) CHECK(class_of(call) == MPIX_ERR_REVOKED)

static inline void die(void) {
  if (!strcmp(how, "trap")) __builtin_trap();
  for (int flag; !strcmp(how, "node") && rank == size - 1;) MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  exit(3);
}

/* A duplicate whose errors come back. */
static inline MPI_Comm again(MPI_Comm comm) {
  MPI_Comm c;
  MPI_Comm_dup(comm, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  return c;
}
/* Waits until this process has heard of so many failures. */
static inline void hear(MPI_Comm comm, int failures) {
  for (int n = 0; n < failures;) {
    MPI_Group g;
    MPIX_Comm_get_failed(comm, &g);
    MPI_Group_size(g, &n);
    if (g != MPI_GROUP_EMPTY) MPI_Group_free(&g);
  }
}
/* The group has one process, which has this rank in the communicator. */
static inline int is_rank(MPI_Group g, MPI_Comm comm, int of) {
  MPI_Group all;
  int n, zero = 0, r = -1;
  MPI_Comm_group(comm, &all);
  MPI_Group_size(g, &n);
  if (n == 1) MPI_Group_translate_ranks(g, 1, &zero, all, &r);
  MPI_Group_free(&all);
  return n == 1 && r == of;
}

static inline void begin(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; i++)
    if (!strncmp(argv[i], "how=", 4)) how = argv[i] + 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}
#endif
