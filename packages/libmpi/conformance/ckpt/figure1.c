/*
 * ranks: 4. The sample program of the paper (Figure 1), under FT-MPI's REBUILD: an error handler recovers and jumps; then old and new processes roll back. Processes are lost
 * at the steps that arguments name (lose=step:rank), by exit or a trap (how=). The answer is that of an undisturbed run.
 */
#include "ft.h"

enum { STEPS = 10, CELLS = 500 };
static long data_needs_ckpt[CELLS];
static double data_could_comp;
static int step, before_loss, after_recovery;

static void error_handler(MPI_Comm *pcomm, int *prc, ...) {
  MPI_Comm c = FT_MPI_CHECK_RECOVER;
  (void)prc;
  if (MPI_Comm_dup(*pcomm, &c) != MPI_SUCCESS) exit(9);
  longjmp(here, 1); /* escape from hell */
}

/* One step of all cells: what the left neighbour's last one was goes into the first. */
static void compute(long *c, long left) {
  for (int i = 0; i < CELLS; i++) {
    long x = c[i];
    c[i] = (c[i] * 31 + left + i) & 0xffffff;
    left = x;
  }
}
static long start(int r, int i) { return r * 1000L + i; }

int main(int argc, char **argv) {
  MPI_Errhandler handler;
  MPI_Ckpt_options options = {0};
  restarted = MPI_Init(&argc, &argv) == MPI_INIT_RESTARTED_NODE;
  for (int i = 1; i < argc; i++)
    if (!strncmp(argv[i], "how=", 4)) how = argv[i] + 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Ckpt_open(&options);
  MPI_Comm_create_errhandler(error_handler, &handler);
  after_recovery = restarted;
  if (setjmp(here)) after_recovery = 1; /* after recovery, longjmp here */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (after_recovery) {
    before_loss = step;
    WORKS(MPI_Rollback(data_needs_ckpt, CELLS, MPI_LONG, 1));
    WORKS(MPI_Rollback(&step, 1, MPI_INT, 2));
    /* The lost one may have left before its last checkpoint was whole, and this one may have begun the next. */
    CHECK(step > 0 && step >= before_loss - 2);
  } else {
    for (int i = 0; i < CELLS; i++) data_needs_ckpt[i] = start(rank, i);
    WORKS(MPI_Ckpt(data_needs_ckpt, CELLS, MPI_LONG, 1));
    WORKS(MPI_Ckpt(&step, 1, MPI_INT, 2));
  }
  while (step < STEPS) {
    long left = 0;
    for (int i = 1; i < argc; i++) {
      int s, r;
      if (!restarted && sscanf(argv[i], "lose=%d:%d", &s, &r) == 2 && s == step && r == rank) die();
    }
    MPI_Sendrecv(&data_needs_ckpt[CELLS - 1], 1, MPI_LONG, (rank + 1) % size, 0, &left, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(data_needs_ckpt, left);
    data_could_comp = data_needs_ckpt[0] / 2.0;
    step++;
    MPI_Ckpt_here(); /* Sync point */
    /* if necessary, change the ctrl options */
    if (step == 3) MPI_Ckpt_ctrl(&options);
  }
  /* The checkpoint of the last step is whole for all. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ckpt_close();
  static long all[4][CELLS], was[4];
  for (int r = 0; r < size; r++)
    for (int i = 0; i < CELLS; i++) all[r][i] = start(r, i);
  for (int s = 0; s < STEPS; s++) {
    for (int r = 0; r < size; r++) was[r] = all[r][CELLS - 1];
    for (int r = 0; r < size; r++) compute(all[r], was[(r + size - 1) % size]);
  }
  CHECK(!memcmp(data_needs_ckpt, all[rank], sizeof all[rank]) && data_could_comp == data_needs_ckpt[0] / 2.0);
  printf("%d figure1: %s %s\n", rank, failed_[0] ? "FAILED" : "ok", failed_);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
