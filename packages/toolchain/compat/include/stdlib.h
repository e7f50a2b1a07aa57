/* wasi-libc's, with temporary files, and what it has but does not declare. */
#include_next <stdlib.h>
#ifndef MAYFLY_STDLIB_H
#define MAYFLY_STDLIB_H
#ifdef __cplusplus
extern "C" {
#endif
int mkstemp(char *);
char *mkdtemp(char *);
int getloadavg(double [], int);
#if defined(_BSD_SOURCE) || defined(_GNU_SOURCE)
void *valloc(size_t);
void *reallocarray(void *, size_t, size_t);
#endif
#ifdef _GNU_SOURCE
char *secure_getenv(const char *);
void qsort_r(void *, size_t, size_t, int (*)(const void *, const void *, void *), void *);
#endif
#ifdef __cplusplus
}
#endif
#endif
