/*
 * A picture file that can be written bit by bit: a PNG of fixed size in which every band of rows has a chunk of its own, with
 * its bytes stored instead of deflated. So each pixel has a fixed place in the file, and a band can be overwritten while the rest stays.
 *
 * Owns the bytes of the file in memory, and the open file.
 *
 * Invariants
 *  P1 After png_open and after every png_write_rows the file on disk is a whole, valid PNG; what was not written is black.
 *  P2 Its bytes depend on the pixels alone, not on the order in which they were written.
 */
#ifndef PNG_H
#define PNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Png Png;

/* Starts a picture of width × height pixels with three bytes each (red, green, blue), in bands of `band` rows. NULL: it cannot be opened. */
Png *png_open(const char *path, int width, int height, int band);
/* Puts a rectangle of pixels, row by row, into the picture in memory. */
void png_put(Png *png, int left, int top, int width, int height, const uint8_t *rgb);
/* Writes the bands which hold these rows to the file. Returns 0, or -1 when the disk refuses. */
int png_write_rows(Png *png, int top, int height);
/* A hash (FNV-1a, 64 bits) of all pixels. */
uint64_t png_hash(const Png *png);
/* Closes the file. Returns 0, or -1 when something could not be written. */
int png_close(Png *png);

#ifdef __cplusplus
}
#endif
#endif
