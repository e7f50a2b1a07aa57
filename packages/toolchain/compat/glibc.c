/* Functions of glibc that need nothing but the rank itself: messages and exits, allocation, chance, locks of streams. */
#include <err.h>
#include <error.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "own.h"

/* <err.h> and <error.h>: "program: text: what errno means". */
static void say(const char *format, va_list values, const char *reason) {
  fprintf(stderr, "%s: ", program_invocation_short_name);
  if (format != NULL) vfprintf(stderr, format, values);
  if (reason != NULL) fprintf(stderr, "%s%s", format != NULL ? ": " : "", reason);
  fputc('\n', stderr);
}
WEAK void vwarn(const char *format, va_list values) { say(format, values, strerror(errno)); }
WEAK void vwarnx(const char *format, va_list values) { say(format, values, NULL); }
WEAK _Noreturn void verr(int status, const char *format, va_list values) { vwarn(format, values); exit(status); }
WEAK _Noreturn void verrx(int status, const char *format, va_list values) { vwarnx(format, values); exit(status); }
#define WITH_VALUES(call) va_list values; va_start(values, format); call; va_end(values)
WEAK void warn(const char *format, ...) { WITH_VALUES(vwarn(format, values)); }
WEAK void warnx(const char *format, ...) { WITH_VALUES(vwarnx(format, values)); }
WEAK _Noreturn void err(int status, const char *format, ...) { WITH_VALUES(verr(status, format, values)); }
WEAK _Noreturn void errx(int status, const char *format, ...) { WITH_VALUES(verrx(status, format, values)); }
WEAK void error(int status, int number, const char *format, ...) {
  fflush(stdout);
  WITH_VALUES(say(format, values, number == 0 ? NULL : strerror(number)));
  if (status != 0) exit(status);
}

WEAK void *memalign(size_t alignment, size_t size) {
  void *p;
  const int e = posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, size);
  if (e == 0) return p;
  errno = e;
  return NULL;
}
WEAK void *valloc(size_t size) { return memalign((size_t)getpagesize(), size); }
WEAK void *pvalloc(size_t size) {
  const size_t page = (size_t)getpagesize();
  return size > SIZE_MAX - page ? valloc(SIZE_MAX) : valloc((size + page - 1) / page * page);
}
WEAK int malloc_trim(size_t pad) { (void)pad; return 0; }

/* Of the job's seed. */
WEAK ssize_t getrandom(void *into, size_t length, unsigned flags) {
  (void)flags;
  for (size_t n = 0; n < length; n += 256)
    if (getentropy((char *)into + n, length - n < 256 ? length - n : 256) != 0) return -1;
  return (ssize_t)length;
}

WEAK void flockfile(FILE *stream) { (void)stream; }
WEAK int ftrylockfile(FILE *stream) { (void)stream; return 0; }
WEAK void funlockfile(FILE *stream) { (void)stream; }

WEAK pid_t gettid(void) { return getpid(); }
WEAK int getdtablesize(void) { return 1024; }
WEAK char *secure_getenv(const char *name) { return getenv(name); }
WEAK int posix_madvise(void *p, size_t n, int advice) { (void)p; (void)n; (void)advice; return 0; }
