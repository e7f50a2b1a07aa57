/* wasi-libc's signals (raise() and handlers, inside of the program), with the names of sigaction, which answer likewise. */
#ifndef MAYFLY_SIGNAL_H
#define MAYFLY_SIGNAL_H
#ifndef _WASI_EMULATED_SIGNAL
#define _WASI_EMULATED_SIGNAL
#endif
#define sigaction mayfly_unused_sigaction
#include_next <signal.h>
#undef sigaction
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { int si_signo, si_errno, si_code; pid_t si_pid; uid_t si_uid; void *si_addr; int si_status; } mayfly_siginfo_t;
#define siginfo_t mayfly_siginfo_t
struct sigaction {
  union { void (*sa_handler)(int); void (*sa_sigaction)(int, siginfo_t *, void *); };
  sigset_t sa_mask;
  int sa_flags;
};
#ifndef SA_SIGINFO
#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000
#endif
#ifndef SIG_BLOCK
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#endif
int sigaction(int, const struct sigaction *, struct sigaction *);
int sigemptyset(sigset_t *);
int sigfillset(sigset_t *);
int sigaddset(sigset_t *, int);
int sigdelset(sigset_t *, int);
int sigismember(const sigset_t *, int);
int sigprocmask(int, const sigset_t *, sigset_t *);
int kill(pid_t, int);
#ifdef __cplusplus
}
#endif
#endif
