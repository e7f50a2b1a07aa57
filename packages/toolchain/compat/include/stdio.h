/* wasi-libc's, with popen() and pclose(), which answer that there is no shell. */
#include_next <stdio.h>
#ifndef MAYFLY_STDIO_H
#define MAYFLY_STDIO_H
#ifdef __cplusplus
extern "C" {
#endif
FILE *popen(const char *, const char *);
int pclose(FILE *);
#ifdef __cplusplus
}
#endif
#endif
