/*
 * The library of the programs in this folder: FT-MPI's communicator modes, each under both message modes (docs/ft-mpi.md). Sentences are those of Chen, Fagg et al. 2005,
 * section 2.2 (modes) and 4.2 (use), or begin with "ours". Arguments: messages=cont|reset; style=return|handler, how losses are handled; how=exit|trap|node, how processes fail
 * (node: the first one calls MPI until its node is killed, at the call that the argument fault= says; the others exit).
 *
 *   TEST(name, "sentence") { CHECK(expression); }
 */
#ifndef FT_H
#define FT_H
#include <setjmp.h>
#include "losing.h"

static int cont, by_handler, restarted, phase;

#define ANSWERS(class, call) CHECK(class_of(call) == (class))
#define OTHER(call) ANSWERS(MPI_ERR_OTHER, call)

static jmp_buf here;
static volatile int armed, heard;

static inline int recover(void) {
  MPI_Comm c = FT_MPI_CHECK_RECOVER;
  int rc = MPI_Comm_dup(MPI_COMM_WORLD, &c);
  CHECK(rc != MPI_SUCCESS || c == MPI_COMM_WORLD);
  return rc;
}
/* The sample program of the operation-level paper (Figure 1): recovers, then "longjmp(here, 1); escape from hell". */
static void handler(MPI_Comm *comm, int *code, ...) {
  if (!armed) return;
  armed = 0;
  heard = *code;
  WORKS(recover());
  longjmp(here, 1);
}

static inline void die(void) {
  if (!strcmp(how, "trap")) __builtin_trap();
  for (int flag; !strcmp(how, "node") && phase == 0;) MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  exit(3);
}

/* In the time between the news of the loss and the recovery; may be empty. */
static void (*while_broken)(void);

/* BEFORE: it fails before the others enter a collective; WITHIN: while they are inside; AFTER: behind one that has succeeded. */
enum { BEFORE, WITHIN, AFTER };
/* `victim` fails, and `second` (or -1) when it hears of that. The others recover. */
static inline void lose(int victim, int second, int when) {
  int one = 1, sum = 0, rc = MPI_SUCCESS;
  if (when == AFTER) {
    WORKS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    /* All have left it. */
    if (rank != victim) WORKS(MPI_Send(&one, 1, MPI_INT, victim, 20, MPI_COMM_WORLD));
    else for (int i = 1; i < sum; i++) WORKS(MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (rank == victim) {
    for (double end = MPI_Wtime() + (when == WITHIN ? 0.3 : 0); MPI_Wtime() < end;) continue;
    die();
  }
  heard = MPI_SUCCESS;
  if (by_handler && rank != second) {
    if (setjmp(here) == 0) {
      armed = 1;
      for (;;) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
  } else {
    while (rc == MPI_SUCCESS) rc = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    heard = rc;
    if (rank == second) die();
    if (while_broken) while_broken();
    WORKS(recover());
  }
  OTHER(heard);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int failed_procs(void) {
  int *n = 0, flag = 0;
  WORKS(MPI_Comm_get_attr(MPI_COMM_WORLD, FTMPI_NUM_FAILED_PROCS, &n, &flag));
  return flag ? *n : -1;
}
static inline int failed_text(const char *ranks) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int *code = 0, flag = 0, length;
  WORKS(MPI_Comm_get_attr(MPI_COMM_WORLD, FTMPI_ERROR_FAILURE, &code, &flag));
  if (flag) MPI_Error_string(*code, text, &length);
  return flag && strstr(text, ranks) != NULL;
}
static inline int sum_of(int value) {
  int sum = -1;
  WORKS(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  return sum;
}

/* ── the first loss: calls in between, messages under way, objects of before ── */

static MPI_Request late, dead;
static int late_value, dead_value, memory[4];
static MPI_Comm old;
static MPI_Win window;
static MPI_File file;

static inline void under_way(int victim) {
  int x = 41;
  MPI_Comm_dup(MPI_COMM_WORLD, &old);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_File_open(MPI_COMM_WORLD, "ft.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (rank == 1) {
    MPI_Irecv(&late_value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &late);
    MPI_Irecv(&dead_value, 1, MPI_INT, victim, 9, MPI_COMM_WORLD, &dead);
  }
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void refused(void) {
  int x = 0, y = 0, flag, n = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm c;
  MPI_Group g;
  MPI_Request r;
  OTHER(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  OTHER(MPI_Ssend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  OTHER(MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r));
  OTHER(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OTHER(MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r));
  OTHER(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  OTHER(MPI_Probe(0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  OTHER(MPI_Barrier(MPI_COMM_WORLD));
  OTHER(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
  OTHER(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  OTHER(MPI_Comm_dup(MPI_COMM_WORLD, &c));
  OTHER(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c));
  OTHER(MPI_Comm_group(MPI_COMM_WORLD, &g));
  OTHER(MPI_Win_fence(0, window));
  OTHER(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
  if (rank == 1) OTHER(MPI_Wait(&late, MPI_STATUS_IGNORE));
  WORKS(MPI_Comm_rank(MPI_COMM_WORLD, &x));
  WORKS(MPI_Comm_size(MPI_COMM_WORLD, &n));
  CHECK(x == rank && n == size && MPI_Wtime() > 0);
  WORKS(MPI_Error_string(MPI_ERR_OTHER, text, &n));
}

TEST(messages, "CONT: all operations which returned the error code MPI_SUCCESS will finish properly, even if a process failure occurs during the operation (unless the communication partner has failed). NOOP/RESET: all ongoing messages are dropped") {
  int x = 43, y = 42;
  if (rank == 0) {
    WORKS(MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
    WORKS(MPI_Send(&y, 1, MPI_INT, 1, 8, MPI_COMM_WORLD));
  } else if (rank == 1) {
    WORKS(MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(x == (cont ? 41 : 43));
    if (cont) {
      WORKS(MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(x == 43);
      WORKS(MPI_Wait(&late, MPI_STATUS_IGNORE));
      CHECK(late_value == 42);
    } else {
      OTHER(MPI_Wait(&late, MPI_STATUS_IGNORE));
      WORKS(MPI_Recv(&y, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(y == 42 && late_value == 0);
    }
    CHECK(late == MPI_REQUEST_NULL);
    OTHER(MPI_Wait(&dead, MPI_STATUS_IGNORE));
    CHECK(dead == MPI_REQUEST_NULL && dead_value == 0);
  }
}

TEST(objects, "ours: the communicator-mode says what becomes of MPI_COMM_WORLD; other communicators, windows and files of before are invalid, new ones can be made") {
  int n = 0;
  MPI_Offset length;
  MPI_Comm c;
  ANSWERS(MPI_ERR_COMM, MPI_Barrier(old));
  ANSWERS(MPI_ERR_COMM, MPI_Comm_size(old, &n));
  ANSWERS(MPI_ERR_WIN, MPI_Win_fence(0, window));
  ANSWERS(MPI_ERR_FILE, MPI_File_get_size(file, &length));
  WORKS(MPI_Comm_dup(MPI_COMM_WORLD, &c));
  WORKS(MPI_Barrier(c));
  WORKS(MPI_Comm_free(&c));
}

static inline int begin(int argc, char **argv) {
  MPI_Errhandler h;
  int rc = MPI_Init(&argc, &argv);
  restarted = rc == MPI_INIT_RESTARTED_NODE;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "how=", 4)) how = argv[i] + 4;
    if (!strcmp(argv[i], "messages=cont")) cont = 1;
    if (!strcmp(argv[i], "style=handler")) by_handler = 1;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, by_handler ? h : MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  return rc;
}
#endif
