/*
 * Threads for a rank, which has one: mutexes of every type as POSIX has them, the affinity of a machine with one processor, and no second
 * thread. wasi-libc has mutexes too, but takes one type for the other, and locks what is locked.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include "own.h"

/* The words of a pthread_mutex_t: wasi-libc's pthread_mutex_init() writes the type into the first, and PTHREAD_MUTEX_INITIALIZER zeros all. */
#define TYPE(m) ((m)->__u.__i[0] & 3)
#define HELD(m) ((m)->__u.__i[5])

WEAK int pthread_mutex_trylock(pthread_mutex_t *m) {
  if (HELD(m) > 0 && TYPE(m) != PTHREAD_MUTEX_RECURSIVE) return EBUSY;
  if (HELD(m) == INT_MAX) return EAGAIN;
  HELD(m)++;
  return 0;
}

WEAK int pthread_mutex_lock(pthread_mutex_t *m) {
  const int answer = pthread_mutex_trylock(m);
  if (answer != EBUSY) return answer;
  if (TYPE(m) != PTHREAD_MUTEX_ERRORCHECK)
    refuse("pthread_mutex_lock", "the rank's only thread holds this mutex and would wait for itself: EDEADLK");
  return EDEADLK;
}

/* Nobody else unlocks it meanwhile. */
WEAK int pthread_mutex_timedlock(pthread_mutex_t *__restrict m, const struct timespec *__restrict until) {
  const int answer = pthread_mutex_trylock(m);
  if (answer != EBUSY) return answer;
  if (TYPE(m) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000) return EINVAL;
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, until, NULL) == EINTR) continue;
  return ETIMEDOUT;
}

WEAK int pthread_mutex_unlock(pthread_mutex_t *m) {
  if (HELD(m) == 0) return EPERM;
  HELD(m)--;
  return 0;
}

WEAK int pthread_mutex_destroy(pthread_mutex_t *m) { return HELD(m) > 0 ? EBUSY : 0; }

WEAK int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) { (void)thread; return sched_setaffinity(0, size, set); }
WEAK int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) { (void)thread; return sched_getaffinity(0, size, set); }
WEAK int pthread_setname_np(pthread_t thread, const char *name) { (void)thread; (void)name; return 0; }

WEAK int pthread_create(pthread_t *__restrict thread, const pthread_attr_t *__restrict attributes, void *(*start)(void *), void *__restrict argument) {
  (void)thread; (void)attributes; (void)start; (void)argument;
  refuse("pthread_create", "a rank has one thread; use more ranks");
  return EAGAIN;
}
