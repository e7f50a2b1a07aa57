/*
 * What clang's lowering of exceptions and of setjmp calls: the flag that a call has been left early, and jumps. Each call that may be left
 * early goes through `invoke_…`, which the instrumentation fills in (src/c/invoke.ts): it catches, puts the stack pointer back and
 * sets the flag; the code behind the call looks at it.
 */
#include <stdint.h>

/* 1: an exception is under way; an address: a jump to that jmp_buf, with the value beside it. */
uintptr_t __THREW__;
int __threwValue;

/* The second result of calls that clang expects to have one. */
static int second;
__attribute__((weak)) void setTempRet0(int value) { second = value; }
__attribute__((weak)) int getTempRet0(void) { return second; }

/* Replaced by WebAssembly's throw. */
__attribute__((import_module("mayfly"), import_name("throw"), noreturn)) void mayfly_throw(void);

/* The first words of a jmp_buf: which call of a function it belongs to, and which setjmp in it. */
struct place {
  void *invocation;
  uint32_t label;
};

__attribute__((weak)) void __wasm_setjmp(void *env, uint32_t label, void *invocation) {
  struct place *p = env;
  p->invocation = invocation;
  p->label = label;
}

/* 0: the jump goes further out. */
__attribute__((weak)) uint32_t __wasm_setjmp_test(void *env, void *invocation) {
  struct place *p = env;
  return p->label != 0 && p->invocation == invocation ? p->label : 0;
}

__attribute__((weak, noreturn)) void emscripten_longjmp(uintptr_t env, int value) {
  __THREW__ = env;
  __threwValue = value == 0 ? 1 : value;
  mayfly_throw();
}
