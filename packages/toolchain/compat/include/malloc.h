/* wasi-libc's, with glibc's aligned allocations, and what is known of the heap. */
#include_next <malloc.h>
#ifndef MAYFLY_MALLOC_H
#define MAYFLY_MALLOC_H
#include <stddef.h>
struct mallinfo { int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
struct mallinfo2 { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
#define M_MXFAST 1
#define M_TRIM_THRESHOLD (-1)
#define M_TOP_PAD (-2)
#define M_MMAP_THRESHOLD (-3)
#define M_MMAP_MAX (-4)
#define M_CHECK_ACTION (-5)
#define M_PERTURB (-6)
#define M_ARENA_TEST (-7)
#define M_ARENA_MAX (-8)
#ifdef __cplusplus
extern "C" {
#endif
void *memalign(size_t, size_t);
void *valloc(size_t);
void *pvalloc(size_t);
int malloc_trim(size_t);
struct mallinfo mallinfo(void);
struct mallinfo2 mallinfo2(void);
int mallopt(int, int);
void malloc_stats(void);
#ifdef __cplusplus
}
#endif
#endif
