/*
 * NAS IS, "integer sort": ranks of small integer keys, ten times over, each time with two keys changed. Bucket sort: the ranks agree on
 * which buckets belong to whom (allreduce), exchange keys so that each holds a contiguous range of values (alltoall, alltoallv), and count.
 * The last ranking is used to sort for good, which is checked as well.
 */
#include "../nas-common/nas.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 10, PROBES = 5 };

static const struct Class {
  int key_bits, value_bits, bucket_bits; /* 2^key_bits keys below 2^value_bits */
  int64_t index[PROBES], rank[PROBES];   /* the key at this place, and its rank before any change */
  /* Low probes move up and high ones down as keys change: by iteration + shift. */
  int low, low_shift, high_shift;
} CLASSES[] = {
    {16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
    {20, 16, 10, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}, 2, -2, 0},
    {23, 19, 10, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264}, 3, -1, -1},
};

typedef struct {
  const struct Class *class;
  int64_t total, first, count; /* of the keys that this rank holds */
  int32_t *keys, *sorted;      /* as generated; by bucket */
  int32_t *received, *ranks;   /* keys of this rank's range of values; how many are at most low + i */
  size_t room, span;           /* of received and ranks */
  int32_t low, high;           /* the range, high excluded */
  int64_t lesser, held;        /* keys below the range, keys inside it */
  int *counts, *totals;        /* by bucket, mine and everyone's; behind them the probes' keys */
  int *send, *from, *take, *into;
} Sort;

/* Each key is the scaled sum of four random numbers. */
static void generate(Sort *s) {
  uint64_t x = nas_jump(314159265, 4 * (uint64_t)s->first);
  double quarter = (double)(1 << s->class->value_bits) / 4;
  for (int64_t i = 0; i < s->count; i++) {
    double sum = nas_random(&x, NAS_A);
    sum += nas_random(&x, NAS_A);
    sum += nas_random(&x, NAS_A);
    sum += nas_random(&x, NAS_A);
    s->keys[i] = (int32_t)(quarter * sum);
  }
}

static void set_key(Sort *s, int64_t place, int32_t key) {
  if (place >= s->first && place < s->first + s->count) s->keys[place - s->first] = key;
}

/* Which buckets become whose: whole buckets in order, until a rank has its share. `send` and `take` come from it. */
static void divide(Sort *s) {
  int buckets = 1 << s->class->bucket_bits, shift = s->class->value_bits - s->class->bucket_bits;
  int64_t before = 0;
  int next = 0, local = 0;
  for (int r = 0; r < nas_size; r++) {
    int begin = next;
    int64_t start = before;
    s->send[r] = 0;
    s->from[r] = local;
    while (next < buckets && (r == nas_size - 1 || before < nas_share(r + 1, s->total, nas_size))) {
      s->send[r] += s->counts[next];
      before += s->totals[next++];
    }
    local += s->send[r];
    if (r == nas_rank) {
      s->low = begin << shift;
      s->high = next << shift;
      s->lesser = start;
      s->held = before - start;
    }
  }
}

static void rank_keys(Sort *s, int iteration, int32_t probes[PROBES]) {
  int buckets = 1 << s->class->bucket_bits, shift = s->class->value_bits - s->class->bucket_bits;
  set_key(s, iteration, iteration);
  set_key(s, iteration + ITERATIONS, (1 << s->class->value_bits) - iteration);

  memset(s->counts, 0, sizeof(int) * (size_t)(buckets + PROBES));
  for (int64_t i = 0; i < s->count; i++) s->counts[s->keys[i] >> shift]++;
  for (int p = 0; p < PROBES; p++) {
    int64_t at = s->class->index[p] - s->first;
    if (at >= 0 && at < s->count) s->counts[buckets + p] = s->keys[at];
  }
  MPI_Allreduce(s->counts, s->totals, buckets + PROBES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int p = 0; p < PROBES; p++) probes[p] = s->totals[buckets + p];
  divide(s);

  /* Local keys by bucket: counts become starting places. */
  for (int b = 0, at = 0; b < buckets; b++) {
    int n = s->counts[b];
    s->counts[b] = at;
    at += n;
  }
  for (int64_t i = 0; i < s->count; i++) s->sorted[s->counts[s->keys[i] >> shift]++] = s->keys[i];

  MPI_Alltoall(s->send, 1, MPI_INT, s->take, 1, MPI_INT, MPI_COMM_WORLD);
  s->into[0] = 0;
  for (int r = 1; r < nas_size; r++) s->into[r] = s->into[r - 1] + s->take[r - 1];
  if ((size_t)s->held > s->room) {
    free(s->received);
    s->received = nas_allocate(s->room = (size_t)s->held + (size_t)s->held / 8, sizeof(int32_t));
  }
  MPI_Alltoallv(s->sorted, s->send, s->from, MPI_INT32_T, s->received, s->take, s->into, MPI_INT32_T, MPI_COMM_WORLD);

  size_t span = (size_t)(s->high - s->low);
  if (span > s->span) {
    free(s->ranks);
    s->ranks = nas_allocate(s->span = span, sizeof(int32_t));
  }
  memset(s->ranks, 0, span * sizeof(int32_t));
  for (int64_t i = 0; i < s->held; i++) s->ranks[s->received[i] - s->low]++;
  for (size_t v = 1; v < span; v++) s->ranks[v] += s->ranks[v - 1];
}

/* How many keys are out of order, here and at the border with the next rank that holds any, after sorting with the last ranking. */
static int disorder(Sort *s) {
  int32_t *order = nas_allocate((size_t)s->held, sizeof(int32_t));
  for (int64_t i = s->held - 1; i >= 0; i--) order[--s->ranks[s->received[i] - s->low]] = s->received[i];
  int wrong = 0;
  for (int64_t i = 1; i < s->held; i++) wrong += order[i - 1] > order[i];
  /* The largest key of all ranks before: none, if they hold none. */
  int32_t largest = s->held ? order[s->held - 1] : -1, before = -1;
  MPI_Exscan(&largest, &before, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  if (nas_rank > 0 && s->held && before > order[0]) wrong++;
  int64_t ends[2] = {wrong, s->held}, all[2];
  MPI_Allreduce(ends, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  free(order);
  return (int)all[0] + (all[1] != s->total);
}

int main(int argc, char **argv) {
  const struct Class *class = &CLASSES[nas_start(&argc, &argv, "IS")];
  Sort s = {.class = class, .total = INT64_C(1) << class->key_bits};
  if (nas_size > 1 << class->bucket_bits) nas_refuse("this class has %d buckets: at most as many ranks, not %d", 1 << class->bucket_bits, nas_size);
  s.first = nas_share(nas_rank, s.total, nas_size);
  s.count = nas_share(nas_rank + 1, s.total, nas_size) - s.first;
  nas_say("  2^%d keys below 2^%d, %d iterations", class->key_bits, class->value_bits, ITERATIONS);
  size_t buckets = (size_t)1 << class->bucket_bits, ranks = (size_t)nas_size;
  s.keys = nas_allocate((size_t)s.count, sizeof(int32_t));
  s.sorted = nas_allocate((size_t)s.count, sizeof(int32_t));
  s.counts = nas_allocate(buckets + PROBES, sizeof(int));
  s.totals = nas_allocate(buckets + PROBES, sizeof(int));
  s.send = nas_allocate(ranks, sizeof(int));
  s.from = nas_allocate(ranks, sizeof(int));
  s.take = nas_allocate(ranks, sizeof(int));
  s.into = nas_allocate(ranks, sizeof(int));
  generate(&s);

  nas_clock();
  int64_t found[ITERATIONS][PROBES] = {{0}}, all[ITERATIONS][PROBES];
  for (int it = 1; it <= ITERATIONS; it++) {
    int32_t probes[PROBES];
    state_progress(it - 1, ITERATIONS);
    rank_keys(&s, it, probes);
    /* The rank of a key is the number of smaller ones; who holds its range knows it, the others add 0. */
    for (int p = 0; p < PROBES; p++)
      if (probes[p] >= s.low && probes[p] < s.high) found[it - 1][p] = s.lesser + (probes[p] > s.low ? s.ranks[probes[p] - s.low - 1] : 0);
  }
  int wrong = disorder(&s);
  MPI_Reduce(found, all, ITERATIONS * PROBES, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);

  int right = 0;
  if (nas_rank == 0)
    for (int it = 1; it <= ITERATIONS; it++) {
      for (int p = 0; p < PROBES; p++) right += all[it - 1][p] == class->rank[p] + (p < class->low ? it + class->low_shift : -(it + class->high_shift));
      nas_say("  iteration %2d: ranks %lld %lld %lld %lld %lld", it, (long long)all[it - 1][0], (long long)all[it - 1][1], (long long)all[it - 1][2],
              (long long)all[it - 1][3], (long long)all[it - 1][4]);
    }
  nas_say("  %d of %d ranks as in the reference; %d keys out of order", right, ITERATIONS * PROBES, wrong);
  return nas_finish(right == ITERATIONS * PROBES && wrong == 0, (double)ITERATIONS * (double)s.total);
}
