// Tries: wild addresses, counts and handles in calls of MPI
// Stood for: the binding reads arguments from the memory of the program
// Ends: done, failed PROGRAM_TRAP, failed MPI_ERROR
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  unsigned bad[] = {0xffffffff, 0xfffffff0, 0x80000000, 0x7fffffff, 1};
  int accepted = 0, x = 0;
  for (int i = 0; i < 5; i++) for (int k = 0; k < 5; k++) {
    void *p = (void *)(uintptr_t)bad[i];
    int n = (int)bad[k];
    accepted += n > 100 && MPI_Send(p, n, MPI_DOUBLE, MPI_PROC_NULL - 50, 0, MPI_COMM_SELF) == MPI_SUCCESS;
    MPI_Send(&x, 1, (MPI_Datatype)(uintptr_t)bad[k], 0, 0, MPI_COMM_SELF);
    MPI_Send(&x, 1, MPI_INT, 0, 0, (MPI_Comm)(uintptr_t)bad[k]);
    MPI_Type_contiguous(n, MPI_DOUBLE, (MPI_Datatype *)&x);
    MPI_Comm_free((MPI_Comm *)&n);
    MPI_Group_free((MPI_Group *)&n);
    MPI_Request r = (MPI_Request)(uintptr_t)bad[i];
    MPI_Cancel(&r);
    MPI_Op o = (MPI_Op)(uintptr_t)bad[i];
    MPI_Op_free(&o);
  }
  printf("end %d\n", accepted);
  fflush(stdout);
  MPI_Allreduce((void *)0xfffffff0u, (void *)0x80000000u, 0x7fffffff, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  MPI_Finalize();
  return 0;
}
