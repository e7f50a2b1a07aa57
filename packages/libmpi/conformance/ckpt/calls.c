/* ranks: 4. One test for each call of operation-level checkpoints (Tang, Fagg, Dongarra, §3.1) and for each bad input, without a loss. */
#include "ulfm.h"
#include <stddef.h>

enum { CELLS = 300000 };
typedef struct { int id; double x[2]; } Particle;
static MPI_Comm comm;
static double grid[CELLS];
static int step;

#define IS(call, c) CHECK(class_of(call) == (c))

static MPI_Ckpt_options with(int nof, int ratio) {
  MPI_Ckpt_options o = {0};
  o.nof = nof, o.ratio = ratio, o.comm = comm;
  return o;
}

TEST(open, "should be called after MPI_Init()") {
  MPI_Ckpt_options o = with(0, 0);
  IS(MPI_Ckpt(&step, 1, MPI_INT, 1), MPI_ERR_CHECKPOINT);
  IS(MPI_Ckpt_here(), MPI_ERR_CHECKPOINT);
  IS(MPI_Rollback(&step, 1, MPI_INT, 1), MPI_ERR_CHECKPOINT);
  IS(MPI_Remove_ckpt(1), MPI_ERR_CHECKPOINT);
  IS(MPI_Ckpt_ctrl(&o), MPI_ERR_CHECKPOINT);
  IS(MPI_Ckpt_close(), MPI_ERR_CHECKPOINT);
  WORKS(MPI_Ckpt_open(&o));
  IS(MPI_Ckpt_open(&o), MPI_ERR_CHECKPOINT);
}

TEST(no_round, "rollback … from the latest complete checkpoint copy: there is none") {
  WORKS(MPI_Ckpt(&step, 1, MPI_INT, 1));
  IS(MPI_Rollback(&step, 1, MPI_INT, 1), MPI_ERR_CHECKPOINT);
}

TEST(types, "the checkpoint and rollback library should support any MPI data types") {
  static Particle p[50];
  MPI_Datatype column, particle, types[] = {MPI_INT, MPI_DOUBLE};
  int lengths[] = {1, 2};
  MPI_Aint at[] = {offsetof(Particle, id), offsetof(Particle, x)};
  MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &column);
  MPI_Type_create_struct(2, lengths, at, types, &particle);
  MPI_Type_commit(&column);
  IS(MPI_Ckpt(p, 50, particle, 3), MPI_ERR_TYPE);
  MPI_Type_commit(&particle);
  WORKS(MPI_Ckpt(grid + 3, 1, column, 2));
  WORKS(MPI_Ckpt(p, 50, particle, 3));
  WORKS(MPI_Ckpt(NULL, 0, MPI_INT, 4));
  MPI_Type_free(&column);
  MPI_Type_free(&particle);
  for (int i = 0; i < 50; i++) p[i] = (Particle){i, {rank, -i}};
  for (int i = 0; i < 40; i++) grid[i] = 100 * rank + i;
  step = 17;
  WORKS(MPI_Ckpt_here());
  step = 0, p[49].x[1] = grid[13] = grid[14] = 5;
  /* "he has the freedom to rollback those data in random order" */
  MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  WORKS(MPI_Rollback(grid + 3, 1, column, 2));
  CHECK(grid[13] == 100 * rank + 13 && grid[14] == 5);
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 17);
  WORKS(MPI_Rollback(NULL, 0, MPI_INT, 4));
  MPI_Type_free(&column);
  WORKS(MPI_Remove_ckpt(2));
  WORKS(MPI_Remove_ckpt(3));
  WORKS(MPI_Remove_ckpt(4));
}

TEST(tags, "int tag: a tag twice, none, a negative one") {
  IS(MPI_Ckpt(&step, 1, MPI_INT, 1), MPI_ERR_TAG);
  IS(MPI_Ckpt(&step, 1, MPI_INT, -1), MPI_ERR_TAG);
  IS(MPI_Remove_ckpt(77), MPI_ERR_TAG);
  IS(MPI_Rollback(&step, 1, MPI_INT, 77), MPI_ERR_TAG);
  IS(MPI_Rollback(&step, 1, MPI_SHORT, 1), MPI_ERR_COUNT);
  IS(MPI_Ckpt(&step, -1, MPI_INT, 5), MPI_ERR_COUNT);
}

TEST(many, "rounds: the newest whole one counts, and later calls of the same name do not disturb it") {
  for (step = 0; step < 20; step++) {
    int sum, one = 1;
    WORKS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    WORKS(MPI_Ckpt_here());
  }
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 19);
}

TEST(removed, "to prevent them from future checkpointing") {
  int x = 4;
  WORKS(MPI_Ckpt(&x, 1, MPI_INT, 9));
  WORKS(MPI_Ckpt_here());
  WORKS(MPI_Remove_ckpt(9));
  x = 0;
  WORKS(MPI_Rollback(&x, 1, MPI_INT, 9));
  CHECK(x == 4);
  WORKS(MPI_Remove_ckpt(9));
  WORKS(MPI_Ckpt_here());
  IS(MPI_Rollback(&x, 1, MPI_INT, 9), MPI_ERR_TAG);
}

TEST(ctrl, "to change the global checkpoint and rollback options; m ≤ n − 1, in nodes") {
  MPI_Ckpt_options o = with(size, 0);
  IS(MPI_Ckpt_ctrl(&o), MPI_ERR_ARG);
  o.nof = rank == 1 ? 2 : 1;
  IS(MPI_Ckpt_ctrl(&o), MPI_ERR_ARG);
  o.nof = 3;
  WORKS(MPI_Ckpt_ctrl(&o));
  step = 50 + rank;
  WORKS(MPI_Ckpt_here());
  step = 0;
  o.nof = 1;
  WORKS(MPI_Ckpt_ctrl(&o));
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 50 + rank);
}

TEST(some, "some processes roll back, others do not: an error for all of them") {
  int rc = MPI_Ckpt_here();
  WORKS(rc);
  rc = rank == 0 ? MPI_Rollback(&step, 1, MPI_INT, 1) : MPI_Ckpt_here();
  if (rank == 0) IS(rc, MPI_ERR_CHECKPOINT);
  else {
    WORKS(rc);
    IS(MPI_Ckpt_here(), MPI_ERR_CHECKPOINT);
  }
  step = 60;
  WORKS(MPI_Ckpt_here());
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 60);
}

TEST(crossing, "a message that crosses MPI_Ckpt_here would be lost, or come twice") {
  MPI_Ckpt_options o = with(1, 0);
  int x = 3;
  WORKS(MPI_Ckpt_ctrl(&o));
  if (rank == 1) WORKS(MPI_Send(&x, 1, MPI_INT, 2, 0, comm));
  WORKS(MPI_Ckpt_here());
  if (rank == 2) WORKS(MPI_Recv(&x, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE));
  IS(MPI_Ckpt_here(), MPIX_ERR_CKPT_CROSSING);
  WORKS(MPI_Ckpt_here());
  WORKS(MPI_Ckpt_here());
  /* It is the program's choice. */
  o.flags = MPI_CKPT_NO_CHECK;
  WORKS(MPI_Ckpt_ctrl(&o));
  if (rank == 1) WORKS(MPI_Send(&x, 1, MPI_INT, 2, 0, comm));
  WORKS(MPI_Ckpt_here());
  if (rank == 2) WORKS(MPI_Recv(&x, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE));
  WORKS(MPI_Ckpt_here());
}

TEST(memory, "is there enough memory to tolerate nof number of simultaneous failures: else stable disk") {
  MPI_Ckpt_options o = with(1, 0);
  o.memory = 2;
  WORKS(MPI_Ckpt_ctrl(&o));
  WORKS(MPI_Ckpt(grid, CELLS, MPI_DOUBLE, 8));
  for (int i = 0; i < 3; i++) {
    grid[CELLS - 1] = i;
    WORKS(MPI_Ckpt_here());
  }
  grid[CELLS - 1] = 9;
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  CHECK(grid[CELLS - 1] == 2);
}

TEST(memory_and_rollback, "ours: a rollback behind a checkpoint that did not fit: the next one goes to the disk all the same") {
  MPI_Ckpt_options o = with(1, 0);
  o.memory = 2;
  WORKS(MPI_Ckpt_ctrl(&o));
  grid[CELLS - 1] = 7;
  WORKS(MPI_Ckpt_here());
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  CHECK(grid[CELLS - 1] == 2);
  grid[CELLS - 1] = 8;
  WORKS(MPI_Ckpt_here());
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  CHECK(grid[CELLS - 1] == 8);
}

TEST(disk, "MPI_CKPT_STABLE_DISK; two copies on disk, of different time steps") {
  MPI_Ckpt_options o = with(0, 0);
  o.algorithm = MPI_CKPT_STABLE_DISK;
  WORKS(MPI_Ckpt_ctrl(&o));
  for (int i = 0; i < 3; i++) {
    grid[7] = i;
    WORKS(MPI_Ckpt_here());
  }
  grid[7] = 9;
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  CHECK(grid[7] == 2);
}

/* One data set and a checkpoint under a code; the data come back in every bit, since nothing is lost. */
static void goes_back(int algorithm, int nof, int group) {
  MPI_Ckpt_options o = with(nof, 0);
  o.algorithm = algorithm, o.flags = group ? MPI_CKPT_GROUP(group) : 0;
  WORKS(MPI_Ckpt_ctrl(&o));
  grid[7] = step = 100 * algorithm + nof;
  WORKS(MPI_Ckpt_here());
  grid[7] = step = 0;
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(grid[7] == 100 * algorithm + nof && step == 100 * algorithm + nof);
}
static void refuses(int algorithm, int nof, int group) {
  MPI_Ckpt_options o = with(nof, 0);
  o.algorithm = algorithm, o.flags = group ? MPI_CKPT_GROUP(group) : 0;
  IS(MPI_Ckpt_ctrl(&o), MPI_ERR_ARG);
}

TEST(pair, "neighbor-based: pair neighbor; one copy") {
  goes_back(MPI_CKPT_PAIR, 0, 0);
  refuses(MPI_CKPT_PAIR, 2, 0);
  refuses(MPI_CKPT_PAIR, 1, 2);
}

TEST(checksum, "checksum-based, and one-dimensional; a group needs two members, and a node more for each checksum") {
  goes_back(MPI_CKPT_CHECKSUM, 1, 0);
  goes_back(MPI_CKPT_CHECKSUM, 0, 2);
  refuses(MPI_CKPT_CHECKSUM, 2, 0);
  refuses(MPI_CKPT_CHECKSUM, 1, 1);
  refuses(MPI_CKPT_CHECKSUM, 1, size);
}

TEST(weighted, "weighted checksums, and one-dimensional: of n nodes fewer than n may hold checksums") {
  goes_back(MPI_CKPT_WEIGHTED, 3, 0);
  goes_back(MPI_CKPT_WEIGHTED, 2, 2);
  refuses(MPI_CKPT_WEIGHTED, size, 0);
  refuses(MPI_CKPT_WEIGHTED, 3, 2);
  refuses(MPI_CKPT_WEIGHTED_REAL + 1, 0, 0);
}

TEST(weighted_real, "floating-point arithmetic: of numbers, and of finite ones") {
  typedef struct { double x; int i; } Mixed;
  static Mixed mixed[3];
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, m, three;
  int lengths[] = {1, 1};
  MPI_Aint at[] = {offsetof(Mixed, x), offsetof(Mixed, i)};
  double zero = 0;
  goes_back(MPI_CKPT_WEIGHTED_REAL, 2, 0);
  goes_back(MPI_CKPT_WEIGHTED_REAL, 1, 3);
  MPI_Type_create_struct(2, lengths, at, types, &m);
  MPI_Type_vector(3, 1, 2, MPI_FLOAT, &three);
  MPI_Type_commit(&m);
  MPI_Type_commit(&three);
  IS(MPI_Ckpt(mixed, 3, m, 20), MPI_ERR_TYPE);
  IS(MPI_Ckpt(mixed, 1, MPI_C_DOUBLE_COMPLEX, 20), MPI_ERR_TYPE);
  WORKS(MPI_Ckpt(mixed, 1, three, 20));
  WORKS(MPI_Remove_ckpt(20));
  MPI_Type_free(&m);
  MPI_Type_free(&three);
  /* A number that is not one, at one process: the checkpoint counts at none. */
  step = 5, grid[0] = 1;
  WORKS(MPI_Ckpt_here());
  step = 6;
  if (rank == 2) grid[0] = zero / zero;
  WORKS(MPI_Ckpt_here());
  IS(MPI_Ckpt_here(), MPI_ERR_CHECKPOINT);
  WORKS(MPI_Rollback(grid, CELLS, MPI_DOUBLE, 8));
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 5 && grid[0] == 1);
}

TEST(closes, "MPI_Ckpt_close, and open again") {
  MPI_Ckpt_options o = with(1, 0);
  WORKS(MPI_Ckpt_close());
  IS(MPI_Ckpt_here(), MPI_ERR_CHECKPOINT);
  WORKS(MPI_Ckpt_open(&o));
  WORKS(MPI_Ckpt(&step, 1, MPI_INT, 1));
  IS(MPI_Rollback(&step, 1, MPI_INT, 1), MPI_ERR_CHECKPOINT);
  step = 3;
  WORKS(MPI_Ckpt_here());
  step = 0;
  WORKS(MPI_Rollback(&step, 1, MPI_INT, 1));
  CHECK(step == 3);
}

TEST(leaves, "a process that goes on to MPI_Finalize keeps nobody waiting") {
  if (rank == 3) return;
  WORKS(MPI_Ckpt_here());
  IS(MPI_Ckpt_here(), MPI_ERR_CHECKPOINT);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  comm = again(MPI_COMM_WORLD);
  RUN(open);
  RUN(no_round);
  RUN(types);
  RUN(tags);
  RUN(many);
  RUN(removed);
  RUN(ctrl);
  RUN(some);
  RUN(crossing);
  RUN(memory);
  RUN(memory_and_rollback);
  RUN(disk);
  RUN(pair);
  RUN(checksum);
  RUN(weighted);
  RUN(weighted_real);
  RUN(closes);
  RUN(leaves);
  MPI_Finalize();
  return 0;
}
