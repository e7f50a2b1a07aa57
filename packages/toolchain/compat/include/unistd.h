/* wasi-libc's, with what it leaves out: declared so that programs compile. What can be answered is in posix.c; the rest is told by the linker. */
#include <features.h>
/* As in glibc, a program that asks for POSIX alone gets a getopt() that keeps the order of arguments. */
#if defined(_BSD_SOURCE) || defined(_GNU_SOURCE)
#include <getopt.h>
#endif
#include_next <unistd.h>
#ifndef MAYFLY_UNISTD_H
#define MAYFLY_UNISTD_H
#include <sys/types.h>
#ifndef F_LOCK
#define F_ULOCK 0
#define F_LOCK 1
#define F_TLOCK 2
#define F_TEST 3
#endif
#ifdef __cplusplus
extern "C" {
#endif
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
char *getlogin(void);
int nice(int);
unsigned alarm(unsigned);
pid_t fork(void);
pid_t vfork(void);
int execve(const char *, char *const [], char *const []);
int execv(const char *, char *const []);
int execvp(const char *, char *const []);
int execl(const char *, const char *, ...);
int execlp(const char *, const char *, ...);
int pipe(int [2]);
int lockf(int, int, off_t);
int pause(void);
pid_t gettid(void);
int getdtablesize(void);
#ifdef __cplusplus
}
#endif
#endif
