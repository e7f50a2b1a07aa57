/*
 * The library of the programs in this folder: a program is a list of small tests, each of which quotes the sentence of the standard that it checks. Every rank
 * prints one line per test, "<rank> <name>: ok", with what the test has to SAY behind it; the runners compare these lines with recorded ones.
 *
 *   TEST(name, ranks, "§chapter: sentence") { CHECK(expression); SAY("%d", value); }
 *
 * `ranks` is the least number of ranks; with fewer the test does not run. Arguments of the program name the tests to run (all without arguments; what has an
 * equals sign is not for the program).
 */
#ifndef CHECK_H
#define CHECK_H
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test { const char *name; int ranks; const char *sentence; void (*run)(void); };
static struct test tests_[256];
static int ntests_;
static char said_[4096], failed_[512];
/* Of MPI_COMM_WORLD; a tag, of which the next four are the test's own as well. */
static int rank, size, TAG;
/* The next and the last rank in a ring. */
static int right, left;
/* A duplicate of MPI_COMM_WORLD which is the test's own: ranks that are ahead disturb nobody. */
static MPI_Comm WORLD;
#define NOSTATUS MPI_STATUS_IGNORE
#define LENGTH(a) ((int)(sizeof(a) / sizeof(a)[0]))
#define MPI_AT_LEAST(v, s) (MPI_VERSION > (v) || (MPI_VERSION == (v) && MPI_SUBVERSION >= (s)))

#define TEST(n, least, text)                                                                                            \
  static void n(void);                                                                                                  \
  __attribute__((constructor)) static void add_##n(void) { tests_[ntests_++] = (struct test){#n, least, text, n}; }      \
  static void n(void)
#define CHECK(x)                                                                                                        \
  do {                                                                                                                  \
    if (!(x) && !failed_[0]) snprintf(failed_, sizeof failed_, "line %d: %s", __LINE__, #x);                            \
  } while (0)

__attribute__((format(printf, 1, 2))) static inline void SAY(const char *format, ...) {
  size_t n = strlen(said_);
  va_list args;
  va_start(args, format);
  said_[n] = ' ';
  vsnprintf(said_ + n + 1, sizeof said_ - n - 1, format, args);
  va_end(args);
}
/* The class of the error that a call answers. */
static inline int class_of(int code) {
  int c = -1;
  MPI_Error_class(code, &c);
  return c;
}
/* Errors come back from here on, or end the program again: those of the test's communicator, and those without one. */
static inline void errors_return(int yes) {
  MPI_Errhandler h = yes ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
  MPI_Comm_set_errhandler(WORLD, h);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
}
/* Numbers of which every rank has its own. */
static inline int value(int of, int i) { return 1000 * of + 7 * i + 3; }
static inline void fill(int *a, int n, int of) {
  for (int i = 0; i < n; i++) a[i] = value(of, i);
}
static inline int filled(const int *a, int n, int of) {
  for (int i = 0; i < n; i++)
    if (a[i] != value(of, i)) return 0;
  return 1;
}
static inline int all(const int *a, int n, int x) {
  for (int i = 0; i < n; i++)
    if (a[i] != x) return 0;
  return 1;
}
static inline int count_of(MPI_Status *s, MPI_Datatype t) {
  int n = -7;
  MPI_Get_count(s, t, &n);
  return n;
}

/* What a process does that was spawned: it prints nothing, its parents say for it what it found. */
static void (*as_child)(int argc, char **argv);
static char *program_;

#ifndef INIT
#define INIT MPI_Init(&argc, &argv)
#endif

int main(int argc, char **argv) {
  MPI_Comm parent;
  INIT;
  program_ = argv[0];
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL && as_child) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    as_child(argc, argv);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  for (int i = 0; i < ntests_; i++) {
    int wanted = 1;
    for (int a = 1; a < argc; a++) {
      if (strchr(argv[a], '=')) continue;
      wanted = 0;
      if (strcmp(argv[a], tests_[i].name) == 0) {
        wanted = 1;
        break;
      }
    }
    if (!wanted || tests_[i].ranks > size) continue;
    TAG = 10 * (i + 1);
    said_[0] = failed_[0] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &WORLD);
    tests_[i].run();
    MPI_Comm_free(&WORLD);
    if (failed_[0]) printf("%d %s: FAILED %s (%s)\n", rank, tests_[i].name, failed_, tests_[i].sentence);
    else printf("%d %s: ok%s\n", rank, tests_[i].name, said_);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
#endif
