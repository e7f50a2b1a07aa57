/* ranks: 3. "ABORT: like any other MPI implementation, FT-MPI can abort on an error." The job ends with the loss; nobody goes on. */
#include "ft.h"

int main(int argc, char **argv) {
  int one = 1, sum, rc = MPI_SUCCESS;
  begin(argc, argv);
  if (rank == 2) die();
  while (rc == MPI_SUCCESS) rc = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d went on with %d\n", rank, rc);
  MPI_Finalize();
  return 0;
}
