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
#ifdef __cplusplus
extern "C" {
#endif
struct __jmp_buf_tag *mayfly_save_signals(struct __jmp_buf_tag *, int);
struct __jmp_buf_tag *mayfly_restore_signals(struct __jmp_buf_tag *);
#ifdef __cplusplus
}
#endif
#ifndef sigsetjmp
#define sigsetjmp(env, mask) setjmp(mayfly_save_signals(env, mask))
#define siglongjmp(env, value) longjmp(mayfly_restore_signals(env), value)
#endif
#ifndef _setjmp
#define _setjmp(env) setjmp(env)
#define _longjmp(env, value) longjmp(env, value)
#endif
#endif
