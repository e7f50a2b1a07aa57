/**
 * Small programs of ten kinds that depend on a `long` of 64 bits, with what gcc 12 prints for x86-64. With 32 bits some
 * of them do not end. It is the default.
 */
import { expect, test } from 'vitest';
import { buildModule } from '../../build-module.ts';
import { TestHost } from '../../host-for-tests.ts';

const HEAD =
  '#include <limits.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\ntypedef unsigned long u64;\n';

const PROGRAMS: Readonly<Record<string, readonly [source: string, output: string]>> = {
  'a generator of random numbers': [
    `int main(void) {
  u64 s = 42;
  for (int i = 0; i < 3; i++) {
    u64 z = (s += 0x9e3779b97f4a7c15UL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    printf("%016lx\\n", z ^ (z >> 31));
  }
}`,
    'bdd732262feb6e95\n28efe333b266f103\n47526757130f9f52\n',
  ],
  'a hash of text': [
    `int main(void) {
  u64 h = 14695981039346656037UL;
  for (const char *t = "mayfly"; *t; t++) h = (h ^ (unsigned char)*t) * 1099511628211UL;
  printf("%lx\\n", h);
}`,
    '8e30deef97b3dd47\n',
  ],
  'queens on the bits of a board': [
    `static long queens(long all, long columns, long left, long right) {
  long n = 0;
  if (columns == all) return 1;
  for (long free = all & ~(columns | left | right); free; free &= free - 1) {
    long bit = free & -free;
    n += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return n;
}
int main(void) { printf("%ld %lx\\n", queens((1L << 8) - 1, 0, 0, 0), ((1UL << 40) - 1) & ~(1UL << 35)); }`,
    '92 f7ffffffff\n',
  ],
  'a test of primes': [
    `static u64 times(u64 a, u64 b, u64 m) {
  u64 r = 0;
  for (; b; b >>= 1) { if (b & 1) r = (r + a) % m; a = (a << 1) % m; }
  return r;
}
static u64 power(u64 a, u64 e, u64 m) {
  u64 r = 1;
  for (; e; e >>= 1) { if (e & 1) r = times(r, a, m); a = times(a, a, m); }
  return r;
}
int main(void) {
  u64 m = (1UL << 61) - 1;
  printf("%d %d\\n", power(3, m - 1, m) == 1, power(3, m - 3, m - 2) == 1);
}`,
    '1 0\n',
  ],
  "Collatz's sequence": [
    `int main(void) {
  long n = 837799L, top = n;
  for (int i = 0; i < 600 && n != 1; i++) { n = n & 1 ? 3 * n + 1 : n / 2; if (n > top) top = n; }
  printf("%ld %ld\\n", top, n);
}`,
    '2974984576 1\n',
  ],
  'a sieve of bits': [
    `int main(void) {
  static u64 bits[200];
  long n = 0;
  for (long i = 2; i < 12800; i++)
    if (!(bits[i >> 6] & (1UL << (i & 63)))) {
      n++;
      for (long j = i * i; j < 12800; j += i) bits[j >> 6] |= 1UL << (j & 63);
    }
  printf("%ld %lx\\n", n, bits[199]);
}`,
    '1526 7f7fdffff7dfff77\n',
  ],
  'random access to a table, as in HPCC': [
    `int main(void) {
  static u64 table[256];
  u64 ran = 1, x = 0;
  for (int i = 0; i < 256; i++) table[i] = i;
  for (int i = 0; i < 4096; i++) {
    ran = (ran << 1) ^ ((long)ran < 0 ? 7UL : 0UL);
    table[(ran >> 32 >> 24) & 255] ^= ran;
  }
  for (int i = 0; i < 256; i++) x += table[i];
  printf("%lu\\n", x);
}`,
    '15547460619128056923\n',
  ],
  'Fibonacci numbers': [
    `int main(void) {
  long a = 1, b = 1;
  for (int i = 0; i < 88; i++) { long c = a + b; a = b; b = c; }
  printf("%ld %ld\\n", a, b % 1000000007L);
}`,
    '1779979416004714189 210345902\n',
  ],
  'powers modulo a prime': [
    `int main(void) {
  const long m = 998244353L;
  long a[4] = {1, 1, 1, 0}, r[4] = {1, 0, 0, 1};
  for (u64 e = 1UL << 60 | 12345; e; e >>= 1) {
    long t[4];
    if (e & 1) {
      for (int i = 0; i < 4; i++) t[i] = (r[i & 2] * a[i & 1] + r[(i & 2) + 1] * a[2 + (i & 1)]) % m;
      memcpy(r, t, sizeof t);
    }
    for (int i = 0; i < 4; i++) t[i] = (a[i & 2] * a[i & 1] + a[(i & 2) + 1] * a[2 + (i & 1)]) % m;
    memcpy(a, t, sizeof t);
  }
  printf("%ld\\n", r[1]);
}`,
    '152871115\n',
  ],
  'limits as text and back': [
    `int main(void) {
  char t[64], *end;
  sprintf(t, "%lu|%ld|%lo", ULONG_MAX, LONG_MIN, 1UL << 45);
  u64 u = strtoul(t, &end, 10);
  long l = strtol(end + 1, &end, 10);
  printf("%s %d %d %zu\\n", t, u == ULONG_MAX, l == LONG_MIN, strlen(t));
}`,
    '18446744073709551615|-9223372036854775808|1000000000000000 1 1 58\n',
  ],
};

test.each(Object.entries(PROGRAMS))('%s, as gcc has it', (_name, [source, output]) => {
  const { wasm, info } = buildModule({ '/main.c': HEAD + source }, {});
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe(output);
});
