/*
 * Conjugate gradients that survive the loss of ranks without a disk: the program of Chen and others (PPoPP 2005, section 4) under FT-MPI's mode REBUILD. The first ranks
 * compute; the last `--checksums` ranks hold checksums of the iterates. Every K iterations all take a checkpoint in memory. After a loss all jump to one place, recover
 * MPI_COMM_WORLD, make the lost states again from the checksums, and go on from the last checkpoint.
 *
 *   --poisson 48           k: the 5-point Laplacian on k × k points; 0: a file
 *   --matrix 1138_bus.mtx
 *   --digits 8             the residual shrinks by so many powers of ten
 *   --checksums 1          ranks that hold checksums
 *   --code gf              or real (codes.h)
 *   --every 20             iterations from one checkpoint to the next
 *   --errors return        or handler: how the program hears of a loss
 *   --kill 1@50,3@70       these ranks leave like ones that crash, when they reach these iterations for the first time
 */
#include <math.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"
#include "../c-pcg/distributed.h"
#include "codes.h"

/* Another MPI has no ranks that come back; the program is an ordinary one there. */
#ifdef FT_MPI_CHECK_RECOVER
#define RESTARTED(code) ((code) == MPI_INIT_RESTARTED_NODE)
#else
#define RESTARTED(code) ((code) > 0)
#endif

#ifdef FT_MPI_CHECK_RECOVER
static jmp_buf env;
#endif
static int rank, size, n, checksums, every, by_handler, limit = 100000;
static Code code;
static const char *kills;
static double tolerance;

static Matrix whole;
static Distributed d;
static MPI_Comm work = MPI_COMM_NULL;

/*
 * What a checkpoint has: the iteration and the rank's parts of x, r and p. (The paper also saves rz; a sum that all have alike is computed again.) Two of them, so that a loss during one leaves the other whole (the paper: "to survive a failure
 * occurred during checkpoint or recovery, the storage overhead would double"). At the last ranks: checksums of them.
 */
static double *saved[2], *sum;
static int length;
/* Number of the last round that all have; −1: none. `fresh`: it has begun anew, and its state is not made again yet. */
static int committed = -1, fresh, restarted;

static double *x, *r, *p, *q, *z, *scale, *b;
static int iteration;
static double rz, norm;

/* "rc = MPI_Send(…); if (rc == MPI_ERR_OTHER) { state = RECOVER; longjmp(env, state); }" */
static void check(int rc) {
  if (rc == MPI_SUCCESS) return;
#ifdef FT_MPI_CHECK_RECOVER
  int class;
  MPI_Error_class(rc, &class);
  if (class == MPI_ERR_OTHER) longjmp(env, 1);
#endif
  MPI_Abort(MPI_COMM_WORLD, 3);
}
static void handler(MPI_Comm *comm, int *rc, ...) {
  (void)comm;
  check(*rc);
}

static void die_at(int now) {
  for (const char *at = kills; !restarted && at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
    int who, when;
    if (sscanf(at, "%d@%d", &who, &when) == 2 && who == rank && now >= when) exit(1);
  }
}

/* ── checkpoints ── */

/* All checksums of round `k` are made, then everybody knows that they are. */
static void encode(int k) {
  for (int i = 0; i < checksums; i++) {
    memset(sum, 0, (size_t)length * sizeof *sum);
    if (rank < n) code_add(code, i, rank, n, checksums, 0, saved[k & 1], sum, length);
    check(MPI_Reduce(sum, saved[k & 1], length * code_per(code), code_type(code), code_op(code), n + i, MPI_COMM_WORLD));
  }
  check(MPI_Barrier(MPI_COMM_WORLD));
  committed = k;
  fresh = 0;
}
static void save(int k) {
  double *s = saved[k & 1];
  s[0] = iteration;
  memcpy(s + 1, x, (size_t)d.own * sizeof *x);
  memcpy(s + 1 + d.own, r, (size_t)d.own * sizeof *r);
  memcpy(s + 1 + 2 * d.own, p, (size_t)d.own * sizeof *p);
}
/* Sums of doubles bring the number back with an error. */
static int iteration_of(int k) { return (int)lround(saved[k & 1][0]); }

/* Lost states of round k from the others and as many checksums; then all checksums anew, so that the next loss finds them whole. */
static void decode(int k, const int *lost) {
  int rows[64] = {0}, columns[64] = {0}, many = 0, have = 0, mine = -1;
  for (int j = 0; j < n; j++)
    if (lost[j]) {
      if (j == rank) mine = many;
      columns[many++] = j;
    }
  for (int i = 0; i < checksums && have < many; i++)
    if (!lost[n + i]) rows[have++] = i;
  double weights[64 * 64], *into = saved[k & 1];
  if (have < many || !code_invert(code, many, rows, columns, n, checksums, weights)) {
    if (rank == 0) {
      printf("FAIL: %d states are lost, and %d checksums are left\n", many, have);
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check(MPI_Barrier(MPI_COMM_WORLD)); /* The abort of another rank could come before that line. */
  }
  double *term = allocate(length, sizeof *term);
  if (mine >= 0) memset(into, 0, (size_t)length * sizeof *into);
  for (int e = 0; e < many; e++) {
    memset(sum, 0, (size_t)length * sizeof *sum);
    if (rank == n + rows[e]) memcpy(sum, into, (size_t)length * sizeof *sum);
    else if (rank < n && !lost[rank]) code_add(code, rows[e], rank, n, checksums, 1, into, sum, length);
    check(MPI_Allreduce(sum, term, length * code_per(code), code_type(code), code_op(code), MPI_COMM_WORLD));
    if (mine >= 0) code_scale(code, weights[mine * many + e], term, into, length);
  }
  free(term);
  if (rank == 0 && many > 0) fprintf(stderr, "%d of %d states made again from checksums, back to iteration %d\n", many, n, iteration_of(k));
  encode(k);
}

/* ── the beginning, and the recovery ── */

static double inverse_diagonal(const Matrix *m, int row) {
  for (int e = m->start[row]; e < m->start[row + 1]; e++)
    if (m->column[e] == row && m->value[e] != 0) return 1 / m->value[e];
  return 1;
}

/* The matrix does not change: it is read again, not saved. */
static void prepare(void) {
  int most, own;
  check(MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &work));
  if (rank < n) {
    distributed_free(&d);
    distribute(&d, &whole, work);
    check(d.error);
  }
  own = 1 + 3 * d.own;
  check(MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (x) return;
  length = most;
  saved[0] = allocate(length, sizeof(double)), saved[1] = allocate(length, sizeof(double)), sum = allocate(length, sizeof(double));
  x = allocate(d.own, sizeof *x), r = allocate(d.own, sizeof *r), q = allocate(d.own, sizeof *q), z = allocate(d.own, sizeof *z);
  scale = allocate(d.own, sizeof *scale), b = allocate(d.own, sizeof *b), p = allocate(d.own + d.halo, sizeof *p);
  for (int i = 0; i < d.own; i++) {
    scale[i] = inverse_diagonal(&d.rows, i);
    b[i] = 1;
  }
}

static double dot_(const double *a, const double *c) {
  const double value = dot(&d, a, c);
  check(d.error);
  return value;
}

static void restore(int k) {
  const double *s = saved[k & 1];
  iteration = iteration_of(k);
  memcpy(x, s + 1, (size_t)d.own * sizeof *x);
  memcpy(r, s + 1 + d.own, (size_t)d.own * sizeof *r);
  memcpy(p, s + 1 + 2 * d.own, (size_t)d.own * sizeof *p);
  for (int i = 0; i < d.own; i++) z[i] = scale[i] * r[i];
  rz = dot_(r, z);
}

static void begin_or_go_on(void) {
  int lost[64], newest;
  prepare();
  check(MPI_Allgather(&fresh, 1, MPI_INT, lost, 1, MPI_INT, MPI_COMM_WORLD));
  check(MPI_Allreduce(&committed, &newest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (newest >= 0) decode(newest, lost);
  if (rank >= n) return;
  norm = sqrt(dot_(b, b));
  if (newest >= 0) return restore(newest);
  for (int i = 0; i < d.own; i++) {
    x[i] = 0;
    r[i] = b[i];
    p[i] = z[i] = scale[i] * r[i];
  }
  iteration = 0;
  rz = dot_(r, z);
}

/* ── the method ── */

static void step(void) {
  multiply(&d, p, q);
  check(d.error);
  const double alpha = rz / dot_(p, q);
  for (int i = 0; i < d.own; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    z[i] = scale[i] * r[i];
  }
  const double next = dot_(r, z), beta = next / rz;
  rz = next;
  for (int i = 0; i < d.own; i++) p[i] = z[i] + beta * p[i];
  iteration++;
}

/* Rank 0 tells those that hold checksums what comes next. */
enum { CHECKPOINT, DONE };
static int next_is(int what) {
  check(MPI_Bcast(&what, 1, MPI_INT, 0, MPI_COMM_WORLD));
  return what;
}
static void compute(void) {
  while (iteration < limit && sqrt(dot_(r, r)) > tolerance * norm) {
    /* After a recovery the checkpoint of this iteration is there. */
    const int there = committed >= 0 && iteration == iteration_of(committed);
    if (iteration % every == 0 && !there) {
      next_is(CHECKPOINT);
      save(committed + 1);
      encode(committed + 1);
    }
    die_at(iteration);
    step();
    if (rank == 0) state_progress(iteration, 4.0 * iteration);
  }
  next_is(DONE);
}
static void hold(void) {
  while (next_is(CHECKPOINT) == CHECKPOINT) {
    die_at((committed + 1) * every);
    encode(committed + 1);
  }
}

/* The bits of x in the order of the unknowns: the hash goes from rank to rank. */
static uint64_t hash_of(void) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  if (rank > 0) check(MPI_Recv(&hash, 1, MPI_UINT64_T, rank - 1, 3, work, MPI_STATUS_IGNORE));
  const unsigned char *bytes = (const unsigned char *)x;
  for (size_t i = 0; i < (size_t)d.own * sizeof *x; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  if (rank + 1 < n) check(MPI_Send(&hash, 1, MPI_UINT64_T, rank + 1, 3, work));
  check(MPI_Bcast(&hash, 1, MPI_UINT64_T, n - 1, work));
  return hash;
}

int main(int argc, char **argv) {
  fresh = restarted = RESTARTED(MPI_Init(&argc, &argv));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *path = option_text(argc, argv, "matrix", "1138_bus.mtx");
  const int poisson = (int)option_number(argc, argv, "poisson", 48, 0, 5000);
  const int digits = (int)option_number(argc, argv, "digits", 8, 1, 14);
  checksums = (int)option_number(argc, argv, "checksums", 1, 0, 8);
  every = (int)option_number(argc, argv, "every", 20, 1, 1000000);
  code = strcmp(option_text(argc, argv, "code", "gf"), "real") ? CODE_GF : CODE_REAL;
  by_handler = !strcmp(option_text(argc, argv, "errors", "return"), "handler");
  kills = option_text(argc, argv, "kill", "");
  n = size - checksums;
  if (n < 1 || size > 64) refuse("%d ranks with %d checksums: at least one rank computes, and there are 64 at most", size, checksums);
  tolerance = 1;
  for (int k = 0; k < digits; k++) tolerance /= 10;
  if (poisson > 0) matrix_poisson(&whole, poisson);
  else {
    const char *wrong = matrix_read(&whole, path);
    if (wrong) refuse("%s: %s", path, wrong);
  }
  if (rank == 0 && !fresh) printf("%s: %d unknowns on %d ranks, %d checksums\n", poisson > 0 ? "Laplacian" : path, whole.n, n, checksums);

  MPI_Errhandler h;
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, by_handler ? h : MPI_ERRORS_RETURN);
#ifdef FT_MPI_CHECK_RECOVER
  if (setjmp(env)) {
    MPI_Comm newcomm = FT_MPI_CHECK_RECOVER;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &newcomm));
  }
#endif
  begin_or_go_on();
  if (rank < n) compute();
  else hold();

  double residual = 0;
  uint64_t hash = 0;
  if (rank < n) {
    memcpy(p, x, (size_t)d.own * sizeof *p);
    multiply(&d, p, q);
    check(d.error);
    for (int i = 0; i < d.own; i++) z[i] = b[i] - q[i];
    residual = sqrt(dot_(z, z)) / norm;
    hash = hash_of();
  }
  /* Nobody leaves before all are done: until then a lost state needs the others. */
  check(MPI_Barrier(MPI_COMM_WORLD));
  const int failed = !(residual <= 10 * tolerance);
  if (rank == 0) {
    printf("%d iterations, residual %.2e, bits of the solution %016llx\n", iteration, residual, (unsigned long long)hash);
    printf("%s: %s to 1e-%d\n", failed ? "FAIL" : "PASS", failed ? "not solved" : "solved", digits);
  }
  MPI_Finalize();
  return failed;
}
