/* Jumps work by the driver's own lowering (throw.c), not by the instructions that wasi-libc asks for. */
#ifndef MAYFLY_SETJMP_H
#define MAYFLY_SETJMP_H
#ifndef __wasm_exception_handling__
#define __wasm_exception_handling__ 1
#include_next <setjmp.h>
#undef __wasm_exception_handling__
#else
#include_next <setjmp.h>
#endif
/* There is no signal mask to be saved. */
#ifndef sigsetjmp
#define sigsetjmp(env, mask) setjmp(env)
#define siglongjmp(env, value) longjmp(env, value)
#endif
#ifndef _setjmp
#define _setjmp(env) setjmp(env)
#define _longjmp(env, value) longjmp(env, value)
#endif
#endif
