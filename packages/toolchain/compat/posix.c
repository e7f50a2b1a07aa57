/*
 * What programs written for a POSIX machine call now and then, and WASI has not. Each answers as a machine that permits nothing, so that a
 * program which checks goes on, and says so once on stderr where silence would mislead. All are weak: a program's own definition wins.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "own.h"

#define NO_PROCESSES "a rank is one process in a sandbox; there are no others"

WEAK int system(const char *command) { return command == NULL ? 0 : refuse("system", "a rank has no shell"); }
WEAK FILE *popen(const char *command, const char *mode) { (void)command; (void)mode; refuse("popen", NO_PROCESSES); return NULL; }
WEAK int pclose(FILE *stream) { (void)stream; errno = ECHILD; return -1; }

WEAK int gethostname(char *name, size_t length) {
  static const char host[] = "mayfly";
  if (length < sizeof host) { errno = ENAMETOOLONG; return -1; }
  memcpy(name, host, sizeof host);
  return 0;
}

/* The streams of a rank are no terminal. wasi-libc's own isatty() says so of them for stdio, which then writes line by line. */
WEAK int isatty(int fd) {
  struct stat s;
  if (fstat(fd, &s) == 0) errno = ENOTTY;
  return 0;
}

WEAK pid_t getpid(void) { return 42; }
WEAK pid_t getppid(void) { return 1; }
WEAK uid_t getuid(void) { return 1000; }
WEAK uid_t geteuid(void) { return 1000; }
WEAK gid_t getgid(void) { return 1000; }
WEAK gid_t getegid(void) { return 1000; }
WEAK char *getlogin(void) { return (char *)"mayfly"; }
WEAK void *getpwuid(uid_t uid) { (void)uid; return NULL; }
WEAK void *getpwnam(const char *name) { (void)name; return NULL; }
WEAK mode_t umask(mode_t mask) { (void)mask; return 022; }
WEAK int nice(int increment) { (void)increment; return 0; }
WEAK int getpriority(int which, unsigned who) { (void)which; (void)who; return 0; }
WEAK int setpriority(int which, unsigned who, int priority) { (void)which; (void)who; (void)priority; return 0; }
WEAK int mlock(const void *p, size_t n) { (void)p; (void)n; return 0; }
WEAK int munlock(const void *p, size_t n) { (void)p; (void)n; return 0; }
WEAK int mlockall(int flags) { (void)flags; return 0; }
WEAK int munlockall(void) { return 0; }
WEAK int backtrace(void **frames, int size) { (void)frames; (void)size; return 0; }
WEAK char **backtrace_symbols(void *const *frames, int size) { (void)frames; (void)size; return calloc(1, sizeof(char *)); }
WEAK void backtrace_symbols_fd(void *const *frames, int size, int fd) { (void)frames; (void)size; (void)fd; }
WEAK int feenableexcept(int excepts) { (void)excepts; return 0; }
WEAK int fedisableexcept(int excepts) { (void)excepts; return 0; }
WEAK int fegetexcept(void) { return 0; }

/* Processor time is the job's clock, as clock() has it; of the rest only the size of the memory is known. */
WEAK int getrusage(int who, struct rusage *usage) {
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) { errno = EINVAL; return -1; }
  *usage = (struct rusage){0};
  if (who == RUSAGE_CHILDREN) return 0;
  const clock_t now = clock();
  usage->ru_utime = (struct timeval){.tv_sec = now / CLOCKS_PER_SEC, .tv_usec = (suseconds_t)(now % CLOCKS_PER_SEC * 1000000 / CLOCKS_PER_SEC)};
  usage->ru_maxrss = (long)__builtin_wasm_memory_size(0) * 64;
  return 0;
}

WEAK int getrlimit(int resource, struct rlimit *limit) { (void)resource; *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY}; return 0; }
WEAK int setrlimit(int resource, const struct rlimit *limit) { (void)resource; (void)limit; return 0; }

WEAK int sched_getcpu(void) { return 0; }
WEAK int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set) { (void)pid; (void)size; (void)set; return 0; }
WEAK int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) { (void)pid; memset(set, 0, size); if (size > 0) *(char *)set = 1; return 0; }

/* Declared so that programs compile; called, they say what is missing. */
WEAK pid_t fork(void) { return refuse("fork", NO_PROCESSES); }
WEAK pid_t vfork(void) { return refuse("vfork", NO_PROCESSES); }
WEAK pid_t wait(int *status) { (void)status; errno = ECHILD; return -1; }
WEAK pid_t waitpid(pid_t pid, int *status, int options) { (void)pid; (void)status; (void)options; errno = ECHILD; return -1; }

/* Temporary files. The names are counted, not drawn: a rank is alone with its files. */
static int make_named(char *template, int (*make)(const char *)) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  static unsigned count;
  const size_t length = strlen(template);
  if (length < 6 || strcmp(template + length - 6, "XXXXXX") != 0) { errno = EINVAL; return -1; }
  for (;;) {
    unsigned n = count++;
    for (int i = 1; i <= 6; i++, n /= 36) template[length - i] = digits[n % 36];
    const int made = make(template);
    if (made >= 0 || errno != EEXIST) return made;
  }
}
static int make_file(const char *path) { return open(path, O_RDWR | O_CREAT | O_EXCL, 0600); }
static int make_folder(const char *path) { return mkdir(path, 0700); }
WEAK int mkstemp(char *template) { return make_named(template, make_file); }
WEAK char *mkdtemp(char *template) { return make_named(template, make_folder) < 0 ? NULL : template; }
WEAK FILE *tmpfile(void) {
  char path[] = "/tmp/fileXXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return NULL;
  unlink(path);
  return fdopen(fd, "w+");
}
WEAK char *tmpnam(char *into) {
  static char own[L_tmpnam];
  char path[] = "/tmp/nameXXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return NULL;
  close(fd);
  unlink(path);
  return strcpy(into == NULL ? own : into, path);
}
/* Nobody else has them open. */
WEAK int flock(int fd, int operation) { (void)fd; (void)operation; return 0; }
WEAK int lockf(int fd, int operation, off_t length) { (void)fd; (void)operation; (void)length; return 0; }
WEAK int madvise(void *p, size_t n, int advice) { (void)p; (void)n; (void)advice; return 0; }
WEAK int getloadavg(double loads[], int n) { (void)loads; (void)n; return -1; }

/* The system's log is the rank's standard error. */
static const char *log_name = "";
WEAK void openlog(const char *name, int options, int facility) { (void)options; (void)facility; log_name = name == NULL ? "" : name; }
WEAK void vsyslog(int priority, const char *format, va_list values) {
  (void)priority;
  if (*log_name) fprintf(stderr, "%s: ", log_name);
  vfprintf(stderr, format, values);
  const size_t length = strlen(format);
  if (length == 0 || format[length - 1] != '\n') fputc('\n', stderr);
}
WEAK void syslog(int priority, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsyslog(priority, format, values);
  va_end(values);
}
WEAK void closelog(void) { log_name = ""; }
WEAK int setlogmask(int mask) { (void)mask; return 255; }
