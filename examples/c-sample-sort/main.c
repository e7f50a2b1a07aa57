/*
 * Sample sort (regular sampling, after Shi and Schaeffer 1992): every rank sorts its keys and offers P samples; the sorted samples give
 * P − 1 splitters; every key goes to the rank of its range (alltoallv), and each rank merges what it got. Then the ranks, one after the
 * other, hold all keys in order. A reduction with an operation of our own checks that, however the keys are spread.
 *
 *   --keys 200000   keys per rank
 *   --rounds 10     data sets, one after the other
 *   --seed 1
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c-common/options.h"
#include "../c-common/progress.h"

static int rank, size;

static void *allocate(size_t count, size_t each) {
  void *p = malloc(count * each + 1);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 3);
  return p;
}

static int compare(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Keys of this rank in a round: xorshift64*; in odd rounds the least of three, so that small keys are more frequent and splitters matter. */
static void draw(uint32_t *keys, int64_t n, int64_t seed, int64_t round) {
  uint64_t x = (uint64_t)(seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(round * size + rank + 1) * UINT64_C(0xd1342543de82ef95);
  for (int64_t i = 0; i < n; i++) {
    uint32_t least = UINT32_MAX;
    for (int k = 0; k < (round % 2 ? 3 : 1); k++) {
      x ^= x >> 12;
      x ^= x << 25;
      x ^= x >> 27;
      const uint32_t key = (uint32_t)(x * UINT64_C(0x2545f4914f6cdd1d) >> 32);
      if (key < least) least = key;
    }
    keys[i] = least;
  }
}

/* How many of the sorted keys are not above `limit`. */
static int64_t not_above(const uint32_t *keys, int64_t n, uint32_t limit) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (keys[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* What a run of neighbouring ranks holds: how many keys, whether they are in order, the first and the last. */
typedef struct {
  int64_t count, sorted, first, last;
} Run;

/* Joins two runs: associative, but the order of the ranks matters. */
static void join(void *left, void *right, int *n, MPI_Datatype *type) {
  (void)type;
  const Run *a = left;
  Run *b = right;
  for (int i = 0; i < *n; i++, a++, b++) {
    const Run whole = {a->count + b->count, a->sorted && b->sorted && (a->count == 0 || b->count == 0 || a->last <= b->first), a->count ? a->first : b->first,
                       b->count ? b->last : a->last};
    *b = whole;
  }
}

/* Count, sum and xor of keys: what sorting must not change. */
static void fingerprint(const uint32_t *keys, int64_t n, uint64_t of_all[3]) {
  uint64_t part[2] = {(uint64_t)n, 0}, bits = 0;
  for (int64_t i = 0; i < n; i++) {
    part[1] += keys[i];
    bits ^= keys[i] * UINT64_C(0x9e3779b97f4a7c15) ^ keys[i] >> 7;
  }
  MPI_Allreduce(part, of_all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&bits, of_all + 2, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
}

/* The keys of this rank's range, sorted; n comes back as their number. Takes the memory of `keys`. */
static uint32_t *sample_sort(uint32_t *keys, int64_t *n) {
  qsort(keys, (size_t)*n, sizeof *keys, compare);
  uint32_t *samples = allocate((size_t)size, sizeof *samples), *all = allocate((size_t)size * (size_t)size, sizeof *all);
  for (int i = 0; i < size; i++) samples[i] = keys[*n * i / size];
  MPI_Allgather(samples, size, MPI_UINT32_T, all, size, MPI_UINT32_T, MPI_COMM_WORLD);
  qsort(all, (size_t)size * (size_t)size, sizeof *all, compare);

  int *counts = allocate((size_t)size * 4, sizeof *counts), *from = counts + size, *coming = from + size, *to = coming + size;
  for (int i = 0; i < size; i++) from[i] = i == 0 ? 0 : (int)not_above(keys, *n, all[i * size + size / 2 - 1]);
  for (int i = 0; i < size; i++) counts[i] = (i + 1 < size ? from[i + 1] : (int)*n) - from[i];
  MPI_Alltoall(counts, 1, MPI_INT, coming, 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (int i = 0; i < size; i++) {
    to[i] = total;
    total += coming[i];
  }
  uint32_t *received = allocate((size_t)total, sizeof *received);
  MPI_Alltoallv(keys, counts, from, MPI_UINT32_T, received, coming, to, MPI_UINT32_T, MPI_COMM_WORLD);
  free(keys);
  qsort(received, (size_t)total, sizeof *received, compare);
  free(counts);
  free(samples);
  free(all);
  *n = total;
  return received;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t per_rank = option_number(argc, argv, "keys", 200000, 1, 100000000);
  const int64_t rounds = option_number(argc, argv, "rounds", 10, 1, 1000000);
  const int64_t seed = option_number(argc, argv, "seed", 1, 0, INT64_C(1) << 50);

  MPI_Datatype run_type;
  MPI_Type_contiguous(4, MPI_INT64_T, &run_type);
  MPI_Type_commit(&run_type);
  MPI_Op joined;
  MPI_Op_create(join, 0, &joined);

  const double start = MPI_Wtime();
  int64_t wrong = 0;
  for (int64_t round = 0; round < rounds; round++) {
    state_progress((double)round, (double)rounds);
    int64_t n = per_rank;
    uint32_t *keys = allocate((size_t)n, sizeof *keys);
    draw(keys, n, seed, round);
    uint64_t before[3], after[3];
    fingerprint(keys, n, before);
    keys = sample_sort(keys, &n);
    fingerprint(keys, n, after);

    Run run = {n, 1, n ? keys[0] : 0, n ? keys[n - 1] : 0}, whole;
    for (int64_t i = 1; i < n; i++)
      if (keys[i - 1] > keys[i]) run.sorted = 0;
    MPI_Allreduce(&run, &whole, 1, run_type, joined, MPI_COMM_WORLD);
    int64_t most;
    MPI_Allreduce(&n, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    const int good = whole.sorted && whole.count == per_rank * size && memcmp(before, after, sizeof before) == 0;
    if (!good) wrong++;
    if (rank == 0)
      printf("round %lld: %lld keys from %lld to %lld %s, bits %016llx, the fullest rank has %lld\n", (long long)round + 1, (long long)whole.count, (long long)whole.first,
             (long long)whole.last, good ? "in order" : "NOT in order", (unsigned long long)after[2], (long long)most);
    free(keys);
  }
  if (rank == 0) {
    fprintf(stderr, "%.3f s\n", MPI_Wtime() - start);
    if (wrong) printf("FAIL: %lld of %lld data sets are not sorted\n", (long long)wrong, (long long)rounds);
    else printf("PASS: %lld data sets sorted, no key lost or changed\n", (long long)rounds);
  }
  MPI_Op_free(&joined);
  MPI_Type_free(&run_type);
  MPI_Finalize();
  return wrong != 0;
}
