/* wasi-libc's, with the time zone of times.c. */
#include_next <time.h>
#ifndef MAYFLY_TIME_H
#define MAYFLY_TIME_H
#ifdef __cplusplus
extern "C" {
#endif
#if defined(_POSIX_SOURCE) || defined(_POSIX_C_SOURCE) || defined(_XOPEN_SOURCE) || defined(_GNU_SOURCE) || defined(_BSD_SOURCE)
void tzset(void);
extern char *tzname[2];
#endif
#if defined(_XOPEN_SOURCE) || defined(_BSD_SOURCE) || defined(_GNU_SOURCE)
extern int daylight;
extern long timezone;
#endif
#ifdef __cplusplus
}
#endif
#endif
