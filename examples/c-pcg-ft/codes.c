#include "codes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST = 16 };

/* ── GF(2⁸), polynomial 0x11D ── */

static unsigned char power[512];
static int logarithm[256];

static void tables(void) {
  if (power[0]) return;
  for (int i = 0, x = 1; i < 255; i++) {
    power[i] = power[i + 255] = (unsigned char)x;
    logarithm[x] = i;
    x = x << 1 ^ (x & 0x80 ? 0x11D : 0);
  }
}
static int times(int a, int b) { return a && b ? power[logarithm[a] + logarithm[b]] : 0; }
static int inverse(int a) { return power[255 - logarithm[a]]; }
static int cauchy(int i, int j, int c) { return inverse(i ^ (c + j)); }
/* Scaled so that the first row and the first column are ones. */
static int entry(int i, int j, int c) {
  const int column = times(cauchy(i, j, c), inverse(cauchy(0, j, c)));
  return times(column, inverse(times(cauchy(i, 0, c), inverse(cauchy(0, 0, c)))));
}

/* ── weights for sums of doubles: near to Gaussian ones, and the same bits everywhere ── */

static double weight(int i, int j, int n) {
  uint32_t state = 2463534242u + 7919u * (uint32_t)(i * n + j);
  double sum = -6;
  for (int k = 0; k < 12; k++) {
    for (int spin = 0; spin < 3; spin++) state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    sum += state / 4294967296.0;
  }
  return sum;
}

static double coefficient(Code code, int i, int j, int n, int c) {
  tables();
  return code == CODE_GF ? entry(i, j, c) : weight(i, j, n);
}

MPI_Op code_op(Code code) { return code == CODE_GF ? MPI_BXOR : MPI_SUM; }
MPI_Datatype code_type(Code code) { return code == CODE_GF ? MPI_UNSIGNED_CHAR : MPI_DOUBLE; }
int code_per(Code code) { return code == CODE_GF ? (int)sizeof(double) : 1; }

void code_scale(Code code, double w, const double *from, double *into, int length) {
  tables();
  if (code == CODE_REAL) {
    for (int k = 0; k < length; k++) into[k] += w * from[k];
    return;
  }
  unsigned char product[256];
  for (int x = 0; x < 256; x++) product[x] = (unsigned char)times((int)w, x);
  const unsigned char *a = (const unsigned char *)from;
  unsigned char *b = (unsigned char *)into;
  for (size_t k = 0; k < (size_t)length * sizeof *from; k++) b[k] ^= product[a[k]];
}

void code_add(Code code, int i, int j, int n, int c, int minus, const double *from, double *into, int length) {
  const double w = coefficient(code, i, j, n, c);
  code_scale(code, minus && code == CODE_REAL ? -w : w, from, into, length);
}

static double product(Code code, double a, double b) { return code == CODE_GF ? times((int)a, (int)b) : a * b; }
static double difference(Code code, double a, double b) { return code == CODE_GF ? (int)a ^ (int)b : a - b; }
static double reciprocal(Code code, double a) { return code == CODE_GF ? inverse((int)a) : 1 / a; }

/* Gauss and Jordan, with the largest pivot of each column. */
int code_invert(Code code, int k, const int *rows, const int *columns, int n, int c, double *weights) {
  double m[MOST][2 * MOST];
  if (k > MOST) return 0;
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      m[i][j] = coefficient(code, rows[i], columns[j], n, c);
      m[i][k + j] = i == j;
    }
  for (int p = 0; p < k; p++) {
    int best = p;
    for (int i = p + 1; i < k; i++)
      if (fabs(m[i][p]) > fabs(m[best][p])) best = i;
    if (m[best][p] == 0) return 0;
    for (int j = 0; j < 2 * k; j++) {
      const double swap = m[p][j];
      m[p][j] = m[best][j];
      m[best][j] = swap;
    }
    const double scale = reciprocal(code, m[p][p]);
    for (int j = 0; j < 2 * k; j++) m[p][j] = product(code, m[p][j], scale);
    for (int i = 0; i < k; i++) {
      const double f = m[i][p];
      if (i == p || f == 0) continue;
      for (int j = 0; j < 2 * k; j++) m[i][j] = difference(code, m[i][j], product(code, f, m[p][j]));
    }
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) weights[i * k + j] = m[i][k + j];
  return 1;
}
