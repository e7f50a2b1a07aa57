/* wasi-libc's, with ftw(). */
#include_next <ftw.h>
#ifndef MAYFLY_FTW_H
#define MAYFLY_FTW_H
#ifdef __cplusplus
extern "C" {
#endif
int ftw(const char *, int (*)(const char *, const struct stat *, int), int);
#ifdef __cplusplus
}
#endif
#endif
