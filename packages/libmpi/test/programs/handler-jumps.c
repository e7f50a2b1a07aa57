/* Error handlers that leave the call by longjmp: out of calls below three frames, again and again, past memory that the library has lent, and out of a handler of a handler's call. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf here;
static int rank, size, seen;

static int sum(int value) {
  int all = -1;
  MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
static void wrong(int n) {
  char room[64];
  memset(room, n, sizeof room);
  if (n > 0) wrong(n - 1);
  else MPI_Allreduce(&n, &n, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
  printf("never %d\n", room[3]);
}
static void handler(MPI_Comm *comm, int *code, ...) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  seen++;
  MPI_Error_string(*code, text, &length);
  if (seen == 2) MPI_Bcast(&length, 1, MPI_INT, 17, *comm); /* its handler jumps */
  longjmp(here, *code);
}

int main(int argc, char **argv) {
  MPI_Errhandler h;
  volatile int times = 0;
  int calls = argc > 1 ? atoi(argv[1]) : 20;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
  int code = setjmp(here);
  if (code) printf("class %d, sum %d\n", code, sum(rank + 1));
  times = times + 1;
  if (times < 4) wrong(3);
  /* What the handler was lent has come back: the heap does not grow by 16 bytes a call. */
  void *low = malloc(1 << 16);
  free(low);
  for (times = 0; setjmp(here), times < calls;) {
    times = times + 1;
    MPI_Send(&code, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  }
  void *high = malloc(1 << 16);
  printf("seen %d, heap %d\n", seen, (char *)high - (char *)low < 100000);
  printf("last %d\n", sum(1));
  MPI_Finalize();
  return 0;
}
