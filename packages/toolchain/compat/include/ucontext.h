/* WebAssembly gives no access to the stack of calls: contexts answer ENOSYS. */
#ifndef MAYFLY_UCONTEXT_H
#define MAYFLY_UCONTEXT_H
#include <stddef.h>
#include <__typedef_sigset_t.h>
typedef struct { int __none; } mcontext_t;
typedef struct ucontext_t {
  unsigned long uc_flags;
  struct ucontext_t *uc_link;
  struct { void *ss_sp; int ss_flags; size_t ss_size; } uc_stack;
  mcontext_t uc_mcontext;
  sigset_t uc_sigmask;
} ucontext_t;
#ifdef __cplusplus
extern "C" {
#endif
int getcontext(ucontext_t *);
int setcontext(const ucontext_t *);
void makecontext(ucontext_t *, void (*)(void), int, ...);
int swapcontext(ucontext_t *__restrict, const ucontext_t *__restrict);
#ifdef __cplusplus
}
#endif
#endif
