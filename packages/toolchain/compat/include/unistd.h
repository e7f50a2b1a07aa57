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
int dup(int);
int dup2(int, int);
int dup3(int, int, int);
void sync(void);
int syncfs(int);
int chown(const char *, uid_t, gid_t);
int lchown(const char *, uid_t, gid_t);
int fchown(int, uid_t, gid_t);
char *ttyname(int);
int ttyname_r(int, char *, size_t);
int getlogin_r(char *, size_t);
int getgroups(int, gid_t []);
int setuid(uid_t);
int seteuid(uid_t);
int setgid(gid_t);
int setegid(gid_t);
pid_t getpgrp(void);
pid_t getpgid(pid_t);
int setpgid(pid_t, pid_t);
pid_t getsid(pid_t);
pid_t setsid(void);
int eaccess(const char *, int);
int euidaccess(const char *, int);
#ifdef __cplusplus
}
#endif
#endif
