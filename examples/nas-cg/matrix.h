/* The sparse matrix of NAS CG, and the block of it that one rank of the process grid holds. */
#ifndef NAS_CG_MATRIX_H
#define NAS_CG_MATRIX_H

#include <stdint.h>

/* Rows [first_row, first_row + rows) and columns [first_column, first_column + columns) of the matrix, in compressed rows. */
typedef struct {
  int first_row, rows, first_column, columns;
  int *start;     /* rows + 1 */
  int32_t *index; /* column, counted from first_column */
  double *value;
} Block;

/* Fills in the entries of a block whose place is set: order n, `nonzeros` per random vector, the eigenvalue shift. */
void block_generate(Block *block, int n, int nonzeros, double shift);
/* y = A x, x by columns of the block, y by rows. */
void block_times(const Block *block, const double *restrict x, double *restrict y);

#endif
