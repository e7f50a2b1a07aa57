// Tries: to take all memory of the node by growing its own
// Stood for: a module grows beyond the limit of its job
// Ends: done, failed PROGRAM_TRAP
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  unsigned long pages = 0;
  while (__builtin_wasm_memory_grow(0, 256) != (unsigned long)-1 && pages < 70000) pages += 256;
  for (int i = 0; i < 1000; i++) __builtin_wasm_memory_grow(0, 0xffff);
  char *p = malloc(3000u << 20);
  printf("%s %d\n", pages * 65536ull <= (1ull << 31) ? "end" : "ESCAPED: more than 2 GB", p == NULL);
  MPI_Finalize();
  return 0;
}
