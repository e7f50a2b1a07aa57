/*
 * What tests of programs that lose processes have in common (ulfm/, ft-mpi/, ckpt/): each test prints "<rank> <name>: ok", or what failed first.
 *
 *   TEST(name, "sentence") { CHECK(expression); }      and in main: RUN(name);
 */
#ifndef LOSING_H
#define LOSING_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
/* How a process fails: exit (without MPI_Finalize), trap, node. */
static const char *how = "exit";
static char failed_[256];

#define TEST(name, sentence) static void name(void)
#define CHECK(x)                                                                                    \
  do {                                                                                              \
    if (!(x) && !failed_[0]) snprintf(failed_, sizeof failed_, "line %d: %s", __LINE__, #x);        \
  } while (0)
#define RUN(name)                                                                                   \
  do {                                                                                              \
    failed_[0] = 0;                                                                                 \
    name();                                                                                         \
    printf("%d %s: %s %s\n", rank, #name, failed_[0] ? "FAILED" : "ok", failed_);                   \
    fflush(stdout);                                                                                 \
  } while (0)

static inline int class_of(int code) {
  int c = -1;
  MPI_Error_class(code, &c);
  return c;
}
#define WORKS(call) CHECK((call) == MPI_SUCCESS)
#endif
