/* wasi-libc's, with what programs that place their threads call (there is one processor, and names are for nobody) and glibc's initialisers. */
#include_next <pthread.h>
#ifndef MAYFLY_PTHREAD_H
#define MAYFLY_PTHREAD_H
#include <sched.h>
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP {{{PTHREAD_MUTEX_RECURSIVE}}}
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP {{{PTHREAD_MUTEX_ERRORCHECK}}}
#define PTHREAD_MUTEX_RECURSIVE_NP PTHREAD_MUTEX_RECURSIVE
#define PTHREAD_MUTEX_ERRORCHECK_NP PTHREAD_MUTEX_ERRORCHECK
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
