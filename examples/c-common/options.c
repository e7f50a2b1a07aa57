#include "options.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *option_text(int argc, char **argv, const char *name, const char *otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0) return argv[i + 1];
  return otherwise;
}

int64_t option_number(int argc, char **argv, const char *name, int64_t otherwise, int64_t least, int64_t most) {
  const char *text = option_text(argc, argv, name, NULL);
  if (!text) return otherwise;
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= (double)least && value <= (double)most))
    refuse("--%s takes a number from %lld to %lld, not '%s'", name, (long long)least, (long long)most, text);
  return (int64_t)value;
}

void refuse(const char *format, ...) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
  }
  /* All ranks come here alike: nobody is left behind who would have to be aborted. */
  MPI_Finalize();
  exit(2);
}
