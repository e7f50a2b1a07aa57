/* wasi-libc's is not there, or has no flock(): a rank is alone with its files. */
#include <fcntl.h>
#ifndef MAYFLY_SYS_FILE_H
#define MAYFLY_SYS_FILE_H
#ifndef LOCK_SH
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#endif
#ifdef __cplusplus
extern "C" {
#endif
int flock(int, int);
#ifdef __cplusplus
}
#endif
#endif
