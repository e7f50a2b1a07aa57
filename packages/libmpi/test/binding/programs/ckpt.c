/* Operation-level checkpoints (Tang, Fagg, Dongarra, §3.1) where images bring a process back: hints, checked like all arguments. */
#include "check.h"
#include <stddef.h>
typedef struct { int id; double x[2]; } Particle;
static Particle particles[50];
static double grid[40];
int main(int argc, char **argv) {
  MPI_Ckpt_options o = {0};
  MPI_Datatype column, particle, types[] = {MPI_INT, MPI_DOUBLE};
  int steps = argc > 1 && !strcmp(argv[1], "brief") ? 6 : 20, lengths[] = {1, 2}, n = 0;
  MPI_Aint at[] = {offsetof(Particle, id), offsetof(Particle, x)};
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* "this function should be called after MPI_Init()", and before the others */
  CHECK(class_of(MPI_Ckpt(grid, 40, MPI_DOUBLE, 1)) == MPI_ERR_CHECKPOINT);
  CHECK(class_of(MPI_Ckpt_here()) == MPI_ERR_CHECKPOINT);
  CHECK(class_of(MPI_Rollback(grid, 40, MPI_DOUBLE, 1)) == MPI_ERR_CHECKPOINT);
  CHECK(class_of(MPI_Remove_ckpt(1)) == MPI_ERR_CHECKPOINT);
  CHECK(class_of(MPI_Ckpt_ctrl(&o)) == MPI_ERR_CHECKPOINT);
  CHECK(class_of(MPI_Ckpt_close()) == MPI_ERR_CHECKPOINT);
  /* "in order to maintain consistency": wrong options change nothing */
  o.algorithm = 7; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.algorithm = 0;
  o.nof = size_; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.nof = -1; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.nof = 0;
  o.ratio = -1; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.ratio = 0;
  o.memory = -1; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.memory = 0;
  o.flags = 8; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_ARG); o.flags = 0;
  o.comm = MPI_COMM_NULL; CHECK(class_of(MPI_Ckpt_open(&o)) == MPI_ERR_COMM); o.comm = 0;
  o.algorithm = MPI_CKPT_IMEM_M_REP; o.nof = size_ - 1; o.ratio = 10;
  CHECK(MPI_Ckpt_open(&o) == MPI_SUCCESS);
  CHECK(class_of(MPI_Ckpt_open(NULL)) == MPI_ERR_CHECKPOINT);
  /* "the checkpoint and rollback library should support any MPI data types" */
  MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &column); MPI_Type_commit(&column);
  MPI_Type_create_struct(2, lengths, at, types, &particle);
  CHECK(class_of(MPI_Ckpt(particles, 50, particle, 1)) == MPI_ERR_TYPE); MPI_Type_commit(&particle);
  CHECK(class_of(MPI_Ckpt(particles, -1, MPI_INT, 1)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Ckpt(NULL, 4, MPI_INT, 1)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Ckpt(&n, 1, MPI_INT, -3)) == MPI_ERR_TAG);
  CHECK(MPI_Ckpt(&n, 1, MPI_INT, 1) == MPI_SUCCESS && MPI_Ckpt(grid + 3, 1, column, 2) == MPI_SUCCESS && PMPI_Ckpt(particles, 50, particle, 3) == MPI_SUCCESS && MPI_Ckpt(NULL, 0, MPI_INT, 4) == MPI_SUCCESS);
  CHECK(class_of(MPI_Ckpt(&n, 1, MPI_INT, 1)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Rollback(&n, 1, MPI_INT, 1)) == MPI_ERR_CHECKPOINT); /* no checkpoint yet */
  MPI_Type_free(&column); MPI_Type_free(&particle);
  for (n = 0; n < steps; n++) {
    double all; grid[3] = n + rank_;
    MPI_Allreduce(&grid[3], &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == n * size_ + size_ * (size_ - 1) / 2);
    CHECK(MPI_Ckpt_here() == MPI_SUCCESS);
    o.ratio = n + 1; CHECK(MPI_Ckpt_ctrl(&o) == MPI_SUCCESS);
  }
  /* Nothing was lost: the data are as they are. "in random order" */
  CHECK(MPI_Rollback(&n, 1, MPI_INT, 1) == MPI_SUCCESS && n == steps && grid[3] == steps - 1 + rank_);
  CHECK(class_of(MPI_Rollback(&n, 1, MPI_INT, 9)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Rollback(grid, 5, MPI_DOUBLE, 2)) == MPI_ERR_COUNT);
  CHECK(MPI_Rollback(grid, 4, MPI_DOUBLE, 2) == MPI_SUCCESS && grid[3] == steps - 1 + rank_);
  /* "to prevent them from future checkpointing" */
  CHECK(MPI_Remove_ckpt(1) == MPI_SUCCESS && class_of(MPI_Remove_ckpt(1)) == MPI_ERR_TAG);
  CHECK(MPI_Rollback(&n, 1, MPI_INT, 1) == MPI_SUCCESS); CHECK(MPI_Remove_ckpt(1) == MPI_SUCCESS && MPI_Ckpt_here() == MPI_SUCCESS);
  CHECK(class_of(MPI_Rollback(&n, 1, MPI_INT, 1)) == MPI_ERR_TAG);
  CHECK(MPI_Ckpt_close() == MPI_SUCCESS && class_of(MPI_Ckpt_here()) == MPI_ERR_CHECKPOINT);
  CHECK(MPI_Ckpt_open(NULL) == MPI_SUCCESS); /* Finalize closes it. */
  return finish();
}
