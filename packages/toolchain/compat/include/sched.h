/* wasi-libc's, with the affinity of a machine that has one processor. */
#include_next <sched.h>
#ifndef MAYFLY_SCHED_H
#define MAYFLY_SCHED_H
#ifdef __cplusplus
extern "C" {
#endif
int sched_getcpu(void);
#ifdef __cplusplus
}
#endif
#endif
