#include "matrix.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *allocate(int64_t count, int64_t each) {
  void *p = calloc((size_t)count + 1, (size_t)each);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 3);
  return p;
}

static void make(Matrix *m, int n, int entries) {
  m->n = n;
  m->start = allocate(n + 1, sizeof *m->start);
  m->column = allocate(entries, sizeof *m->column);
  m->value = allocate(entries, sizeof *m->value);
}

static const char *refused(FILE *file, const char *why) {
  fclose(file);
  return why;
}

const char *matrix_read(Matrix *m, const char *path) {
  char line[1024], format[64] = "", field[64] = "", symmetry[64] = "";
  FILE *file = fopen(path, "r");
  if (!file) return "it cannot be opened";
  if (!fgets(line, sizeof line, file) || sscanf(line, "%%%%MatrixMarket matrix %63s %63s %63s", format, field, symmetry) != 3) return refused(file, "it is no Matrix Market file");
  for (char *p = symmetry; *p; p++) *p = (char)tolower((unsigned char)*p);
  if (strcmp(format, "coordinate") != 0 || strcmp(field, "real") != 0 || strcmp(symmetry, "symmetric") != 0) return refused(file, "it is not of kind 'coordinate real symmetric'");
  do
    if (!fgets(line, sizeof line, file)) return refused(file, "it has no sizes");
  while (line[0] == '%');
  int rows, columns, stored;
  if (sscanf(line, "%d %d %d", &rows, &columns, &stored) != 3 || rows != columns || rows < 1 || stored < 1 || stored > 100000000) return refused(file, "its sizes make no sense");

  int *i = allocate(stored, sizeof *i), *j = allocate(stored, sizeof *j), *fill = allocate(rows + 1, sizeof *fill);
  double *a = allocate(stored, sizeof *a);
  const char *wrong = NULL;
  int entries = 0;
  for (int k = 0; k < stored && !wrong; k++) {
    if (fscanf(file, "%d %d %lf", &i[k], &j[k], &a[k]) != 3) wrong = "it has fewer entries than it says";
    else if (i[k] < 1 || i[k] > rows || j[k] < 1 || j[k] > rows) wrong = "an entry lies outside";
    else {
      entries += i[k] == j[k] ? 1 : 2;
      fill[i[k] - 1]++;
      if (i[k] != j[k]) fill[j[k] - 1]++;
    }
  }
  if (!wrong) {
    make(m, rows, entries);
    for (int r = 0; r < rows; r++) m->start[r + 1] = m->start[r] + fill[r];
    memcpy(fill, m->start, (size_t)rows * sizeof *fill);
    for (int k = 0; k < stored; k++) {
      const int r = i[k] - 1, c = j[k] - 1;
      m->column[fill[r]] = c;
      m->value[fill[r]++] = a[k];
      if (r == c) continue;
      m->column[fill[c]] = r;
      m->value[fill[c]++] = a[k];
    }
  }
  free(i);
  free(j);
  free(a);
  free(fill);
  return refused(file, wrong);
}

void matrix_poisson(Matrix *m, int k) {
  make(m, k * k, 5 * k * k);
  int at = 0;
  for (int r = 0; r < k * k; r++) {
    const int y = r / k, x = r % k;
    const int there[5] = {y > 0, x > 0, 1, x + 1 < k, y + 1 < k}, away[5] = {-k, -1, 0, 1, k};
    for (int e = 0; e < 5; e++) {
      if (!there[e]) continue;
      m->column[at] = r + away[e];
      m->value[at++] = e == 2 ? 4 : -1;
    }
    m->start[r + 1] = at;
  }
}

int matrix_cut(const Matrix *m, int k, int parts) {
  if (k >= parts) return m->n;
  const int64_t wanted = (int64_t)m->start[m->n] * k / parts;
  int row = 0;
  while (m->start[row] < wanted) row++;
  return row;
}

void matrix_free(Matrix *m) {
  free(m->start);
  free(m->column);
  free(m->value);
}
