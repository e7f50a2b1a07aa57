// Tries: to use up the stack of the host by calling itself and MPI
// Stood for: a stack overflow in the middle of an import
// Ends: failed PROGRAM_TRAP
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
static int deep(int n) { volatile int here[4] = {n}; int flag; MPI_Initialized(&flag); return deep(n + flag) + here[0]; }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  return deep(argc);
}
