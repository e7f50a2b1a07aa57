/* wasi-libc's, with the unit of clock() that POSIX asks for, and Linux's clocks. */
#include_next <__header_time.h>
#ifndef MAYFLY_HEADER_TIME_H
#define MAYFLY_HEADER_TIME_H
#undef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC ((clock_t)1000000)
#ifdef __cplusplus
extern "C" {
#endif
extern const struct __clockid mayfly_process_clock, mayfly_thread_clock;
#ifdef __cplusplus
}
#endif
#define CLOCK_PROCESS_CPUTIME_ID (&mayfly_process_clock)
#define CLOCK_THREAD_CPUTIME_ID (&mayfly_thread_clock)
#define CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC
#define CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
#endif
