/* wasi-libc's, with temporary files, glibc's generators (random.c), and what it has but does not declare. */
#include_next <stdlib.h>
#ifndef MAYFLY_STDLIB_H
#define MAYFLY_STDLIB_H
#ifdef __cplusplus
extern "C" {
#endif
int mkstemp(char *);
char *mkdtemp(char *);
int getloadavg(double [], int);
#if defined(_BSD_SOURCE) || defined(_GNU_SOURCE)
void *valloc(size_t);
void *reallocarray(void *, size_t, size_t);
#endif
#if defined(_BSD_SOURCE) || defined(_GNU_SOURCE)
struct random_data { __INT32_TYPE__ *__front, *__rear, *__state; int __kind; };
struct drand48_data { unsigned short __x[3], __old[3], __c, __set; unsigned long long __a; };
int random_r(struct random_data *__restrict, __INT32_TYPE__ *__restrict);
int srandom_r(unsigned, struct random_data *);
int initstate_r(unsigned, char *__restrict, size_t, struct random_data *__restrict);
int setstate_r(char *__restrict, struct random_data *__restrict);
int srand48_r(long, struct drand48_data *);
int seed48_r(unsigned short [3], struct drand48_data *);
int lcong48_r(unsigned short [7], struct drand48_data *);
int drand48_r(struct drand48_data *, double *);
int erand48_r(unsigned short [3], struct drand48_data *, double *);
#ifdef __MAYFLY_LONG64__
int lrand48_r(struct drand48_data *, long long *) __asm__("mayfly_lrand48_r_wide");
int nrand48_r(unsigned short [3], struct drand48_data *, long long *) __asm__("mayfly_nrand48_r_wide");
int mrand48_r(struct drand48_data *, long long *) __asm__("mayfly_mrand48_r_wide");
int jrand48_r(unsigned short [3], struct drand48_data *, long long *) __asm__("mayfly_jrand48_r_wide");
#else
int lrand48_r(struct drand48_data *, long *);
int nrand48_r(unsigned short [3], struct drand48_data *, long *);
int mrand48_r(struct drand48_data *, long *);
int jrand48_r(unsigned short [3], struct drand48_data *, long *);
#endif
#endif
#ifdef _GNU_SOURCE
char *canonicalize_file_name(const char *);
char *secure_getenv(const char *);
void qsort_r(void *, size_t, size_t, int (*)(const void *, const void *, void *), void *);
#endif
#ifdef __cplusplus
}
#endif
#endif
