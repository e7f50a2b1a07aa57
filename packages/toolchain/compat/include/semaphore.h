/* wasi-libc's; the functions are threads.c's. */
#include_next <semaphore.h>
#ifndef MAYFLY_SEMAPHORE_H
#define MAYFLY_SEMAPHORE_H
#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX 0x7fffffff
#endif
#endif
