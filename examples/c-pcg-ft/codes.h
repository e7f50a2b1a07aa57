/*
 * Checksums of the states of n ranks, held by c further ranks (Chen and others, section 3.3; docs/codes.md). A state is a row of doubles. Any k ≤ c lost states are made
 * again from the others and from k checksums that are left.
 *
 *   gf     the bytes are elements of GF(2⁸), the matrix is Cauchy's: what comes back is what was lost, bit by bit. With c = 1 it is the exclusive or
 *   real   the paper's code: sums with random weights. What comes back differs in the last digits
 */
#ifndef CODES_H
#define CODES_H

#include <mpi.h>

typedef enum { CODE_GF, CODE_REAL } Code;

/* The sum's operation and the type of its elements, of which a double has `per`. */
MPI_Op code_op(Code code);
MPI_Datatype code_type(Code code);
int code_per(Code code);

/* into += coefficient (checksum i, state j; of n states, c checksums) × from, or −=. `length` in doubles. */
void code_add(Code code, int i, int j, int n, int c, int minus, const double *from, double *into, int length);
/*
 * The inverse of the k × k matrix of these checksums (rows) and lost states (columns); weights[j · k + i] is the factor of checksum rows[i] in lost state columns[j].
 * Returns 0 if there is none.
 */
int code_invert(Code code, int k, const int *rows, const int *columns, int n, int c, double *weights);
/* into += weight × from */
void code_scale(Code code, double weight, const double *from, double *into, int length);

#endif
