/*
 * The matrix is a sum of outer products of random sparse vectors, weighted by a geometric sequence from 1 to 0.1 (so the condition number is
 * known), with 0.1 - shift added on the diagonal. Every rank draws all vectors, for they come from one sequence, and keeps the products that
 * fall into its block.
 */
#include "matrix.h"
#include "../nas-common/nas.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CONDITION = 0.1;
static const uint64_t SEED = 314159265;

/* All n vectors, each with at most nonzeros + 1 entries. */
typedef struct {
  int n, room;
  int *count;
  int32_t *place;
  double *value;
} Vectors;

/* One vector: `nonzeros` different places with a random value each, then 0.5 at place `own` (in addition, or over the drawn one). */
static int draw(uint64_t *x, int n, int power, int nonzeros, int own, int32_t *place, double *value, int *mark) {
  int count = 0;
  while (count < nonzeros) {
    double v = nas_random(x, NAS_A);
    int at = (int)(nas_random(x, NAS_A) * power);
    if (at >= n || mark[at] == own + 1) continue;
    mark[at] = own + 1;
    place[count] = at;
    value[count++] = v;
  }
  for (int k = 0; k < count; k++)
    if (place[k] == own) {
      value[k] = 0.5;
      return count;
    }
  place[count] = own;
  value[count] = 0.5;
  return count + 1;
}

static Vectors draw_all(int n, int nonzeros) {
  Vectors v = {.n = n, .room = nonzeros + 1};
  size_t entries = (size_t)n * (size_t)v.room;
  v.count = nas_allocate((size_t)n, sizeof(int));
  v.place = nas_allocate(entries, sizeof(int32_t));
  v.value = nas_allocate(entries, sizeof(double));
  int *mark = nas_allocate((size_t)n, sizeof(int));
  int power = 1;
  while (power < n) power *= 2;
  uint64_t x = nas_jump(SEED, 1);
  for (int i = 0; i < n; i++) {
    size_t at = (size_t)i * (size_t)v.room;
    v.count[i] = draw(&x, n, power, nonzeros, i, v.place + at, v.value + at, mark);
  }
  free(mark);
  return v;
}

static int by_column(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

void block_generate(Block *block, int n, int nonzeros, double shift) {
  Vectors v = draw_all(n, nonzeros);
  int rows = block->rows, columns = block->columns;

  /* For each row of the block the entries (vector, value) in it, by ascending vector; and room for all of their products. */
  int *first = nas_allocate((size_t)rows + 1, sizeof(int));
  int64_t room = 0;
  for (int i = 0; i < n; i++) {
    const int32_t *place = v.place + (size_t)i * (size_t)v.room;
    int inside = 0, held = 0;
    for (int k = 0; k < v.count[i]; k++) {
      int row = place[k] - block->first_row, column = place[k] - block->first_column;
      if (row >= 0 && row < rows) first[row + 1]++, held++;
      inside += column >= 0 && column < columns;
    }
    room += (int64_t)held * inside;
  }
  for (int r = 0; r < rows; r++) first[r + 1] += first[r];
  int *next = nas_allocate((size_t)rows, sizeof(int));
  memcpy(next, first, sizeof(int) * (size_t)rows);
  int *vector = nas_allocate((size_t)first[rows], sizeof(int));
  double *factor = nas_allocate((size_t)first[rows], sizeof(double));
  double weight = 1, ratio = pow(CONDITION, 1.0 / n);
  for (int i = 0; i < n; i++, weight *= ratio)
    for (int k = 0; k < v.count[i]; k++) {
      size_t at = (size_t)i * (size_t)v.room + (size_t)k;
      int row = v.place[at] - block->first_row;
      if (row < 0 || row >= rows) continue;
      vector[next[row]] = i;
      factor[next[row]++] = weight * v.value[at];
    }

  /* Row by row: sum into a dense row, then keep what was touched, in the order of columns. */
  double *sum = nas_allocate((size_t)columns, sizeof(double));
  int *touched = nas_allocate((size_t)columns, sizeof(int));
  int32_t *list = nas_allocate((size_t)columns, sizeof(int32_t));
  int32_t *index = nas_allocate((size_t)room, sizeof(int32_t));
  double *value = nas_allocate((size_t)room, sizeof(double));
  block->start = nas_allocate((size_t)rows + 1, sizeof(int));
  int filled = 0;
  for (int r = 0; r < rows; r++) {
    int row = block->first_row + r, listed = 0;
    for (int e = first[r]; e < first[r + 1]; e++)
      for (int k = 0; k < v.count[vector[e]]; k++) {
        size_t at = (size_t)vector[e] * (size_t)v.room + (size_t)k;
        int column = v.place[at] - block->first_column;
        if (column < 0 || column >= columns) continue;
        if (touched[column] != r + 1) {
          touched[column] = r + 1;
          sum[column] = 0;
          list[listed++] = column;
        }
        double product = factor[e] * v.value[at];
        if (v.place[at] == row && vector[e] == row) product += CONDITION - shift;
        sum[column] += product;
      }
    qsort(list, (size_t)listed, sizeof(int32_t), by_column);
    for (int k = 0; k < listed; k++) {
      index[filled] = list[k];
      value[filled++] = sum[list[k]];
    }
    block->start[r + 1] = filled;
  }
  /* Products that share a place left room over. */
  block->index = nas_allocate((size_t)filled, sizeof(int32_t));
  block->value = nas_allocate((size_t)filled, sizeof(double));
  memcpy(block->index, index, sizeof(int32_t) * (size_t)filled);
  memcpy(block->value, value, sizeof(double) * (size_t)filled);

  free(index), free(value), free(sum), free(touched), free(list);
  free(first), free(next), free(vector), free(factor);
  free(v.count), free(v.place), free(v.value);
}

void block_times(const Block *block, const double *restrict x, double *restrict y) {
  const int *restrict start = block->start;
  const int32_t *restrict index = block->index;
  const double *restrict value = block->value;
  for (int r = 0; r < block->rows; r++) {
    double sum = 0;
    for (int k = start[r]; k < start[r + 1]; k++) sum += value[k] * x[index[k]];
    y[r] = sum;
  }
}
