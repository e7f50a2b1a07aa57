/*
 * NAS EP, "embarrassingly parallel": pairs of uniform random numbers are turned into pairs of independent Gaussian deviates by the polar
 * method, summed, and counted in square annuli. The ranks meet once, in the reduction at the end.
 */
#include "../nas-common/nas.h"
#include <math.h>
#include <mpi.h>

enum { BATCH_BITS = 16, ANNULI = 10 };

static const struct {
  int bits; /* 2^bits pairs */
  double sx, sy;
} CLASSES[] = {
    {24, -3.247834652034740e3, -6.958407078382297e3},
    {25, -2.863319731645753e3, -6.320053679109499e3},
    {28, -4.295875165629892e3, -1.580732573678431e4},
};
static const uint64_t SEED = 271828183;

/* Engines of WebAssembly put better code in the place of the first when a function is entered, never while it runs: this one must not become a part of main. */
#define ENTERED_ANEW __attribute__((noinline))

/* Sums and counts of one batch of 2^16 pairs; a batch is what a rank can be given. */
ENTERED_ANEW static void batch(int64_t index, double sums[2], double counts[ANNULI]) {
  uint64_t x = nas_jump(SEED, (uint64_t)index << (BATCH_BITS + 1));
  double sx = 0, sy = 0;
  for (int i = 0; i < 1 << BATCH_BITS; i++) {
    double a = 2 * nas_random(&x, NAS_A) - 1;
    double b = 2 * nas_random(&x, NAS_A) - 1;
    double t = a * a + b * b;
    if (t > 1) continue;
    double f = sqrt(-2 * log(t) / t);
    double gx = a * f, gy = b * f;
    int ax = (int)fabs(gx), ay = (int)fabs(gy);
    int more = ay - ax;
    counts[ax + (more & ~(more >> 31))] += 1; /* the larger one, without a branch that nobody could foresee */
    sx += gx;
    sy += gy;
  }
  sums[0] += sx;
  sums[1] += sy;
}

int main(int argc, char **argv) {
  int class = nas_start(&argc, &argv, "EP");
  int bits = CLASSES[class].bits;
  int64_t batches = INT64_C(1) << (bits - BATCH_BITS);
  nas_say("  2^%d pairs of random numbers", bits);

  nas_clock();
  double mine[2 + ANNULI] = {0}, all[2 + ANNULI] = {0};
  int64_t first = nas_share(nas_rank, batches, nas_size), end = nas_share(nas_rank + 1, batches, nas_size);
  for (int64_t k = first; k < end; k++) {
    state_progress((double)(k - first), (double)(end - first));
    batch(k, mine, mine + 2);
  }
  MPI_Reduce(mine, all, 2 + ANNULI, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

  double pairs = 0;
  for (int i = 0; i < ANNULI; i++) {
    nas_say("  annulus %d: %.0f", i, all[2 + i]);
    pairs += all[2 + i];
  }
  nas_say("  Gaussian pairs: %.0f", pairs);
  bool x = nas_check("sum of x", all[0], CLASSES[class].sx, 1e-8);
  bool y = nas_check("sum of y", all[1], CLASSES[class].sy, 1e-8);
  return nas_finish(x && y, ldexp(1, bits + 1));
}
