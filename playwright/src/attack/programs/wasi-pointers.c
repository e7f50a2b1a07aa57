// Tries: addresses and lengths outside of the memory in every call of WASI
// Stood for: an unchecked address reads or writes memory of the host
// Ends: done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#define IMPORT(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))
IMPORT(fd_write) int fd_write(int, int, int, int);
IMPORT(fd_read) int fd_read(int, int, int, int);
IMPORT(random_get) int random_get(int, int);
IMPORT(args_get) int args_get(int, int);
IMPORT(environ_get) int environ_get(int, int);
IMPORT(args_sizes_get) int args_sizes_get(int, int);
IMPORT(clock_time_get) int clock_time_get(int, int64_t, int);
IMPORT(path_open) int path_open(int, int, int, int, int, int64_t, int64_t, int, int);
IMPORT(path_rename) int path_rename(int, int, int, int, int, int);
IMPORT(poll_oneoff) int poll_oneoff(int, int, int, int);
IMPORT(path_readlink) int path_readlink(int, int, int, int, int, int);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  unsigned bad[] = {0xffffffff, 0xfffffff0, 0x80000000, 0x7fffffff, 0xfffe0000};
  int accepted = 0;
  for (unsigned i = 0; i < 5; i++) for (unsigned k = 0; k < 5; k++) {
    int a = (int)bad[i], n = (int)bad[k];
    accepted += fd_write(1, a, n, a) == 0;
    accepted += fd_write(1, a, 1, 0) == 0;
    accepted += random_get(a, n) == 0;
    accepted += args_get(a, n) == 0;
    accepted += environ_get(a, n) == 0 && getenv("PATH") != NULL;
    accepted += args_sizes_get(a, n) == 0;
    accepted += clock_time_get(a, 0, n) == 0;
    accepted += path_open(3, 0, a, n, 0, -1, -1, 0, a) == 0;
    accepted += path_rename(3, a, n, 3, a, n) == 0;
    accepted += poll_oneoff(a, n, n, a) == 0;
    accepted += path_readlink(3, a, n, a, n, a) == 0;
  }
  // Vectors inside that point outside.
  int iov[4] = {(int)0xfffffff0, 100, 16, -1}, n = 0;
  accepted += fd_write(1, (int)(intptr_t)iov, 2, (int)(intptr_t)&n) == 0;
  printf("%s\n", accepted == 0 ? "end" : "ESCAPED: accepted");
  MPI_Finalize();
  return 0;
}
