/*
 * What the examples in C and C++ read from the command line: `--name value`, in any order, each with a default. Texts that are no number
 * or lie outside their range end the program with exit code 2, on every rank alike.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text behind `--name`, or `otherwise`. */
const char *option_text(int argc, char **argv, const char *name, const char *otherwise);
/* The number behind `--name`, or `otherwise`; it may be written as 5e8. */
int64_t option_number(int argc, char **argv, const char *name, int64_t otherwise, int64_t least, int64_t most);

/* Ends the whole program with exit code 2 and this message. To be called after MPI_Init. */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#ifdef __cplusplus
}
#endif
#endif
