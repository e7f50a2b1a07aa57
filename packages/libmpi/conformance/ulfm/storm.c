/*
 * ranks: 5. Processes may fail at any call: the survivors repeat the step that failed on a smaller communicator until all steps are done. They all have the same
 * sum then, of steps in which each member took part.
 */
#include "ulfm.h"

enum { STEPS = 30 };

/* Collectives and messages around a ring; answers what went wrong. */
static int step(MPI_Comm comm, int it, long *sum) {
  int me, n, one = 1, count = 0, x, y = -1, rc;
  long mine, all = 0;
  MPI_Request r;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  if ((rc = MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, comm))) return rc;
  CHECK(count == n);
  x = me;
  rc = MPI_Sendrecv(&x, 1, MPI_INT, (me + 1) % n, it, &y, 1, MPI_INT, (me + n - 1) % n, it, comm, MPI_STATUS_IGNORE);
  if (rc) return rc;
  CHECK(y == (me + n - 1) % n);
  MPI_Ibarrier(comm, &r);
  if ((rc = MPI_Wait(&r, MPI_STATUS_IGNORE))) return rc;
  mine = it;
  if ((rc = MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_MAX, 0, comm))) return rc;
  if ((rc = MPI_Bcast(&all, 1, MPI_LONG, 0, comm))) return rc;
  CHECK(all == it);
  *sum = all;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  MPI_Comm comm = again(MPI_COMM_WORLD);
  long total = 0;
  for (int it = 0; it < STEPS;) {
    long sum = 0;
    int rc = step(comm, it, &sum);
    int flag = rc == MPI_SUCCESS;
    /* Those that still wait for this process hear of it. */
    if (!flag) {
      CHECK(class_of(rc) == MPIX_ERR_PROC_FAILED || class_of(rc) == MPIX_ERR_REVOKED);
      MPIX_Comm_revoke(comm);
    }
    int agreed = MPIX_Comm_agree(comm, &flag);
    CHECK(agreed == MPI_SUCCESS || class_of(agreed) == MPIX_ERR_PROC_FAILED);
    if (flag) total += sum, it++;
    if (flag && agreed == MPI_SUCCESS) continue;
    MPI_Comm next;
    int rc2 = MPIX_Comm_shrink(comm, &next);
    CHECK(rc2 == MPI_SUCCESS);
    MPI_Comm_free(&comm);
    comm = next;
  }
  CHECK(total == (long)STEPS * (STEPS - 1) / 2);
  /* Everybody who is left has it. */
  int same = !failed_[0];
  MPIX_Comm_agree(comm, &same);
  CHECK(same);
  printf("%d storm: %s %s\n", rank, failed_[0] ? "FAILED" : "ok", failed_);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
