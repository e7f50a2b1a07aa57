/** Semaphores and waits for signals of the one thread that a rank has; tables of mounts; obstacks. */
import { expect, it } from 'vitest';
import { runProgram } from './run-for-tests.ts';

it('a semaphore counts; a wait that nobody can end is EDEADLK, one with a time ends with it', () => {
  const { out, err } = runProgram(`
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
int main(void) {
  sem_t s; int value = -1;
  printf("%d ", sem_init(&s, 0, 1));
  printf("%d %d %d ", sem_wait(&s), sem_trywait(&s), errno == EAGAIN);
  printf("%d %d ", sem_post(&s), sem_post(&s));
  printf("%d %d\\n", sem_getvalue(&s, &value), value);
  struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec = 0;
  printf("%d %d ", sem_timedwait(&s, &t), sem_wait(&s));
  printf("%d %d ", sem_timedwait(&s, &t), errno == ETIMEDOUT);
  printf("%d %d %d ", sem_wait(&s), errno == EDEADLK, sem_destroy(&s));
  printf("%d %d\\n", sem_init(&s, 0, -1u), errno == EINVAL);
}`);
  expect(out).toBe('0 0 -1 1 0 0 0 2\n0 0 -1 1 -1 1 0 -1 1\n');
  expect(err).toMatch(/^mayfly: sem_wait: the semaphore is 0, .*EDEADLK\n$/);
});

it('sigsuspend, sigwait and their kin take what is pending, and do not wait for what nobody sends', () => {
  const { out, err } = runProgram(`
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static int got;
static void note(int n) { got += n; }
int main(void) {
  sigset_t set, none; int n = 0; siginfo_t i; struct timespec t = {0, 1000};
  sigemptyset(&none); sigemptyset(&set); sigaddset(&set, SIGUSR1); sigaddset(&set, SIGUSR2);
  signal(SIGUSR1, note); sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
  printf("%d ", got); printf("%d %d %d ", sigsuspend(&none), errno == EINTR, got == SIGUSR1);
  raise(SIGUSR1); raise(SIGUSR2);
  printf("%d %d ", sigwait(&set, &n), n == SIGUSR1);
  printf("%d %d ", sigwaitinfo(&set, &i) == SIGUSR2, i.si_signo == SIGUSR2);
  printf("%d %d\\n", got == SIGUSR1, sigpending(&none) == 0 && sigismember(&none, SIGUSR2));
  sigemptyset(&none);
  printf("%d %d ", sigsuspend(&none), errno == EDEADLK);
  printf("%d %d ", pause(), errno == EDEADLK);
  printf("%d ", sigwait(&set, &n) == EDEADLK);
  printf("%d %d ", sigtimedwait(&set, NULL, &t), errno == EAGAIN);
  raise(SIGUSR2);
  printf("%d\\n", sigtimedwait(&set, NULL, &t) == SIGUSR2);
}`);
  expect(out).toBe('0 -1 1 1 0 1 1 1 1 0\n-1 1 -1 1 1 -1 1 1\n');
  expect(err.match(/^mayfly: \w+/gm)).toEqual(['mayfly: sigsuspend', 'mayfly: pause', 'mayfly: sigwait']);
});

it('a table of mounts that the program brings along is read and written', () => {
  const { out } = runProgram(`
#define _GNU_SOURCE
#include <mntent.h>
#include <stdio.h>
int main(void) {
  static char room[200];
  FILE *f = fmemopen(room, sizeof room, "w+");
  struct mntent e = {"/dev/a b", "/mnt", "ext4", "rw,nosuid,size=5", 1, 2}, *m;
  fputs("# a comment\\n\\nproc\\t/proc proc ro\\n", f);
  printf("%d\\n", addmntent(f, &e)); rewind(f);
  while ((m = getmntent(f)) != NULL)
    printf("%s|%s|%s|%s|%d|%d|%d%d%d\\n", m->mnt_fsname, m->mnt_dir, m->mnt_type, m->mnt_opts, m->mnt_freq, m->mnt_passno,
           hasmntopt(m, "suid") != NULL, hasmntopt(m, "size") != NULL, hasmntopt(m, "ro") != NULL);
  printf("%d\\n", endmntent(f));
}`);
  expect(out).toBe('0\nproc|/proc|proc|ro|0|0|001\n/dev/a b|/mnt|ext4|rw,nosuid,size=5|1|2|010\n1\n');
});

it.each(['main.c', 'main.cc'])('objects grow in an obstack and are freed in the reverse order (%s)', (name) => {
  const { out } = runProgram(
    `
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int chunks;
static void *take(size_t n) { chunks++; return malloc(n); }
static void give(void *p) { chunks--; free(p); }
#define obstack_chunk_alloc take
#define obstack_chunk_free give
int main(void) {
  struct obstack o; int ok = 1;
  obstack_init(&o);
  char *a = (char *)obstack_copy0(&o, "first", 5), *b;
  for (int i = 0; i < 26; i++) obstack_1grow(&o, 'a' + i);
  obstack_grow0(&o, "!", 1);
  printf("%d ", (int)obstack_object_size(&o));
  b = (char *)obstack_finish(&o);
  printf("%s %s %d\\n", a, b, (int)((size_t)b % 16));
  int *big = (int *)obstack_alloc(&o, 40000);
  for (int i = 0; i < 10000; i++) big[i] = i;
  for (int i = 0; i < 5000; i++) obstack_int_grow(&o, i);
  int *list = (int *)obstack_finish(&o);
  for (int i = 0; i < 5000; i++) ok &= list[i] == i && big[i] == i;
  printf("%d %d %d ", ok, chunks > 1, obstack_memory_used(&o) > 60000);
  printf("%d ", obstack_printf(&o, "%s %d", "ten", 10)); obstack_1grow(&o, 0);
  printf("%s\\n", (char *)obstack_finish(&o));
  obstack_free(&o, big);
  char *c = (char *)obstack_copy0(&o, "again", 5);
  printf("%s %s %d ", a, c, (char *)big == c);
  obstack_free(&o, a);
  printf("%d %d ", chunks, obstack_empty_p(&o));
  obstack_free(&o, NULL);
  printf("%d\\n", chunks);
}`,
    { name: `/${name}` },
  );
  expect(out).toBe('28 first abcdefghijklmnopqrstuvwxyz! 0\n1 1 1 6 ten 10\nfirst again 1 1 1 0\n');
});
