/* wasi-libc's, with glibc's aligned allocations. */
#include_next <malloc.h>
#ifndef MAYFLY_MALLOC_H
#define MAYFLY_MALLOC_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memalign(size_t, size_t);
void *valloc(size_t);
void *pvalloc(size_t);
int malloc_trim(size_t);
#ifdef __cplusplus
}
#endif
#endif
