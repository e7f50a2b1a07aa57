/* Generators with their own state: what gcc and glibc print of it stands in random.expected. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  static const size_t sizes[] = {8, 31, 32, 64, 100, 128, 256, 300};
  for (int i = 0; i < 8; i++) {
    static int32_t area[80];
    struct random_data d;
    int32_t r = 0;
    memset(&d, 0, sizeof d);
    printf("%d ", initstate_r(i == 3 ? 0 : 4000000000u + (unsigned)i, (char *)area, sizes[i], &d));
    for (int k = 0; k < 100; k++) random_r(&d, &r);
    printf("%d ", (int)r);
    srandom_r(42, &d); random_r(&d, &r);
    printf("%d\n", (int)r);
  }
  int32_t one[32], two[64], r;
  struct random_data d;
  memset(&d, 0, sizeof d);
  initstate_r(1, (char *)one, 128, &d);
  for (int k = 0; k < 50; k++) random_r(&d, &r);
  initstate_r(2, (char *)two, 256, &d);
  random_r(&d, &r); printf("%d ", (int)r);
  printf("%d ", setstate_r((char *)one, &d));
  random_r(&d, &r); printf("%d ", (int)r);
  setstate_r((char *)two, &d); random_r(&d, &r);
  printf("%d %d\n", (int)r, initstate_r(1, (char *)one, 7, &d));
  struct drand48_data q;
  memset(&q, 0, sizeof q);
  double x; long n; unsigned short own[3] = {1, 2, 3}, values[7] = {1, 2, 3, 4, 5, 6, 7};
  drand48_r(&q, &x); printf("%.17g ", x);
  srand48_r(-7, &q);
  for (int k = 0; k < 3; k++) { drand48_r(&q, &x); printf("%.17g ", x); }
  for (int k = 0; k < 3; k++) { lrand48_r(&q, &n); printf("%ld ", n); mrand48_r(&q, &n); printf("%ld ", n); }
  erand48_r(own, &q, &x); nrand48_r(own, &q, &n); printf("%.17g %ld ", x, n);
  jrand48_r(own, &q, &n); printf("%ld %d %d %d\n", n, own[0], own[1], own[2]);
  seed48_r(own, &q); lrand48_r(&q, &n); printf("%ld ", n);
  lcong48_r(values, &q); lrand48_r(&q, &n); printf("%ld ", n); drand48_r(&q, &x); printf("%.17g\n", x);
  return 0;
}
