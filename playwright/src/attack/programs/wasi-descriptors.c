// Tries: every call of WASI on every descriptor number, also absurd ones
// Stood for: descriptors are numbers that the program chooses
// Ends: done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#define IMPORT(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))
IMPORT(fd_read) int fd_read(int, void *, int, void *);
IMPORT(fd_write) int fd_write(int, void *, int, void *);
IMPORT(fd_renumber) int fd_renumber(int, int);
IMPORT(fd_close) int fd_close(int);
IMPORT(fd_prestat_dir_name) int fd_prestat_dir_name(int, void *, int);
IMPORT(fd_readdir) int fd_readdir(int, void *, int, int64_t, void *);
IMPORT(fd_allocate) int fd_allocate(int, int64_t, int64_t);
IMPORT(fd_filestat_set_size) int fd_filestat_set_size(int, int64_t);
IMPORT(fd_seek) int fd_seek(int, int64_t, int, void *);
IMPORT(fd_fdstat_get) int fd_fdstat_get(int, void *);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static char text[4096];
  int iov[2] = {(int)(intptr_t)text, sizeof text}, n, opened = 0;
  int numbers[] = {-1, 3, 4, 5, 6, 7, 20, 100, 1000, 65535, 65536, 0x7fffffff, (int)0x80000000};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int fd = numbers[i];
    if (fd_read(fd, iov, 1, &n) == 0 && n > 0) printf("ESCAPED: %d gives %.*s\n", fd, n, text);
    opened += fd_write(fd, iov, 1, &n) == 0;
    fd_prestat_dir_name(fd, text, sizeof text);
    fd_readdir(fd, text, sizeof text, 0, &n);
    fd_readdir(fd, text, sizeof text, INT64_MAX, &n);
    fd_allocate(fd, INT64_MAX, INT64_MAX);
    fd_filestat_set_size(fd, INT64_MIN);
    fd_seek(fd, INT64_MIN, 2, text);
    fd_seek(fd, 0, 77, text);
    fd_fdstat_get(fd, text);
    fd_renumber(fd, 1);
    fd_renumber(2, fd);
    fd_close(fd);
  }
  printf("end %d\n", opened);
  MPI_Finalize();
  return 0;
}
