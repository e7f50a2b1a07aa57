/* wasi-libc's, with what programs that place their threads call: there is one processor, and names are for nobody. */
#include_next <pthread.h>
#ifndef MAYFLY_PTHREAD_H
#define MAYFLY_PTHREAD_H
#include <sched.h>
#ifdef __cplusplus
extern "C" {
#endif
int pthread_setaffinity_np(pthread_t, size_t, const cpu_set_t *);
int pthread_getaffinity_np(pthread_t, size_t, cpu_set_t *);
int pthread_setname_np(pthread_t, const char *);
#ifdef __cplusplus
}
#endif
#endif
