// Tries: signals, endless sleeps and invalid clocks
// Stood for: calls that affect the process
// Ends: done, failed PROGRAM_TRAP, failed ABORTED, failed PROGRAM_ERROR
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#define IMPORT(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))
IMPORT(proc_raise) int proc_raise(int);
IMPORT(clock_time_get) int clock_time_get(int, int64_t, void *);
IMPORT(clock_res_get) int clock_res_get(int, void *);
IMPORT(sched_yield) int sched_yield_(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char out[64];
  for (int i = -3; i < 70; i++) { clock_time_get(i, -1, out); clock_res_get(i, out); proc_raise(i); }
  for (int i = 0; i < 1000; i++) sched_yield_();
  puts("end");
  fflush(stdout);
  abort();
}
