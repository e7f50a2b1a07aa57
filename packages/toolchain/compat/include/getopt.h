/* getopt() and getopt_long() are options.c's: getopt_long() of wasi-libc calls its own getopt(). */
#ifndef MAYFLY_GETOPT_H
#define MAYFLY_GETOPT_H
#ifdef __cplusplus
extern "C" {
#endif
struct option;
int getopt(int, char *const *, const char *) __asm__("mayfly_getopt");
int getopt_long(int, char *const *, const char *, const struct option *, int *) __asm__("mayfly_getopt_long");
#ifdef __cplusplus
}
#endif
#include_next <getopt.h>
#endif
