// Tries: function pointers that point nowhere, to functions of another kind, and back into MPI
// Stood for: the host calls through the table of the program
// Ends: failed PROGRAM_TRAP, failed MPI_ERROR, failed ABORTED, done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
static void reenter(void *a, void *b, int *n, MPI_Datatype *t) { int x = 1, y; MPI_Barrier(MPI_COMM_WORLD); MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); exit(3); }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int x = 1, y = 2;
  MPI_Op op;
  MPI_Op_create(reenter, 1, &op);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  void *wild[] = {(void *)0, (void *)1, (void *)main, (void *)puts, (void *)0xffffff, (void *)0xffffffffu};
  MPI_Op_create((MPI_User_function *)wild[argc % 6 == 0 ? 0 : 5], 1, &op);
  MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
  puts("went on");
  MPI_Finalize();
  return 0;
}
