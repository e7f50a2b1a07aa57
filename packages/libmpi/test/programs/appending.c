/* Ranks append to one file in turn, the last first. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static void append(const char *path, int turn) {
  FILE *f = fopen(path, "a");
  fprintf(f, "turn %d of rank %d\n", turn, rank);
  fflush(f);
  fsync(fileno(f));
  fclose(f);
}
static void show(const char *path) {
  char line[80];
  FILE *f = fopen(path, "r");
  printf("%s:", path);
  while (fgets(line, sizeof line, f)) { line[strcspn(line, "\n")] = 0; printf(" %s,", line); }
  printf("\n");
  fclose(f);
}

int main(int argc, char **argv) {
  int size, i, turn;
  FILE *f;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    f = fopen("all.txt", "w");
    fputs("head\n", f);
    fflush(f);
    fsync(fileno(f));
    fclose(f);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (turn = 0; turn < 3; turn++)
    for (i = size - 1; i >= 0; i--) {
      if (i == rank) append("all.txt", turn);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  /* An input file, and a file of this rank alone. */
  if (rank == 0) append("in.txt", 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    append("in.txt", 1);
    append("own.txt", 0);
    append("own.txt", 1);
    show("own.txt");
    show("all.txt");
  }
  MPI_Finalize();
  return 0;
}
