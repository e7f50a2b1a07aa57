/*
 * The sample program of the operation-level paper (Figure 1) with a clock in it, under FT-MPI's modes rebuild and reset: what a checkpoint of so many bytes costs, and what comes after a loss.
 * Arguments: bytes=, algorithm=, nof=, ratio=, memory= (options of MPI_Ckpt_open), rounds=, losses= (one after the other), at-once= (neighbours that are lost together).
 * Each process prints lines of name=value; times in seconds.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 5, COPIES = 50, TRIES = 3 };
static MPI_Ckpt_options options;
static int rank, size, restarted, n, bytes = 400, rounds = 10, losses, at_once = 1, after_recovery;
static int *data;
static double recovery;
static jmp_buf here;

static void wrong(const char *what) {
  printf("wrong=%s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void error_handler(MPI_Comm *comm, int *code, ...) {
  MPI_Comm c = FT_MPI_CHECK_RECOVER;
  double began = MPI_Wtime();
  int class;
  MPI_Error_class(*code, &class);
  if (class != MPI_ERR_OTHER) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(*code, text, &length);
    wrong(text);
  }
  if (MPI_Comm_dup(*comm, &c) != MPI_SUCCESS) exit(9);
  recovery = MPI_Wtime() - began;
  longjmp(here, 1);
}

/* Data of a process before loss k + 1. The first cell says k. */
static int cell(int i, int k) { return i == 0 ? k : i * 31 + rank * 1009 + k * 7; }
static void fill(int k) {
  for (int i = 0; i < n; i++) data[i] = cell(i, k);
}
static void check(int k) {
  for (int i = 0; i < n; i++)
    if (data[i] != cell(i, k)) wrong("data after a rollback");
}
static double rolled_back(void) {
  double began = MPI_Wtime();
  MPI_Rollback(data, n, MPI_INT, 1);
  return MPI_Wtime() - began;
}

/* The program goes on for a while; whoever waits in a call takes copies in. */
static void compute(double seconds) {
  double end = MPI_Wtime() + seconds;
  int go;
  do {
    go = MPI_Wtime() < end;
    MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  } while (go);
}

static void checkpoints(void) {
  double began, whole, stands = 0;
  for (int i = 0; i < WARM; i++) MPI_Ckpt_here();
  /* A checkpoint waits until the one before is whole. */
  began = MPI_Wtime();
  for (int i = 0; i < rounds; i++) MPI_Ckpt_here();
  whole = (MPI_Wtime() - began) / rounds;
  for (int i = 0; i < rounds; i++) {
    compute(2 * whole + 0.005);
    began = MPI_Wtime();
    MPI_Ckpt_here();
    stands += MPI_Wtime() - began;
  }
  printf("rank=%d stands=%.9f whole=%.9f\n", rank, stands / rounds, whole);
  fflush(stdout);
}

static void option(const char *arg, const char *name, int *value) {
  size_t length = strlen(name);
  if (!strncmp(arg, name, length) && arg[length] == '=') *value = atoi(arg + length + 1);
}

int main(int argc, char **argv) {
  MPI_Errhandler handler;
  double opening;
  restarted = MPI_Init(&argc, &argv) == MPI_INIT_RESTARTED_NODE;
  for (int i = 1; i < argc; i++) {
    option(argv[i], "bytes", &bytes);
    option(argv[i], "algorithm", &options.algorithm);
    option(argv[i], "nof", &options.nof);
    option(argv[i], "ratio", &options.ratio);
    option(argv[i], "memory", &options.memory);
    option(argv[i], "rounds", &rounds);
    option(argv[i], "losses", &losses);
    option(argv[i], "at-once", &at_once);
  }
  n = bytes / sizeof(int);
  data = calloc(n, sizeof(int));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(error_handler, &handler);
  opening = MPI_Wtime();
  MPI_Ckpt_open(&options);
  opening = MPI_Wtime() - opening;
  after_recovery = restarted;
  if (setjmp(here)) after_recovery = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (after_recovery) {
    /* Where old processes go back together in their first MPI_Rollback, new ones are in MPI_Ckpt_open. */
    double all = (restarted && recovery == 0 ? opening : 0) + rolled_back();
    double copy = 0;
    /* The clock's ticks are coarse. */
    for (int i = 0; i < COPIES; i++) copy += rolled_back() / COPIES;
    check(data[0]);
    printf("rank=%d loss=%d new=%d recovery=%.9f rollback=%.9f copy=%.9f\n", rank, data[0], restarted && recovery == 0, recovery, all, copy);
    fflush(stdout);
  } else {
    fill(0);
    MPI_Ckpt(data, n, MPI_INT, 1);
    checkpoints();
  }
  while (data[0] < losses) {
    int one = 1, sum, next = data[0] + 1, more = options.ratio > 0 ? options.ratio : 1;
    /* One of so many is on the disk. MPI_Rollback waits until it is whole; one that did not fit into the memory does not count. */
    for (int tries = 0; more > 0; more -= data[0] == next) {
      if (data[0] != next && ++tries > TRIES) wrong("no checkpoint became whole");
      fill(next);
      MPI_Ckpt_here();
      rolled_back();
    }
    for (int i = 0; i < at_once; i++)
      if (rank == (data[0] + i) % size) exit(3);
    for (;;) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Ckpt_close();
  printf("rank=%d ended=%d\n", rank, data[0]);
  MPI_Finalize();
  return 0;
}
