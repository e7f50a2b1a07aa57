/*
 * A symmetric positive definite matrix, whole or a block of its rows, by rows (CSR): the entries of row i are start[i] … start[i + 1] − 1.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdint.h>

typedef struct {
  int n;       /* rows here */
  int *start;  /* n + 1 */
  int *column; /* numbers of unknowns; in a distributed matrix, places in the local vector */
  double *value;
} Matrix;

/* Reads a Matrix Market file (real, coordinate, symmetric: one triangle is stored). Returns NULL, or what is wrong with it. */
const char *matrix_read(Matrix *matrix, const char *path);
/* The 5-point Laplacian on k × k points. */
void matrix_poisson(Matrix *matrix, int k);
/* The first row of part k, when the rows are shared out in blocks of about as many entries each. */
int matrix_cut(const Matrix *matrix, int k, int parts);
void matrix_free(Matrix *matrix);
/* Memory, or the end of the program. */
void *allocate(int64_t count, int64_t each);

#endif
