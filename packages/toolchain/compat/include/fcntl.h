/* wasi-libc's, with locks: a rank is alone with its files, so that each is granted (system.c). */
#include_next <fcntl.h>
#ifndef MAYFLY_FCNTL_H
#define MAYFLY_FCNTL_H
#define F_DUPFD 0
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_GETLK64 F_GETLK
#define F_SETLK64 F_SETLK
#define F_SETLKW64 F_SETLKW
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#define F_DUPFD_CLOEXEC 1030
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#ifdef __cplusplus
extern "C" {
#endif
int fcntl(int, int, ...) __asm__("mayfly_fcntl");
#ifdef __cplusplus
}
#endif
#endif
