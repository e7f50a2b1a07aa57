/*
 * Signals for a rank, to which nobody but itself can send one: raise(), kill() of itself and abort() call its handlers as POSIX says, by the
 * mask and the flags. In place of wasi-libc's emulation, which knows no masks and no sigaction(), and of its abort(), which calls no handler.
 *
 * Owns the actions, the set of blocked and the set of pending signals. They lie in the program's memory, so an image has them.
 * Invariant: outside of these functions, no signal is pending that is not blocked.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "own.h"

typedef unsigned long long Set;
#define BIT(n) (1ULL << ((n) - 1))
#define IS_SIGNAL(n) ((n) > 0 && (n) < _NSIG)
#define NEVER_CAUGHT (BIT(SIGKILL) | BIT(SIGSTOP))
#define IGNORED_BY_DEFAULT (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))
#define STOPPING (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

static struct sigaction actions[_NSIG];
static Set blocked, pending;

/* Functions on wasm are small numbers: 1 is one of the program's. */
WEAK void __SIG_ERR(int n) { (void)n; }
WEAK void __SIG_IGN(int n) { (void)n; }

static int invalid(void) { errno = EINVAL; return -1; }

static void by_default(int n) {
  if (BIT(n) & IGNORED_BY_DEFAULT) return;
  if (BIT(n) & STOPPING) {
    refuse("raise", "nobody could let a stopped rank go on");
    return;
  }
  if (n != SIGABRT) fprintf(stderr, "mayfly: the signal %d (%s), for which there is no handler, ends the program\n", n, strsignal(n));
  __builtin_trap();
}

static int ignored(int n) {
  return actions[n].sa_handler == SIG_IGN || (actions[n].sa_handler == SIG_DFL && (BIT(n) & IGNORED_BY_DEFAULT));
}

static void deliver(int n) {
  const struct sigaction a = actions[n];
  if (ignored(n)) return;
  if (a.sa_handler == SIG_DFL) {
    by_default(n);
    return;
  }
  if (a.sa_flags & SA_RESETHAND) actions[n].sa_handler = SIG_DFL;
  const Set before = blocked;
  blocked |= (a.sa_mask.mayfly_signals | (a.sa_flags & SA_NODEFER ? 0 : BIT(n))) & ~NEVER_CAUGHT;
  if (a.sa_flags & SA_SIGINFO) {
    siginfo_t information = {.si_signo = n, .si_code = SI_TKILL, .si_pid = getpid(), .si_uid = getuid()};
    a.sa_sigaction(n, &information, NULL);
  } else a.sa_handler(n);
  blocked = before;
}

static void deliver_pending(void) {
  for (Set now; (now = pending & ~blocked) != 0;) {
    const int n = __builtin_ctzll(now) + 1;
    pending &= ~BIT(n);
    deliver(n);
  }
}

WEAK int raise(int n) {
  if (n == 0) return 0;
  if (!IS_SIGNAL(n)) return invalid();
  if (ignored(n)) return 0;
  pending |= BIT(n);
  deliver_pending();
  return 0;
}

WEAK int kill(pid_t pid, int n) {
  if (n != 0 && !IS_SIGNAL(n)) return invalid();
  if (pid == getpid() || pid == 0 || pid == -1 || pid == -getpid()) return raise(n);
  errno = ESRCH;
  return -1;
}

/* "shall override blocking or ignoring the SIGABRT signal"; a handler may leave by a jump. */
WEAK _Noreturn void abort(void) {
  if (actions[SIGABRT].sa_handler != SIG_DFL && actions[SIGABRT].sa_handler != SIG_IGN) {
    blocked &= ~BIT(SIGABRT);
    raise(SIGABRT);
  }
  __builtin_trap();
}

WEAK int sigaction(int n, const struct sigaction *new_action, struct sigaction *old_action) {
  if (!IS_SIGNAL(n) || (new_action != NULL && (BIT(n) & NEVER_CAUGHT))) return invalid();
  const struct sigaction before = actions[n];
  if (new_action != NULL) {
    actions[n] = *new_action;
    if (ignored(n)) pending &= ~BIT(n);
  }
  if (old_action != NULL) *old_action = before;
  return 0;
}

static void (*install(int n, void (*handler)(int), int flags))(int) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
  return sigaction(n, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}
WEAK void (*signal(int n, void (*handler)(int)))(int) { return install(n, handler, SA_RESTART); }
WEAK void (*bsd_signal(int n, void (*handler)(int)))(int) { return install(n, handler, SA_RESTART); }
WEAK void (*__sysv_signal(int n, void (*handler)(int)))(int) { return install(n, handler, SA_RESETHAND | SA_NODEFER); }
/* No call is interrupted. */
WEAK int siginterrupt(int n, int on) { (void)on; return IS_SIGNAL(n) ? 0 : invalid(); }

WEAK int sigemptyset(sigset_t *set) { set->mayfly_signals = 0; return 0; }
WEAK int sigfillset(sigset_t *set) { set->mayfly_signals = ~0ULL; return 0; }
WEAK int sigaddset(sigset_t *set, int n) { if (!IS_SIGNAL(n)) return invalid(); set->mayfly_signals |= BIT(n); return 0; }
WEAK int sigdelset(sigset_t *set, int n) { if (!IS_SIGNAL(n)) return invalid(); set->mayfly_signals &= ~BIT(n); return 0; }
WEAK int sigismember(const sigset_t *set, int n) { return IS_SIGNAL(n) ? (set->mayfly_signals & BIT(n)) != 0 : invalid(); }

WEAK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  const Set before = blocked;
  if (set != NULL) {
    const Set wanted = set->mayfly_signals & ~NEVER_CAUGHT;
    if (how == SIG_BLOCK) blocked |= wanted;
    else if (how == SIG_UNBLOCK) blocked &= ~wanted;
    else if (how == SIG_SETMASK) blocked = wanted;
    else return EINVAL;
  }
  if (old != NULL) old->mayfly_signals = before;
  deliver_pending();
  return 0;
}
WEAK int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  return pthread_sigmask(how, set, old) == 0 ? 0 : invalid();
}
WEAK int sigpending(sigset_t *set) { set->mayfly_signals = pending; return 0; }

/* Waits for what may be pending: nobody can send a signal later, so with none of them the wait would not end. */
static int stuck(const char *name) {
  refuse(name, "no such signal is pending, and nobody else sends one to a rank: EDEADLK");
  return EDEADLK;
}

WEAK int sigsuspend(const sigset_t *mask) {
  const Set before = blocked;
  blocked = mask->mayfly_signals & ~NEVER_CAUGHT;
  errno = (pending & ~blocked) != 0 ? EINTR : stuck("sigsuspend");
  const int error = errno;
  deliver_pending();
  blocked = before;
  errno = error;
  return -1;
}
/* What is pending is blocked. */
WEAK int pause(void) { errno = stuck("pause"); return -1; }

static int take(const sigset_t *set, int *n) {
  const Set now = pending & set->mayfly_signals;
  if (now == 0) return 0;
  *n = __builtin_ctzll(now) + 1;
  pending &= ~BIT(*n);
  return 1;
}
static int told(int n, siginfo_t *information) {
  if (information != NULL)
    *information = (siginfo_t){.si_signo = n, .si_code = SI_TKILL, .si_pid = getpid(), .si_uid = getuid()};
  return n;
}
WEAK int sigwait(const sigset_t *__restrict set, int *__restrict n) { return take(set, n) ? 0 : stuck("sigwait"); }
WEAK int sigwaitinfo(const sigset_t *__restrict set, siginfo_t *__restrict information) {
  int n;
  if (take(set, &n)) return told(n, information);
  errno = stuck("sigwaitinfo");
  return -1;
}
WEAK int sigtimedwait(const sigset_t *__restrict set, siginfo_t *__restrict information, const struct timespec *__restrict time) {
  int n;
  if (take(set, &n)) return told(n, information);
  nanosleep(time, NULL);
  errno = EAGAIN;
  return -1;
}

/* Handlers run on the stack that there is. */
WEAK int sigaltstack(const stack_t *wanted, stack_t *old) {
  static stack_t now = {.ss_flags = SS_DISABLE};
  if (old != NULL) *old = now;
  if (wanted != NULL) now = *wanted;
  return 0;
}

/* sigsetjmp() and siglongjmp(): wasi-libc's jmp_buf has room for the mask. */
#define WITH_MASK 0x6d61736bUL
WEAK struct __jmp_buf_tag *mayfly_save_signals(struct __jmp_buf_tag *env, int save) {
  env->__fl = save ? WITH_MASK : 0;
  if (save) memcpy(env->__ss, &blocked, sizeof blocked);
  return env;
}
WEAK struct __jmp_buf_tag *mayfly_restore_signals(struct __jmp_buf_tag *env) {
  if (env->__fl == WITH_MASK) memcpy(&blocked, env->__ss, sizeof blocked);
  deliver_pending();
  return env;
}

/* Never delivered, which is said; what is left of the time is told. */
WEAK unsigned alarm(unsigned seconds) {
  static time_t due;
  const time_t now = time(NULL), left = due > now ? due - now : 0;
  due = seconds == 0 ? 0 : now + seconds;
  if (seconds > 0) refuse("alarm", "a rank gets no signals");
  return (unsigned)left;
}
