/* wasi-libc's, with temporary files, and popen() and pclose(), which answer that there is no shell. */
#include_next <stdio.h>
#ifndef MAYFLY_STDIO_H
#define MAYFLY_STDIO_H
#ifndef L_tmpnam
#define L_tmpnam 20
#endif
#ifndef TMP_MAX
#define TMP_MAX 10000
#endif
#ifndef P_tmpdir
#define P_tmpdir "/tmp"
#endif
#ifdef __cplusplus
extern "C" {
#endif
FILE *popen(const char *, const char *);
int pclose(FILE *);
FILE *tmpfile(void);
char *tmpnam(char *);
#ifndef __STRICT_ANSI__
void flockfile(FILE *);
int ftrylockfile(FILE *);
void funlockfile(FILE *);
#endif
#ifdef __cplusplus
}
#endif
#endif
