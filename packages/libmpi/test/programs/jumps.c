/* setjmp and longjmp across MPI calls: out of a nested call, again to the same place, out of a signal handler, and past a function that has one of its own. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf top, low;
static sigjmp_buf on_signal;
static int rank, size;

static int exchange(int value) {
  int got;
  MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got;
}
static void deep(int n) {
  char room[64];
  memset(room, n, sizeof room);
  if (n == 0) longjmp(top, exchange(40) + 2);
  deep(n - 1);
  printf("never %d\n", room[3]);
}
static void passes(void) {
  if (setjmp(low) == 0) {
    exchange(1);
    deep(3);
  }
  puts("never");
}
static void handler(int n) { siglongjmp(on_signal, n); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  volatile int times = 0;
  int value = setjmp(top);
  times = times + exchange(1);
  printf("value %d times %d\n", value, times);
  if (times < 3) passes();
  if (setjmp(low) == 0) longjmp(low, 0);
  else printf("zero is one %d\n", exchange(3));
  signal(SIGFPE, handler);
  int n = sigsetjmp(on_signal, 1);
  if (n == 0) raise(SIGFPE);
  printf("signal %d\n", n == SIGFPE);
  MPI_Finalize();
  return 0;
}
