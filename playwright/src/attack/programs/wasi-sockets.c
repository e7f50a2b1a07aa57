// Tries: to import the sockets of WASI
// Stood for: a host may pass on a listening socket
// Ends: refused BAD_MODULE, refused COMPILE_FAILED
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#define IMPORT(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))
IMPORT(sock_accept) int sock_accept(int, int, void *);
IMPORT(sock_recv) int sock_recv(int, void *, int, int, void *, void *);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char b[64];
  for (int i = 0; i < 100; i++) if (sock_accept(i, 0, b) == 0 || sock_recv(i, b, 1, 0, b, b) == 0) puts("ESCAPED: a socket");
  MPI_Finalize();
  return 0;
}
