/* There are no other processes: declared so that programs compile. */
#ifndef MAYFLY_SYS_WAIT_H
#define MAYFLY_SYS_WAIT_H
#include <sys/types.h>
#define WNOHANG 1
#define WUNTRACED 2
#define WEXITSTATUS(s) (((s) & 0xff00) >> 8)
#define WTERMSIG(s) ((s) & 0x7f)
#define WIFEXITED(s) (WTERMSIG(s) == 0)
#define WIFSIGNALED(s) (WTERMSIG(s) != 0)
#ifdef __cplusplus
extern "C" {
#endif
pid_t wait(int *);
pid_t waitpid(pid_t, int *, int);
#ifdef __cplusplus
}
#endif
#endif
