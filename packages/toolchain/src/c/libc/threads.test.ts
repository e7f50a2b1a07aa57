/** Mutexes of the rank's one thread; the sentences are POSIX's (pthread_mutex_lock, pthread_mutex_timedlock). */
import { expect, it } from 'vitest';
import { runProgram } from './run-for-tests.ts';

const HEAD = `
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t of(int type) {
  pthread_mutexattr_t a; pthread_mutex_t m;
  pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, type); pthread_mutex_init(&m, &a);
  return m;
}
static const char *name(int e) {
  return e == 0 ? "0" : e == EBUSY ? "EBUSY" : e == EDEADLK ? "EDEADLK" : e == EPERM ? "EPERM" : e == ETIMEDOUT ? "ETIMEDOUT" : "?";
}
#define L(m) name(pthread_mutex_lock(&m))
#define T(m) name(pthread_mutex_trylock(&m))
#define U(m) name(pthread_mutex_unlock(&m))
`;

it('a recursive mutex is locked as often as its thread asks, and "shall maintain the concept of a lock count"', () => {
  const { out } = runProgram(`${HEAD}
int main(void) {
  pthread_mutex_t m = of(PTHREAD_MUTEX_RECURSIVE), s = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  printf("%s %s %s, ", L(m), L(m), T(m));
  printf("%s, ", name(pthread_mutex_destroy(&m)));
  printf("%s %s %s, ", U(m), U(m), U(m));
  printf("%s\\n", U(m));
  printf("%s %s %s\\n", L(s), L(s), T(s));
  return 0;
}`);
  expect(out).toBe('0 0 0, EBUSY, 0 0 0, EPERM\n0 0 0\n');
});

it('one that checks errors "shall return an error" when its thread locks it again', () => {
  const { out, err } = runProgram(`${HEAD}
int main(void) {
  pthread_mutex_t m = of(PTHREAD_MUTEX_ERRORCHECK), s = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  printf("%s, ", U(m));
  printf("%s %s %s, ", L(m), L(m), T(m));
  printf("%s %s\\n", L(s), L(s));
  return 0;
}`);
  expect(out).toBe('EPERM, 0 EDEADLK EBUSY, 0 EDEADLK\n');
  expect(err).toBe('');
});

it('trylock() of a locked mutex is EBUSY; a lock that would wait for ever is EDEADLK, and is named', () => {
  const { out, err } = runProgram(`${HEAD}
int main(void) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = of(PTHREAD_MUTEX_NORMAL);
  struct timespec past = {1, 0};
  printf("%s %s, ", T(m), T(m));
  printf("%s %s, ", L(n), T(n));
  printf("%s, ", name(pthread_mutex_timedlock(&n, &past)));
  printf("%s %s, ", U(m), L(m));
  printf("%s\\n", L(m));
  return 0;
}`);
  expect(out).toBe('0 EBUSY, 0 EBUSY, ETIMEDOUT, 0 0, EDEADLK\n');
  expect(err).toBe(
    "mayfly: pthread_mutex_lock: the rank's only thread holds this mutex and would wait for itself: EDEADLK\n",
  );
});

it('std::recursive_mutex, and try_lock of a std::mutex', () => {
  const { out } = runProgram(
    `
#include <cstdio>
#include <mutex>
int main() {
  std::recursive_mutex r; std::mutex m;
  std::scoped_lock once(r), twice(r);
  std::scoped_lock other(m);
  std::printf("%d %d\\n", r.try_lock(), m.try_lock());
}`,
    { name: '/main.cc', flags: ['-std=c++20'] },
  );
  expect(out).toBe('1 0\n');
});
