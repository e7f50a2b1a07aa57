/*
 * Fibonacci's numbers by the recursion that defines them: tiny functions, all of whose time is calls. Any of them might reach an MPI call (it never does),
 * so each can be unwound. `apart N`: the lowest twelve levels are a function of their own, which no MPI call can be reached from.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWEST = 12 };

__attribute__((noinline)) static long plain(int n) { return n < 2 ? n : plain(n - 1) + plain(n - 2); }

__attribute__((noinline)) static long reaching(int n) {
  if (n < 0) MPI_Barrier(MPI_COMM_WORLD);
  return n < 2 ? n : reaching(n - 1) + reaching(n - 2);
}

__attribute__((noinline)) static long apart(int n) {
  if (n < 0) MPI_Barrier(MPI_COMM_WORLD);
  return n <= LOWEST ? plain(n) : apart(n - 1) + apart(n - 2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 2 ? atoi(argv[2]) : 30;
  long (*const f)(int) = argc > 1 && strcmp(argv[1], "apart") == 0 ? apart : reaching;
  const double begin = MPI_Wtime();
  long sum = 0;
  /* Several calls, between which better code can be exchanged for the first. */
  for (int i = 0; i < 8; i++) {
    sum += f(n);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  fprintf(stderr, "%.3f s, fib(%d) = %ld\n", MPI_Wtime() - begin, n, sum / 8);
  long a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    const long next = a + b;
    a = b;
    b = next;
  }
  printf("Verification %s\n", sum == 8 * a ? "SUCCESSFUL" : "FAILED");
  MPI_Finalize();
  return sum == 8 * a ? 0 : 1;
}
