/* wasi-libc's, with temporary files. */
#include_next <stdlib.h>
#ifndef MAYFLY_STDLIB_H
#define MAYFLY_STDLIB_H
#ifdef __cplusplus
extern "C" {
#endif
int mkstemp(char *);
char *mkdtemp(char *);
int getloadavg(double [], int);
#ifdef __cplusplus
}
#endif
#endif
