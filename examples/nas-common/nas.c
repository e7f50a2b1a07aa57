/* Start, report and end of a NAS kernel. See nas.h. */
#include "nas.h"
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nas_rank, nas_size;
static double started;

int nas_start(int *argc, char ***argv, const char *kernel) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &nas_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &nas_size);
  const char *name = *argc > 1 ? (*argv)[1] : "S";
  const char *at = name[0] && !name[1] ? strchr("SWA", name[0]) : NULL;
  if (!at) nas_refuse("class %s is not known: S, W or A", name);
  nas_say("NAS %s, class %c, %d rank%s", kernel, *at, nas_size, nas_size == 1 ? "" : "s");
  return (int)(at - "SWA");
}

void nas_refuse(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  if (nas_rank == 0) {
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
  }
  va_end(rest);
  MPI_Finalize();
  exit(2);
}

void nas_say(const char *format, ...) {
  if (nas_rank != 0) return;
  va_list rest;
  va_start(rest, format);
  vprintf(format, rest);
  va_end(rest);
  putchar('\n');
  fflush(stdout);
}

void nas_clock(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  started = MPI_Wtime();
}

bool nas_check(const char *name, double computed, double reference, double epsilon) {
  double error = fabs((computed - reference) / reference);
  bool good = error <= epsilon; /* not for NaN */
  /* 11 digits: what the order of a reduction may change lies behind them. */
  nas_say("  %-10s %18.10e   reference %18.10e   %s", name, computed, reference, good ? "ok" : "WRONG");
  return good;
}

int nas_finish(bool verified, double operations) {
  double seconds = MPI_Wtime() - started, longest = 0;
  int good = verified;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  nas_say("Verification %s", good ? "SUCCESSFUL" : "FAILED");
  if (nas_rank == 0) fprintf(stderr, "%.3f s, %.1f Mop/s\n", longest, longest > 0 ? operations / longest * 1e-6 : 0);
  MPI_Finalize();
  return good ? 0 : 1;
}

void *nas_allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) {
    fprintf(stderr, "rank %d: no memory for %zu times %zu bytes\n", nas_rank, count, size);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
  }
  return memory;
}
