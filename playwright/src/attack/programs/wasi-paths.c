// Tries: to open files outside of the job by every spelling of a path
// Stood for: a path of WASI becomes a path of the host
// Ends: done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <fcntl.h>
#include <unistd.h>
static void look(const char *path) {
  char text[4096];
  FILE *f = fopen(path, "r");
  if (!f) return;
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = 0;
  printf("ESCAPED %s: %s\n", path, text);
  fclose(f);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *ways[] = {"/proc/self/environ", "/proc/self/cmdline", "/etc/passwd", "../etc/passwd", "../../../../../../../etc/passwd", "/../../etc/passwd", "//etc/passwd", "/dev/mem", "/proc/1/root/etc/passwd", "./../etc/passwd"};
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) look(ways[i]);
  for (int i = 1; i < argc; i++) {
    char path[2000];
    const char *before[] = {"", "/", "..", "../../../../../../..", "/./..", "file://"};
    for (unsigned k = 0; k < sizeof before / sizeof *before; k++) { snprintf(path, sizeof path, "%s%s", before[k], argv[i]); look(path); }
  }
  // A name outside is a name of the job's own: what is written there stays in the job.
  FILE *f = fopen(argv[3], "w");
  if (f) { fputs("written", f); fclose(f); }
  if (symlink("/etc/passwd", "link") == 0) look("link");
  if (link("/etc/passwd", "hard") == 0) look("hard");
  rename("/etc/passwd", "mine");
  puts("end");
  MPI_Finalize();
  return 0;
}
