/*
 * Threads for a rank, which has one: mutexes of every type and semaphores as POSIX has them, the affinity of a machine with one processor, and no second
 * thread. wasi-libc has mutexes too, but takes one type for the other, and locks what is locked.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
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

/* Semaphores. What only another thread could post is no reason to wait for ever. */
#define COUNT(s) ((s)->__val[0])
static int answer(int error) { if (error != 0) errno = error; return error == 0 ? 0 : -1; }
WEAK int sem_init(sem_t *s, int shared, unsigned value) {
  (void)shared;
  if (value > SEM_VALUE_MAX) return answer(EINVAL);
  COUNT(s) = (int)value;
  return 0;
}
WEAK int sem_destroy(sem_t *s) { (void)s; return 0; }
WEAK int sem_getvalue(sem_t *__restrict s, int *__restrict value) { *value = COUNT(s); return 0; }
WEAK int sem_post(sem_t *s) {
  if (COUNT(s) == SEM_VALUE_MAX) return answer(EOVERFLOW);
  COUNT(s)++;
  return 0;
}
WEAK int sem_trywait(sem_t *s) {
  if (COUNT(s) == 0) return answer(EAGAIN);
  COUNT(s)--;
  return 0;
}
WEAK int sem_wait(sem_t *s) {
  if (sem_trywait(s) == 0) return 0;
  refuse("sem_wait", "the semaphore is 0, and the rank's only thread would wait for itself: EDEADLK");
  return answer(EDEADLK);
}
WEAK int sem_timedwait(sem_t *__restrict s, const struct timespec *__restrict until) {
  if (sem_trywait(s) == 0) return 0;
  if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000) return answer(EINVAL);
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, until, NULL) == EINTR) continue;
  return answer(ETIMEDOUT);
}

WEAK int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) { (void)thread; return sched_setaffinity(0, size, set); }
WEAK int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) { (void)thread; return sched_getaffinity(0, size, set); }
WEAK int pthread_setname_np(pthread_t thread, const char *name) { (void)thread; (void)name; return 0; }

WEAK int pthread_create(pthread_t *__restrict thread, const pthread_attr_t *__restrict attributes, void *(*start)(void *), void *__restrict argument) {
  (void)thread; (void)attributes; (void)start; (void)argument;
  refuse("pthread_create", "a rank has one thread; use more ranks");
  return EAGAIN;
}

/* <threads.h> of C11: its mutexes and keys are POSIX's. */
static int answer_of(int e) { return e == 0 ? thrd_success : e == EBUSY ? thrd_busy : e == ETIMEDOUT ? thrd_timedout : thrd_error; }
#define MUTEX(m) ((pthread_mutex_t *)(void *)(m))
_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t), "mtx_t and cnd_t have room");
WEAK int mtx_init(mtx_t *m, int type) {
  memset(m, 0, sizeof *m);
  MUTEX(m)->__u.__i[0] = type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
  return thrd_success;
}
WEAK void mtx_destroy(mtx_t *m) { (void)m; }
WEAK int mtx_lock(mtx_t *m) { return answer_of(pthread_mutex_lock(MUTEX(m))); }
WEAK int mtx_trylock(mtx_t *m) { return answer_of(pthread_mutex_trylock(MUTEX(m))); }
WEAK int mtx_timedlock(mtx_t *__restrict m, const struct timespec *__restrict until) { return answer_of(pthread_mutex_timedlock(MUTEX(m), until)); }
WEAK int mtx_unlock(mtx_t *m) { return answer_of(pthread_mutex_unlock(MUTEX(m))); }
WEAK void call_once(once_flag *flag, void (*f)(void)) { if (!*flag) { *flag = 1; f(); } }
WEAK int tss_create(tss_t *key, tss_dtor_t destroy) { return answer_of(pthread_key_create((pthread_key_t *)key, destroy)); }
WEAK void tss_delete(tss_t key) { pthread_key_delete(key); }
WEAK int tss_set(tss_t key, void *value) { return answer_of(pthread_setspecific(key, value)); }
WEAK void *tss_get(tss_t key) { return pthread_getspecific(key); }
WEAK int cnd_init(cnd_t *c) { memset(c, 0, sizeof *c); return thrd_success; }
WEAK void cnd_destroy(cnd_t *c) { (void)c; }
WEAK int cnd_signal(cnd_t *c) { (void)c; return thrd_success; }
WEAK int cnd_broadcast(cnd_t *c) { (void)c; return thrd_success; }
WEAK void thrd_yield(void) {}
WEAK int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
  (void)thread; (void)start; (void)argument;
  refuse("thrd_create", "a rank has one thread; use more ranks");
  return thrd_error;
}
WEAK int thrd_join(thrd_t thread, int *result) { (void)thread; (void)result; return thrd_error; }
WEAK int thrd_detach(thrd_t thread) { (void)thread; return thrd_error; }
/* "The program terminates normally after the last thread has been terminated." */
WEAK _Noreturn void thrd_exit(int result) { (void)result; exit(0); }
