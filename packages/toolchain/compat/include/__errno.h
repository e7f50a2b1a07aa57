/*
 * errno as a call, as glibc has it: clang knows that malloc() writes no variable of the program, and would keep the value that a plain
 * errno had before. Not declared const, so that each use asks again. A program may declare `extern int errno;` beside it.
 */
#ifndef __wasilibc___errno_h
#define __wasilibc___errno_h
#ifdef __cplusplus
extern "C" {
#endif
int *__errno_location(void);
#define errno (*__errno_location())
#ifdef __cplusplus
}
#endif
#endif
