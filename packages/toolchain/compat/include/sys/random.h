/* wasi-libc's, with getrandom(). */
#include_next <sys/random.h>
#ifndef MAYFLY_SYS_RANDOM_H
#define MAYFLY_SYS_RANDOM_H
#include <sys/types.h>
#define GRND_NONBLOCK 1
#define GRND_RANDOM 2
#ifdef __cplusplus
extern "C" {
#endif
ssize_t getrandom(void *, size_t, unsigned);
#ifdef __cplusplus
}
#endif
#endif
