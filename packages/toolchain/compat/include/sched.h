/* wasi-libc's, with the affinity of a machine that has one processor (shown without _GNU_SOURCE too). */
#include_next <sched.h>
#ifndef MAYFLY_SCHED_H
#define MAYFLY_SCHED_H
#include <string.h>
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef CPU_SETSIZE
typedef struct cpu_set_t { unsigned long __bits[32]; } cpu_set_t;
#define CPU_SETSIZE 1024
#define CPU_ZERO(s) memset((s), 0, sizeof *(s))
#define CPU_SET(i, s) ((void)((s)->__bits[(i) / 32 % 32] |= 1ul << (i) % 32))
#define CPU_CLR(i, s) ((void)((s)->__bits[(i) / 32 % 32] &= ~(1ul << (i) % 32)))
#define CPU_ISSET(i, s) (((s)->__bits[(i) / 32 % 32] >> (i) % 32 & 1) != 0)
static __inline int __mayfly_cpu_count(const cpu_set_t *__set) {
  int __n = 0;
  int __i;
  for (__i = 0; __i < 32; __i++) __n += __builtin_popcountl(__set->__bits[__i]);
  return __n;
}
#define CPU_COUNT(s) __mayfly_cpu_count(s)
int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
int sched_getaffinity(pid_t, size_t, cpu_set_t *);
#endif
int sched_getcpu(void);
#ifdef __cplusplus
}
#endif
#endif
