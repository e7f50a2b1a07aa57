/* ranks: 6. "SHRINK: failed processes are not replaced, however the new communicator after the crash has no 'holes' in its list of processes." */
#include "ft.h"

static int born;

/* Who is there, by the ranks of the beginning, ascending. */
static void left_are(int n, const int *expected) {
  int all[6] = {0};
  CHECK(size == n);
  WORKS(MPI_Allgather(&born, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < n; i++) CHECK(all[i] == expected[i]);
  CHECK(sum_of(1) == n && all[rank] == born);
}

TEST(fails_before, "Thus, processes might have a new rank after recovery and the size of MPI_COMM_WORLD will change") {
  static const int left[] = {0, 1, 3, 4, 5};
  under_way(2);
  while_broken = refused;
  lose(2, -1, BEFORE);
  while_broken = NULL;
  CHECK(failed_procs() == 1 && failed_text(" 2"));
  left_are(5, left);
}
TEST(fails_within, "has no 'holes' in its list of processes") {
  static const int left[] = {0, 1, 4, 5};
  lose(2, -1, WITHIN);
  left_are(4, left);
}
TEST(fails_after, "failed processes are not replaced") {
  static const int left[] = {0, 4, 5};
  lose(1, -1, AFTER);
  CHECK(failed_procs() == 1 && failed_text(" 1"));
  left_are(3, left);
}
TEST(two_at_once, "FT-MPI can survive the failure of n-1 processes in a n-process job") {
  static const int left[] = {0};
  lose(1, 2, WITHIN);
  CHECK(failed_procs() == 2 && failed_text(" 1 2"));
  left_are(1, left);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  born = rank;
  RUN(fails_before);
  RUN(messages);
  RUN(objects);
  phase = 1;
  RUN(fails_within);
  RUN(fails_after);
  RUN(two_at_once);
  MPI_Finalize();
  return 0;
}
