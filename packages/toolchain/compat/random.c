/*
 * glibc's generators with their state in the caller's hands: random_r() and the family of drand48_r(). They give glibc's numbers, so that a
 * program with a seed draws what it draws natively. The functions named …_wide are for a `long` of 64 bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include "own.h"

/* An additive generator by the size of its state: each number is the sum of those `degree` and `separation` draws ago, modulo 2^32. */
static const struct { unsigned char degree, separation; unsigned short bytes; } KINDS[] = {{0, 0, 8}, {7, 3, 32}, {15, 1, 64}, {31, 3, 128}, {63, 1, 256}};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static int invalid(void) { errno = EINVAL; return -1; }

/* The word before a state says its kind, and where the generator stands in it. */
static void note_place(struct random_data *d) {
  if (d->__state != NULL) d->__state[-1] = d->__kind == 0 ? 0 : KIND_COUNT * (int32_t)(d->__rear - d->__state) + d->__kind;
}

WEAK int random_r(struct random_data *__restrict d, int32_t *__restrict result) {
  if (d == NULL || result == NULL || d->__state == NULL) return invalid();
  if (d->__kind == 0) {
    d->__state[0] = (int32_t)(((uint32_t)d->__state[0] * 1103515245u + 12345u) & 0x7fffffff);
    *result = d->__state[0];
    return 0;
  }
  const int32_t *end = d->__state + KINDS[d->__kind].degree;
  *d->__front = (int32_t)((uint32_t)*d->__front + (uint32_t)*d->__rear);
  *result = (int32_t)((uint32_t)*d->__front >> 1);
  if (++d->__front == end) d->__front = d->__state;
  if (++d->__rear == end) d->__rear = d->__state;
  return 0;
}

WEAK int srandom_r(unsigned seed, struct random_data *d) {
  if (d == NULL || d->__state == NULL) return invalid();
  int64_t word = (int32_t)(seed == 0 ? 1 : seed);
  d->__state[0] = (int32_t)word;
  if (d->__kind == 0) return 0;
  const int degree = KINDS[d->__kind].degree;
  for (int i = 1; i < degree; i++) {
    word = 16807 * word % 2147483647;
    if (word < 0) word += 2147483647;
    d->__state[i] = (int32_t)word;
  }
  d->__front = d->__state + KINDS[d->__kind].separation;
  d->__rear = d->__state;
  for (int i = 0; i < 10 * degree; i++) { int32_t dropped; random_r(d, &dropped); }
  return 0;
}

WEAK int initstate_r(unsigned seed, char *__restrict state, size_t length, struct random_data *__restrict d) {
  if (d == NULL || state == NULL || length < KINDS[0].bytes) return invalid();
  note_place(d);
  int kind = KIND_COUNT - 1;
  while (length < KINDS[kind].bytes) kind--;
  d->__kind = kind;
  d->__state = (int32_t *)(void *)state + 1;
  srandom_r(seed, d);
  note_place(d);
  return 0;
}

WEAK int setstate_r(char *__restrict state, struct random_data *__restrict d) {
  if (d == NULL || state == NULL) return invalid();
  int32_t *words = (int32_t *)(void *)state + 1;
  const int kind = words[-1] % KIND_COUNT;
  if (words[-1] < 0) return invalid();
  note_place(d);
  d->__kind = kind;
  d->__state = words;
  if (kind == 0) return 0;
  const int place = words[-1] / KIND_COUNT;
  d->__rear = words + place;
  d->__front = words + (place + KINDS[kind].separation) % KINDS[kind].degree;
  return 0;
}

/* X ← aX + c modulo 2^48. */
static uint64_t words_of(const unsigned short x[3]) { return x[0] | (uint64_t)x[1] << 16 | (uint64_t)x[2] << 32; }
static void put_words(unsigned short x[3], uint64_t value) { x[0] = (unsigned short)value; x[1] = (unsigned short)(value >> 16); x[2] = (unsigned short)(value >> 32); }
static void set_factors(struct drand48_data *d) { d->__a = 0x5deece66d; d->__c = 0xb; d->__set = 1; }
static uint64_t drawn(unsigned short x[3], struct drand48_data *d) {
  if (!d->__set) set_factors(d);
  put_words(x, words_of(x) * d->__a + d->__c);
  return words_of(x);
}

WEAK int srand48_r(long seed, struct drand48_data *d) { put_words(d->__x, (uint64_t)(uint32_t)seed << 16 | 0x330e); set_factors(d); return 0; }
WEAK int seed48_r(unsigned short seed[3], struct drand48_data *d) {
  put_words(d->__old, words_of(d->__x));
  put_words(d->__x, words_of(seed));
  set_factors(d);
  return 0;
}
WEAK int lcong48_r(unsigned short values[7], struct drand48_data *d) {
  put_words(d->__x, words_of(values));
  d->__a = words_of(values + 3);
  d->__c = values[6];
  d->__set = 1;
  return 0;
}
WEAK int erand48_r(unsigned short x[3], struct drand48_data *d, double *result) { *result = (double)drawn(x, d) / 281474976710656.0; return 0; }
WEAK int drand48_r(struct drand48_data *d, double *result) { return erand48_r(d->__x, d, result); }
WEAK int nrand48_r(unsigned short x[3], struct drand48_data *d, long *result) { *result = (long)(drawn(x, d) >> 17); return 0; }
WEAK int lrand48_r(struct drand48_data *d, long *result) { return nrand48_r(d->__x, d, result); }
WEAK int jrand48_r(unsigned short x[3], struct drand48_data *d, long *result) { *result = (int32_t)(drawn(x, d) >> 16); return 0; }
WEAK int mrand48_r(struct drand48_data *d, long *result) { return jrand48_r(d->__x, d, result); }
#define WIDE(call) long narrow; const int failed = call; *result = narrow; return failed
WEAK int mayfly_nrand48_r_wide(unsigned short x[3], struct drand48_data *d, long long *result) { WIDE(nrand48_r(x, d, &narrow)); }
WEAK int mayfly_lrand48_r_wide(struct drand48_data *d, long long *result) { WIDE(lrand48_r(d, &narrow)); }
WEAK int mayfly_jrand48_r_wide(unsigned short x[3], struct drand48_data *d, long long *result) { WIDE(jrand48_r(x, d, &narrow)); }
WEAK int mayfly_mrand48_r_wide(struct drand48_data *d, long long *result) { WIDE(mrand48_r(d, &narrow)); }
