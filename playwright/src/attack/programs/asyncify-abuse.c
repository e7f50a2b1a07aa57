// Tries: to control the unwinding of its own stack
// Stood for: an instrumented module exports the functions that our host uses to unwind it
// Ends: done, failed PROGRAM_TRAP, failed ABORTED, refused BAD_MODULE, refused COMPILE_FAILED
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
__attribute__((export_name("asyncify_start_unwind"))) void start_unwind(int at) { puts("unwind"); }
__attribute__((export_name("asyncify_stop_unwind"))) void stop_unwind(void) { MPI_Barrier(MPI_COMM_WORLD); }
__attribute__((export_name("asyncify_start_rewind"))) void start_rewind(int at) { __builtin_trap(); }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // What lies where an unwound stack would.
  for (unsigned at = 1024; at < 65536; at += 4) if (at % 4096 == 0) *(volatile unsigned *)(uintptr_t)at = 0xffffffff;
  puts("end");
  MPI_Finalize();
  return 0;
}
