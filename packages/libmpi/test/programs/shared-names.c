/* Directories that all ranks share. The numbers of lines say which rank found what. */
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, size;
static void step(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void put(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) { printf("%d: %s: %s\n", rank, path, strerror(errno)); return; }
  fprintf(f, "rank %d\n", rank);
  fclose(f);
}
static void result(const char *what, int r) { printf("%d: %s: %s\n", rank, what, r == 0 ? "ok" : strerror(errno)); }
static void look(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) printf("%d: stat %s: %s\n", rank, path, strerror(errno));
  else printf("%d: stat %s: %s\n", rank, path, S_ISDIR(st.st_mode) ? "directory" : "file");
}

/* Below MPI's own call nothing can be asked, and others hear what is done all the same. */
static void handler(MPI_Comm *comm, int *code, ...) {
  look("c");
  result("mkdir handler", mkdir("handler", 0777));
  put("handler/x");
}

int main(int argc, char **argv) {
  char name[40];
  int mine, made;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* One makes it, the others find it: by opening a file in it, by stat, by opendir. */
  if (rank == 0) {
    look("out");
    result("mkdir out", mkdir("out", 0777));
    result("mkdir no/such", mkdir("no/such", 0777));
    put("a-file");
    result("mkdir a-file/x", mkdir("a-file/x", 0777));
  }
  step();
  if (rank == 1) look("out");
  if (rank == 2) {
    DIR *d = opendir("out");
    result("opendir out", d ? 0 : -1);
    if (d) closedir(d);
  }
  sprintf(name, "out/part.%d", rank);
  put(name);
  put("nowhere/x");
  step();
  if (rank == 1) {
    result("mkdir out", mkdir("out", 0777));
    result("mkdir out/deep", mkdir("out/deep", 0777));
    result("remove out", remove("out"));
  }
  step();
  if (rank == 2) put("out/deep/x");

  /* Of all that make one, one is told that it has. */
  mine = mkdir("once", 0777) == 0;
  MPI_Allreduce(&mine, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("made once: %d\n", made);
  if (rank == size - 1) result("remove once", remove("once"));
  step();
  if (rank == size - 1) look("once");

  /* Each removes what it has, one what all have used. */
  if (rank == 2) result("unlink", unlink("out/deep/x"));
  unlink(name);
  step();
  if (rank == 0) {
    result("rmdir out", rmdir("out"));
    result("rmdir out/deep", rmdir("out/deep"));
    result("rmdir out", rmdir("out"));
    result("rmdir out", rmdir("out"));
    look("out");
  }
  step();

  /* Renamed: what is in it goes along, but for files of others. */
  if (rank == 0) {
    result("mkdir a", mkdir("a", 0777));
    result("mkdir a/b", mkdir("a/b", 0777));
    put("a/b/x");
    result("rename", rename("a", "c"));
    look("a");
    look("c/b/x");
  }
  step();
  if (rank == 1) {
    look("a");
    look("c/b");
    put("c/b/y");
    /* Empty for this rank: that of rank 0 stays. */
    result("rename", rename("c/b", "d"));
  }
  step();
  if (rank == 2) {
    look("d");
    look("c/b");
  }
  if (rank == 2) {
    MPI_Errhandler h;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    result("unlink", unlink("handler/x"));
  }
  step();
  if (rank == 1) look("handler");
  /* What is no result is for one rank alone. */
  if (rank == 0) result("mkdir /tmp/own", mkdir("/tmp/own", 0777));
  if (rank == 0) result("mkdir .own", mkdir(".own", 0777));
  step();
  if (rank == 1) look("/tmp/own");
  if (rank == 1) look(".own");
  MPI_Finalize();
  return 0;
}
