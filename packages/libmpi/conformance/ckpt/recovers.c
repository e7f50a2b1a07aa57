/*
 * ranks: 5. The pattern of Figure 1, recover and continue: processes are lost at the steps that arguments name (lose=step:rank:recoveries) or with their node, the
 * others start new ones in their place, all roll back, and the answer is that of an undisturbed run. nof=, ratio=, algorithm=, group= are the options; least=: nobody goes back behind that step; expect=lost: more nodes
 * are lost than copies are for, and MPI_Ckpt_ctrl says so at all processes.
 */
#include "ulfm.h"

enum { STEPS = 12, CELLS = 1000, MOST = 8 };
static MPI_Comm comm;
static int step, recoveries, reborn, registered, expect_lost, least;
static long cells[CELLS];
static struct { int step, rank, recoveries; } victims[MOST];
static int nvictims;
static MPI_Ckpt_options options;
static char **arguments;

static int option(const char *arg, const char *name) {
  size_t n = strlen(name);
  return !strncmp(arg, name, n) && arg[n] == '=' ? atoi(arg + n + 1) : 0;
}

/* One step of all cells: what the left neighbour's last one was goes into the first. */
static void compute(long *c, long left) {
  long before = left;
  for (int i = 0; i < CELLS; i++) {
    long x = c[i];
    c[i] = (c[i] * 31 + before + i) & 0xffffff;
    before = x;
  }
}
static long start(int r, int i) { return r * 1000L + i; }

static int work(void) {
  int me, n;
  long left = -1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  for (int i = 0; i < nvictims; i++)
    if (!reborn && victims[i].step == step && victims[i].rank == me && victims[i].recoveries == recoveries) die();
  int rc = MPI_Sendrecv(&cells[CELLS - 1], 1, MPI_LONG, (me + 1) % n, 0, &left, 1, MPI_LONG, (me + n - 1) % n, 0, comm, MPI_STATUS_IGNORE);
  if (rc == MPI_SUCCESS) compute(cells, left);
  return rc;
}

/* Survivors and new processes, each in the rank of the one that it replaces (FT-MPI's REBUILD, with the calls of ULFM). */
static int rebuild(void) {
  MPI_Comm alive, between = MPI_COMM_NULL, all = MPI_COMM_NULL, whole = MPI_COMM_NULL;
  MPI_Group old, left, lost;
  int n, k, me, ranks[64], head[66], ok;
  MPIX_Comm_revoke(comm);
  if (MPIX_Comm_shrink(comm, &alive)) return 0;
  MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
  MPI_Comm_group(comm, &old);
  MPI_Comm_group(alive, &left);
  MPI_Group_difference(old, left, &lost);
  MPI_Group_size(lost, &k);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < k; i++) ranks[i] = i;
  MPI_Group_translate_ranks(lost, k, ranks, old, head + 2);
  head[0] = k, head[1] = recoveries + 1;
  ok = k > 0 && MPI_Comm_spawn(arguments[0], arguments + 1, k, MPI_INFO_NULL, 0, alive, &between, MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
  if (ok) {
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    ok = MPI_Intercomm_merge(between, 0, &all) == MPI_SUCCESS;
  }
  if (ok) {
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    ok = MPI_Bcast(head, 66, MPI_INT, 0, all) == MPI_SUCCESS && MPI_Comm_split(all, 0, me, &whole) == MPI_SUCCESS;
  }
  MPI_Comm_size(comm, &n);
  MPIX_Comm_agree(alive, &ok);
  if (!ok) {
    if (whole != MPI_COMM_NULL) MPIX_Comm_revoke(whole);
    if (all != MPI_COMM_NULL) MPIX_Comm_revoke(all);
    if (between != MPI_COMM_NULL) MPIX_Comm_revoke(between);
    return 0;
  }
  comm = whole, recoveries++;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return 1;
}

static int join(MPI_Comm parent) {
  MPI_Comm all;
  int head[66], me;
  reborn = 1;
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  if (MPI_Intercomm_merge(parent, 1, &all)) return 0;
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  if (MPI_Bcast(head, 66, MPI_INT, 0, all)) return 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  recoveries = head[1];
  if (MPI_Comm_split(all, 0, head[2 + me], &comm)) return 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return 1;
}

static void from_the_start(void) {
  int me;
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < CELLS; i++) cells[i] = start(me, i);
  step = 0;
}
static int registers(void) {
  WORKS(MPI_Ckpt(cells, CELLS, MPI_LONG, 1));
  WORKS(MPI_Ckpt(&step, 1, MPI_INT, 2));
  return registered = 1, MPI_SUCCESS;
}
/* Where no checkpoint was whole, all begin again. A new process registers its data then. */
static int roll_back(void) {
  int rc = MPI_Rollback(&step, 1, MPI_INT, 2);
  CHECK(rc != MPI_SUCCESS || step >= least);
  if (class_of(rc) == MPI_ERR_CHECKPOINT) {
    CHECK(least == 0);
    from_the_start();
    return registered ? MPI_SUCCESS : registers();
  }
  registered |= rc == MPI_SUCCESS;
  return rc ? rc : MPI_Rollback(cells, CELLS, MPI_LONG, 1);
}

static int loss(int rc) { return class_of(rc) == MPIX_ERR_PROC_FAILED || class_of(rc) == MPIX_ERR_REVOKED; }

static void finish(const char *what) {
  int me;
  MPI_Comm_rank(comm, &me);
  printf("%d %s: %s %s\n", me, what, failed_[0] ? "FAILED" : "ok", failed_);
  fflush(stdout);
  MPI_Finalize();
  exit(0);
}

int main(int argc, char **argv) {
  MPI_Comm parent;
  int rc, me, n, attempts = 0;
  begin(argc, argv);
  arguments = argv;
  for (int i = 1; i < argc; i++) {
    if (option(argv[i], "nof")) options.nof = option(argv[i], "nof");
    if (option(argv[i], "ratio")) options.ratio = option(argv[i], "ratio");
    if (option(argv[i], "group")) options.flags = MPI_CKPT_GROUP(option(argv[i], "group"));
    if (option(argv[i], "algorithm")) options.algorithm = option(argv[i], "algorithm");
    if (option(argv[i], "least")) least = option(argv[i], "least");
    if (!strcmp(argv[i], "expect=lost")) expect_lost = 1;
    if (nvictims < MOST && sscanf(argv[i], "lose=%d:%d:%d", &victims[nvictims].step, &victims[nvictims].rank, &victims[nvictims].recoveries) == 3) nvictims++;
  }
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) comm = MPI_COMM_WORLD;
  else if (!join(parent)) exit(1);
  MPI_Comm_rank(comm, &me);
  options.comm = comm;
  rc = MPI_Ckpt_open(&options);
  if (parent == MPI_COMM_NULL) {
    int rebuilt = 0;
    for (; loss(rc) && !failed_[0]; rc = rebuilt ? MPI_Ckpt_open(&options) : rc) {
      CHECK(++attempts < 20);
      if (!rebuild()) continue;
      options.comm = comm, rebuilt = 1;
    }
    WORKS(rc);
    if (rebuilt) rc = roll_back();
    else registers(), from_the_start();
  } else {
    if (expect_lost && class_of(rc) == MPI_ERR_CHECKPOINT) finish("recovers");
    if (!rc) rc = roll_back();
    if (rc) {
      CHECK(loss(rc));
      exit(1);
    }
  }
  while (step < STEPS && !failed_[0]) {
    if (rc == MPI_SUCCESS) rc = work();
    if (rc == MPI_SUCCESS) {
      step++;
      rc = MPI_Ckpt_here();
    }
    /* "recover-and-continue: … we just re-spawn the failed processes" */
    while (rc != MPI_SUCCESS && !failed_[0]) {
      CHECK(loss(rc));
      if (!rebuild()) {
        CHECK(++attempts < 20);
        continue;
      }
      options.comm = comm;
      rc = MPI_Ckpt_ctrl(&options);
      if (expect_lost && class_of(rc) == MPI_ERR_CHECKPOINT) finish("recovers");
      if (!rc) rc = roll_back();
    }
  }
  /* Nobody leaves as long as another may need it. */
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  CHECK(!expect_lost);
  static long all[8][CELLS], was[8];
  for (int r = 0; r < n; r++)
    for (int i = 0; i < CELLS; i++) all[r][i] = start(r, i);
  for (int s = 0; s < STEPS; s++) {
    for (int r = 0; r < n; r++) was[r] = all[r][CELLS - 1];
    for (int r = 0; r < n; r++) compute(all[r], was[(r + n - 1) % n]);
  }
  CHECK(!memcmp(cells, all[me], sizeof cells));
  finish("recovers");
}
