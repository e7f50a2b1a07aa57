/* A set of signals: wasi-libc's is one byte. */
#ifndef __wasilibc___typedef_sigset_t_h
#define __wasilibc___typedef_sigset_t_h
typedef struct { unsigned long long mayfly_signals; } sigset_t;
#endif
