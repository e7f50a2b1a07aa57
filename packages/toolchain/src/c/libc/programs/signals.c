/* Signals that a program sends to itself: what gcc and glibc print of it is what signals.test.ts expects. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static jmp_buf place;
static sigjmp_buf with_mask;
static volatile int calls, last;
static void jump(int n) { printf("abort %d, ", n == SIGABRT); longjmp(place, 1); }
static void note(int n) { calls++; last = n; }
static void nested(int n) { raise(n); raise(SIGUSR2); printf("in %d %d, ", calls, last == SIGUSR2); }
static void inform(int n, siginfo_t *i, void *u) { (void)u; printf("info %d %d, ", i->si_signo == n, i->si_pid == getpid()); }
static void leave(int n) { siglongjmp(with_mask, n); }
int main(int argc, char **argv) {
  (void)argv;
  sigset_t s, p, old;
  struct sigaction a, before;
  signal(SIGABRT, jump);
  if (!setjmp(place)) abort();
  if (!setjmp(place)) assert(argc > 100);
  if (!setjmp(place)) abort();
  puts("on");

  memset(&a, 0, sizeof a);
  a.sa_sigaction = inform;
  a.sa_flags = SA_SIGINFO | SA_RESETHAND;
  printf("%d ", sigaction(SIGTERM, &a, NULL));
  kill(getpid(), SIGTERM);
  sigaction(SIGTERM, NULL, &before);
  printf("reset %d\n", before.sa_handler == SIG_DFL);

  sigemptyset(&s); sigaddset(&s, SIGUSR1);
  printf("%d%d ", sigismember(&s, SIGUSR1), sigismember(&s, SIGUSR2));
  signal(SIGUSR1, note);
  sigprocmask(SIG_BLOCK, &s, &old);
  raise(SIGUSR1); raise(SIGUSR1);
  sigpending(&p);
  printf("blocked %d pending %d ", calls, sigismember(&p, SIGUSR1));
  sigprocmask(SIG_SETMASK, &old, NULL);
  printf("delivered %d\n", calls);

  calls = 0;
  a.sa_handler = nested; a.sa_flags = 0; sigemptyset(&a.sa_mask); sigaddset(&a.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &a, NULL); signal(SIGUSR2, note);
  raise(SIGUSR2); raise(SIGUSR2);
  sigprocmask(SIG_BLOCK, &s, NULL); raise(SIGUSR1); signal(SIGUSR1, SIG_IGN); sigprocmask(SIG_UNBLOCK, &s, NULL);
  printf("dropped %d ", calls);
  a.sa_flags = SA_RESETHAND; a.sa_handler = nested; sigdelset(&a.sa_mask, SIGUSR2);
  calls = 0; signal(SIGINT, note);
  a.sa_mask = s; sigaction(SIGQUIT, &a, NULL); signal(SIGUSR1, note);
  sigaddset(&s, SIGQUIT); a.sa_flags = 0; a.sa_handler = note; sigaction(SIGHUP, &a, NULL);
  raise(SIGHUP); printf("%d\n", last == SIGHUP);

  int left = sigsetjmp(with_mask, 1);
  if (left == 0) { signal(SIGFPE, leave); raise(SIGFPE); }
  sigprocmask(SIG_BLOCK, NULL, &old);
  printf("left by %d blocked %d\n", left == SIGFPE, sigismember(&old, SIGFPE));

  printf("%d %d ", signal(SIGKILL, note) == SIG_ERR && errno == EINVAL, signal(99, note) == SIG_ERR);
  printf("%d %d %d ", raise(SIGCHLD), kill(getpid(), 0), kill(12345, 9) == -1 && errno == ESRCH);
  left = (int)alarm(100);
  printf("alarm %d %d\n", left, alarm(0) > 0);
  fflush(stdout);
  raise(SIGXCPU);
  puts("not here");
  return 0;
}
