#include "plate.h"

enum { MODES = 4 };
static const struct {
  double amplitude;
  int p, q;
} MODE[MODES] = {{0.20, 2, 3}, {0.15, 5, 4}, {-0.10, 3, 7}, {0.10, 9, 8}};

static int n, steps;
static double weight[MODES];

/* sin(π · numerator / denominator), by reduction to [−π/4, π/4] and Taylor's series. */
static double sine(int64_t numerator, int64_t denominator) {
  const double PI = 3.14159265358979323846;
  int64_t k = numerator % (2 * denominator);
  double sign = 1;
  if (k < 0) k += 2 * denominator;
  if (k >= denominator) {
    k -= denominator;
    sign = -1;
  }
  if (2 * k > denominator) k = denominator - k;
  /* Now 0 … π/2. Beyond π/4 the cosine of the complement converges faster. */
  const int cosine = 4 * k > denominator;
  const double x = PI * (cosine ? 0.5 * (double)denominator - (double)k : (double)k) / (double)denominator;
  double term = cosine ? 1 : x, sum = term;
  for (int i = cosine ? 1 : 2; i < 22; i += 2) {
    term = -(term * x * x) / (double)(i * (i + 1));
    sum += term;
  }
  return sign * sum;
}

static double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

void plate_at(int points, int after) {
  n = points;
  steps = after;
  for (int m = 0; m < MODES; m++) {
    const double a = sine(MODE[m].p, 2 * (int64_t)(n + 1)), b = sine(MODE[m].q, 2 * (int64_t)(n + 1));
    weight[m] = MODE[m].amplitude * power(1 - 4 * LAMBDA * (a * a + b * b), steps);
  }
}

double temperature(int i, int j) {
  const double x = (double)j / (n + 1), y = (double)i / (n + 1);
  double t = 0.45 + 0.2 * (x - y) - 0.3 * (x - 0.5) * (y - 0.5) + 0.2 * (x * x - y * y);
  for (int m = 0; m < MODES; m++) t += weight[m] * sine((int64_t)MODE[m].p * i, n + 1) * sine((int64_t)MODE[m].q * j, n + 1);
  return t;
}

void colour_of(double t, uint8_t rgb[3]) {
  static const struct {
    double at;
    uint8_t rgb[3];
  } STOP[] = {{0, {8, 10, 40}}, {0.25, {40, 30, 120}}, {0.45, {150, 30, 110}}, {0.65, {230, 80, 40}}, {0.85, {255, 200, 60}}, {1, {255, 255, 240}}};
  const int last = (int)(sizeof STOP / sizeof *STOP) - 1;
  if (!(t > 0)) t = 0;
  if (t > 1) t = 1;
  int k = 1;
  while (k < last && t > STOP[k].at) k++;
  const double f = (t - STOP[k - 1].at) / (STOP[k].at - STOP[k - 1].at);
  for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)(STOP[k - 1].rgb[c] + f * (STOP[k].rgb[c] - STOP[k - 1].rgb[c]) + 0.5);
}
