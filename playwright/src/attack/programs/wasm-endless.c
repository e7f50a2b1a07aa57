// Tries: to hold its slot for ever
// Stood for: a loop without a call
// Ends: cancelled
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  puts("begins");
  fflush(stdout);
  for (volatile int i = 0;; i++);
}
