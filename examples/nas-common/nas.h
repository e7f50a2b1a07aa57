/*
 * What the NAS kernels of this folder share: class and rank count from the command line, the random numbers that the NAS Parallel
 * Benchmarks report prescribes, and the report at the end.
 *
 * Standard output carries only what is the same in every run of one class on one number of ranks; times go to standard error.
 */
#ifndef NAS_H
#define NAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../c-common/progress.h"

extern int nas_rank, nas_size;

/* Starts MPI and prints the title. Returns the index of the class in "SWA"; the class is the first argument, S if there is none. */
int nas_start(int *argc, char ***argv, const char *kernel);
/* Ends the program with exit code 2 and this message, printed once, on every rank. To be called by all. */
_Noreturn void nas_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a line, on rank 0 only. */
void nas_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Starts the clock, after a barrier. */
void nas_clock(void);
/* Prints a computed value beside its reference; whether they agree to a relative error of `epsilon`. */
bool nas_check(const char *name, double computed, double reference, double epsilon);
/* Says how the run ended, `operations` being what the kernel counts as its work. Returns the exit code; rank 0's word holds for all. */
int nas_finish(bool verified, double operations);
/* Memory, or the end of the program. */
void *nas_allocate(size_t count, size_t size);
/* The i-th of n places when `parts` share them evenly begins at nas_share(i, n, parts). */
static inline int64_t nas_share(int64_t i, int64_t n, int64_t parts) { return i * n / parts; }

/*
 * x' = a·x mod 2^46, each x taken as x / 2^46. Products wrap at 2^64, of which 2^46 is a divisor: unsigned arithmetic is exact, where the
 * report had to split each factor for the sake of machines with 48 bits of mantissa.
 */
#define NAS_A UINT64_C(1220703125) /* 5^13 */
#define NAS_MASK ((UINT64_C(1) << 46) - 1)

/* The 46 bits become the leading ones of a number between 1 and 2: exact, and faster than a conversion where unsigned ones are slow. */
static inline double nas_random(uint64_t *x, uint64_t a) {
  *x = (*x * a) & NAS_MASK;
  uint64_t bits = UINT64_C(0x3ff) << 52 | *x << 6;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 1;
}
/* a^n: the multiplier that jumps over n numbers. */
static inline uint64_t nas_power(uint64_t a, uint64_t n) {
  uint64_t p = 1;
  for (; n; n >>= 1, a = (a * a) & NAS_MASK)
    if (n & 1) p = (p * a) & NAS_MASK;
  return p;
}
/* The state after n numbers from `seed`. */
static inline uint64_t nas_jump(uint64_t seed, uint64_t n) { return (seed * nas_power(NAS_A, n)) & NAS_MASK; }

#endif
