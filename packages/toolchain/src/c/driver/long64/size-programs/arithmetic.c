/* Sizes that become numbers of 64 bits, in C: each function is a program of its own. */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sizes.h"

static void negated_sizeof(void) {
  long m = -1 * sizeof(double), n = -sizeof(int), k = sizeof(char) - sizeof(double[3]);
  printf("%ld %ld %ld\n", m, n, k);
}

static void difference(size_t a, size_t b) {
  long d = a - b;
  unsigned long u = a - b;
  long long e = (a - b) / 2;
  int64_t f = (int64_t)(a - b);
  printf("%ld %lu %lld %lld %ld\n", d, u, e, (long long)f, (long)(a - b) / 2);
}

static void loop_down(const char *text) {
  int turns = 0;
  for (long i = strlen(text) - 1; i >= 0; i--) turns++;
  printf("%d turns\n", turns);
}

static void loop_until_wrapped(size_t n) {
  int turns = 0;
  for (long i = n - 1; i < n; i--) turns++;
  printf("%d turns\n", turns);
}

static void stored_difference(size_t a, size_t b) {
  size_t d = a - b;
  long l = d;
  unsigned long u = d;
  long twice = d * 2;
  printf("%ld %lu %ld\n", l, u, twice);
}

static long returned(size_t n) { return n - 5; }
static void taken(long a, unsigned long b, long long c) { printf("%ld %lu %lld\n", a, b, c); }

static void product(int n, size_t m) {
  long bytes = n * sizeof(double);
  long more = m * n * sizeof(double);
  double mega = n * sizeof(double) / 1048576.0, all = m * sizeof(double) * n;
  printf("%ld %ld %.1f %.1f\n", bytes, more, mega, all);
}

static void comparisons(size_t n) {
  long minus = -1, two = 2;
  printf("%d %d %d %d %d\n", minus < n, minus < sizeof(int), two < n - 4, minus == n - 4, two > sizeof(long));
}

static void to_floating(size_t a, size_t b) {
  double d = a - b, e = a * 0.5 - b, f = (double)(a - b) * 2, g = a;
  printf("%g %g %g %g %g\n", d, e, f, g, (double)(long)(a - b));
}

static void mixed(size_t n) {
  long l = -7;
  long a = l + n, b = l * n, c = l * (long)n, d = n - l, e = l % sizeof(int), f = l / sizeof(int);
  unsigned long g = l / n;
  printf("%ld %ld %ld %ld %ld %ld %lu\n", a, b, c, d, e, f, g);
}

static void assigned(size_t n) {
  long l = 100;
  l += n - 10;
  l -= n;
  l *= sizeof(int);
  l += -1 * sizeof(long);
  unsigned long u = 3;
  u -= n + 2;
  printf("%ld %lu\n", l, u);
}

static void conditional(int c, size_t n) {
  long a = c ? -1 : n, b = c ? n - 9 : n, d = c ? n : -3L;
  printf("%ld %ld %ld\n", a, b, d);
}

static void shifts(size_t n) {
  long a = (n - 8) << 2, b = (n - 8) >> 1, c = 1L << n, d = ~n, e = ~(n << 3);
  printf("%ld %ld %ld %ld %ld\n", a, b, c, d, e);
}

static void members_and_arrays(void) {
  struct { size_t used, limit; long left; } s = {7, 5, 0};
  size_t at[2] = {4, 6};
  s.left = s.limit - s.used;
  long table[] = {s.limit - s.used, at[0] - at[1], sizeof at / sizeof *at - 3};
  printf("%ld %ld %ld %ld\n", s.left, table[0], table[1], table[2]);
}

static void pointers(void) {
  char text[] = "a word", *space = strchr(text, ' ');
  long at = space - text, left = strlen(space) - strlen(text), back = (uintptr_t)text - (uintptr_t)space;
  printf("%ld %ld %ld\n", at, left, back);
}

static void printed(size_t a, size_t b) {
  printf("%ld %zd %d %li\n", a - b, a - b, (int)(a - b), strlen("ab") - 4);
}

static void constants(void) {
  enum { BYTES = 3L * sizeof(long) };
  static const long first = sizeof(int) - 5L;
  static long second = -2 * sizeof(double);
  char room[2L * sizeof(double)];
  switch (8L) { case 2L * sizeof(int): printf("two ints, "); }
  printf("%d %ld %ld %d\n", BYTES, first, second, (int)sizeof room);
}

static int compare(const void *a, const void *b) {
  long d = strlen(*(char *const *)a) - strlen(*(char *const *)b);
  return d < 0 ? -1 : d > 0;
}
static void sorted(void) {
  const char *words[] = {"seven", "of", "nine", "a"};
  qsort(words, 4, sizeof *words, compare);
  printf("%s %s %s %s\n", words[0], words[1], words[2], words[3]);
}

static void macros(size_t a, size_t b) {
  int i = 4;
  double x = 2.5;
  printf("%ld %ld %ld\n", SUBTRACT(a, b), SUBTRACT(i, 6), TWICE_IN_LONG(a - b));
  long l;
  STORE(l, a, b);
  printf("%ld %ld %.1f %ld\n", l, LEFT(i), HALF(x), (long)HALF(a - b));
}

static void big_products(size_t nx, size_t ny) {
  long cells = nx * ny, bytes = cells * sizeof(double);
  unsigned long even = nx * ny / 2, rest = nx * ny % 1000;
  printf("%ld %ld %lu %lu\n", cells, bytes, even, rest);
}

int main(void) {
  negated_sizeof();
  difference(3, 10);
  loop_down("");
  loop_down("abc");
  loop_until_wrapped(4);
  stored_difference(2, 9);
  printf("%ld\n", returned(2));
  taken(strlen("abc") - 4, strlen("abc") - 4, sizeof(int) - 16);
  product(800000000, 3);
  comparisons(3);
  to_floating(3, 10);
  mixed(3);
  assigned(3);
  conditional(1, 4);
  shifts(5);
  members_and_arrays();
  pointers();
  printed(3, 10);
  constants();
  sorted();
  macros(3, 10);
  big_products(100000, 70000);
  return 0;
}
