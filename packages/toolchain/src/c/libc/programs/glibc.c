/* Functions of glibc and <threads.h>: what gcc and glibc print of it stands in glibc.expected. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <error.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <threads.h>
#include <unistd.h>
static int times_called;
static void once(void) { times_called++; }
int main(void) {
  program_invocation_name = program_invocation_short_name = "prog";
  mtx_t plain, recursive;
  once_flag flag = ONCE_FLAG_INIT;
  tss_t key;
  mtx_init(&plain, mtx_plain); mtx_init(&recursive, mtx_timed | mtx_recursive);
  printf("%d ", mtx_lock(&plain) == thrd_success);
  printf("%d ", mtx_trylock(&plain) == thrd_busy);
  printf("%d %d ", mtx_lock(&recursive) == thrd_success, mtx_lock(&recursive) == thrd_success);
  printf("%d ", mtx_unlock(&plain) == thrd_success);
  call_once(&flag, once); call_once(&flag, once);
  printf("%d ", times_called);
  tss_create(&key, NULL); tss_set(key, &key);
  printf("%d\n", tss_get(key) == &key);
  printf("%d %d ", (uintptr_t)memalign(256, 10) % 256 == 0, (uintptr_t)valloc(10) % (size_t)getpagesize() == 0);
  errno = 0;
  printf("%d ", reallocarray(NULL, SIZE_MAX / 2, 4) == NULL && errno == ENOMEM);
  char many[600];
  memset(many, 0, sizeof many);
  printf("%d ", getrandom(many, sizeof many, 0) == sizeof many);
  flockfile(stdout); printf("%d ", ftrylockfile(stdout)); funlockfile(stdout); funlockfile(stdout);
  printf("%d %d\n", gettid() == getpid(), posix_madvise(memalign(65536, 65536), 65536, POSIX_MADV_NORMAL));
  fflush(stdout);
  errno = ENOENT;
  warn("no %s", "file"); warnx("plain %d", 5); errno = 0;
  error(0, EACCES, "with %d", 7); error(0, 0, "without");
  errno = ENOMEM;
  err(3, "end");
}
