// Tries: to open files of the server and of other jobs by MPI-IO
// Stood for: a name of a shared file becomes a path on the server
// Ends: done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char name[2000], text[256];
  const char *fixed[] = {"/etc/passwd", "../../../../../../etc/passwd", "..", "/", "a/../../b", "x\ny", ".", "file:/etc/passwd", "ufs:/etc/passwd", "__proto__"};
  for (int i = 0; i < 10 + argc; i++) for (int up = 0; up < 2; up++) {
    snprintf(name, sizeof name, "%s%s", up ? "../" : "", i < 10 ? fixed[i] : argv[i - 10]);
    MPI_File f;
    MPI_Status s;
    int n = 0;
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f) == MPI_SUCCESS) {
      MPI_File_read(f, text, sizeof text, MPI_CHAR, &s);
      MPI_Get_count(&s, MPI_CHAR, &n);
      if (n > 0) printf("ESCAPED %s: %.*s\n", name, n, text);
      MPI_File_close(&f);
    }
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f) == MPI_SUCCESS) MPI_File_close(&f);
    MPI_File_delete(name, MPI_INFO_NULL);
  }
  puts("end");
  MPI_Finalize();
  return 0;
}
