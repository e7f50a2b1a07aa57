/*
 * What programs ask a system for that a rank has not: users, groups and sessions, terminals, a network, other programs, contexts, locks and
 * second descriptors. Each answers as the manual says for a machine that has none, or with ENOSYS and one line on stderr.
 */
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <libintl.h>
#include <malloc.h>
#include <netdb.h>
#include <pwd.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>
#include <wordexp.h>
#include "own.h"

static int failed(int number) { errno = number; return -1; }

/* wasi-libc's own, which knows flags only. */
int mayfly_libc_fcntl(int, int, ...) __asm__("fcntl");
/* Sets errno to EBADF. */
static int is_open(int fd) { return mayfly_libc_fcntl(fd, F_GETFL) != -1; }

/* Users and groups: the rank is user and group 1000, and knows of no other. */
WEAK struct group *getgrgid(gid_t gid) { (void)gid; return NULL; }
WEAK struct group *getgrnam(const char *name) { (void)name; return NULL; }
WEAK struct group *getgrent(void) { return NULL; }
WEAK void setgrent(void) {}
WEAK void endgrent(void) {}
WEAK struct passwd *getpwent(void) { return NULL; }
WEAK void setpwent(void) {}
WEAK void endpwent(void) {}
WEAK int getgrgid_r(gid_t gid, struct group *into, char *text, size_t length, struct group **found) { (void)gid; (void)into; (void)text; (void)length; *found = NULL; return 0; }
WEAK int getgrnam_r(const char *name, struct group *into, char *text, size_t length, struct group **found) { (void)name; return getgrgid_r(0, into, text, length, found); }
WEAK int getpwuid_r(uid_t uid, struct passwd *into, char *text, size_t length, struct passwd **found) { (void)uid; (void)into; (void)text; (void)length; *found = NULL; return 0; }
WEAK int getpwnam_r(const char *name, struct passwd *into, char *text, size_t length, struct passwd **found) { (void)name; return getpwuid_r(0, into, text, length, found); }
WEAK int getgroups(int count, gid_t groups[]) { (void)count; (void)groups; return 0; }
WEAK int setgroups(size_t count, const gid_t *groups) { (void)count; (void)groups; return failed(EPERM); }
WEAK int initgroups(const char *name, gid_t gid) { (void)name; (void)gid; return failed(EPERM); }
WEAK int getlogin_r(char *into, size_t length) {
  const char *name = getlogin();
  if (strlen(name) >= length) return ERANGE;
  strcpy(into, name);
  return 0;
}
WEAK int setuid(uid_t uid) { return uid == getuid() ? 0 : failed(EPERM); }
WEAK int seteuid(uid_t uid) { return setuid(uid); }
WEAK int setgid(gid_t gid) { return gid == getgid() ? 0 : failed(EPERM); }
WEAK int setegid(gid_t gid) { return setgid(gid); }
static int owned_by(uid_t uid, gid_t gid) {
  return (uid == (uid_t)-1 || uid == getuid()) && (gid == (gid_t)-1 || gid == getgid()) ? 0 : failed(EPERM);
}
WEAK int chown(const char *path, uid_t uid, gid_t gid) { return access(path, F_OK) != 0 ? -1 : owned_by(uid, gid); }
WEAK int lchown(const char *path, uid_t uid, gid_t gid) { return chown(path, uid, gid); }
WEAK int fchown(int fd, uid_t uid, gid_t gid) { return !is_open(fd) ? -1 : owned_by(uid, gid); }
WEAK int eaccess(const char *path, int mode) { return access(path, mode); }
WEAK int euidaccess(const char *path, int mode) { return access(path, mode); }

/* Sessions: the rank is the only process of its own, and leads it. */
static int is_this(pid_t pid) { return pid == 0 || pid == getpid(); }
WEAK pid_t getpgrp(void) { return getpid(); }
WEAK pid_t getpgid(pid_t pid) { return is_this(pid) ? getpid() : failed(ESRCH); }
WEAK pid_t getsid(pid_t pid) { return getpgid(pid); }
WEAK pid_t setsid(void) { return failed(EPERM); }
WEAK int setpgid(pid_t pid, pid_t group) { return is_this(pid) ? is_this(group) ? 0 : failed(EPERM) : failed(ESRCH); }

/* Terminals. */
static int no_terminal(int fd) { return !is_open(fd) ? -1 : failed(ENOTTY); }
WEAK int tcgetattr(int fd, struct termios *t) { (void)t; return no_terminal(fd); }
WEAK int tcsetattr(int fd, int when, const struct termios *t) { (void)when; (void)t; return no_terminal(fd); }
WEAK int tcdrain(int fd) { return no_terminal(fd); }
WEAK int tcflush(int fd, int which) { (void)which; return no_terminal(fd); }
WEAK int tcflow(int fd, int action) { (void)action; return no_terminal(fd); }
WEAK int tcsendbreak(int fd, int duration) { (void)duration; return no_terminal(fd); }
WEAK speed_t cfgetispeed(const struct termios *t) { return t->__c_ispeed; }
WEAK speed_t cfgetospeed(const struct termios *t) { return t->__c_ospeed; }
WEAK int cfsetispeed(struct termios *t, speed_t speed) { t->__c_ispeed = speed; return 0; }
WEAK int cfsetospeed(struct termios *t, speed_t speed) { t->__c_ospeed = speed; return 0; }
/* "Raw mode": no translation of characters, no signals, no echo, bytes of 8 bits (termios). */
WEAK void cfmakeraw(struct termios *t) {
  t->c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  t->c_oflag &= ~(tcflag_t)OPOST;
  t->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  t->c_cflag = (t->c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
}
WEAK char *ttyname(int fd) { no_terminal(fd); return NULL; }
WEAK int ttyname_r(int fd, char *into, size_t length) { (void)into; (void)length; no_terminal(fd); return errno; }

/* A network. */
static int no_network(const char *name) { return refuse(name, "a rank has no network but MPI"); }
WEAK int getaddrinfo(const char *__restrict node, const char *__restrict service, const struct addrinfo *__restrict hints, struct addrinfo **__restrict found) {
  (void)node; (void)service; (void)hints;
  *found = NULL;
  no_network("getaddrinfo");
  return EAI_FAIL;
}
WEAK void freeaddrinfo(struct addrinfo *list) { (void)list; }
WEAK int getnameinfo(const struct sockaddr *__restrict address, socklen_t size, char *__restrict host, socklen_t host_size, char *__restrict service, socklen_t service_size, int flags) {
  (void)address; (void)size; (void)host; (void)host_size; (void)service; (void)service_size; (void)flags;
  no_network("getnameinfo");
  return EAI_FAIL;
}
WEAK const char *gai_strerror(int code) { return code == 0 ? "Success" : code == EAI_FAIL ? "Non-recoverable failure in name resolution" : "Unknown error"; }
WEAK int *__h_errno_location(void) { static int number; return &number; }
static void *no_host(const char *name) { no_network(name); h_errno = NO_RECOVERY; return NULL; }
WEAK struct hostent *gethostbyname(const char *name) { (void)name; return no_host("gethostbyname"); }
WEAK struct hostent *gethostbyaddr(const void *address, socklen_t size, int kind) { (void)address; (void)size; (void)kind; return no_host("gethostbyaddr"); }
WEAK struct servent *getservbyname(const char *name, const char *protocol) { (void)name; (void)protocol; return NULL; }
WEAK struct protoent *getprotobyname(const char *name) { (void)name; return NULL; }
WEAK const char *hstrerror(int number) { return number == 0 ? "Resolver Error 0 (no error)" : "Unknown server error"; }

/* Programs and contexts. */
static int no_program(const char *name) { refuse(name, "a rank cannot start programs, only ranks (MPI_Comm_spawn)"); return ENOSYS; }
WEAK int posix_spawn(pid_t *__restrict pid, const char *__restrict path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *__restrict how, char *const *arguments, char *const *environment) {
  (void)pid; (void)path; (void)actions; (void)how; (void)arguments; (void)environment;
  return no_program("posix_spawn");
}
WEAK int posix_spawnp(pid_t *__restrict pid, const char *__restrict file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *__restrict how, char *const *arguments, char *const *environment) {
  (void)pid; (void)file; (void)actions; (void)how; (void)arguments; (void)environment;
  return no_program("posix_spawnp");
}
WEAK int posix_spawnattr_init(posix_spawnattr_t *a) { a->__flags = 0; return 0; }
WEAK int posix_spawnattr_destroy(posix_spawnattr_t *a) { (void)a; return 0; }
WEAK int posix_spawnattr_setflags(posix_spawnattr_t *a, short flags) { a->__flags = flags; return 0; }
WEAK int posix_spawn_file_actions_init(posix_spawn_file_actions_t *a) { a->__count = 0; return 0; }
WEAK int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *a) { (void)a; return 0; }
WEAK int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *__restrict a, int fd, const char *__restrict path, int flags, mode_t mode) { (void)fd; (void)path; (void)flags; (void)mode; a->__count++; return 0; }
WEAK int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *a, int fd) { (void)fd; a->__count++; return 0; }
WEAK int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *a, int from, int to) { (void)from; (void)to; a->__count++; return 0; }
WEAK int wordexp(const char *__restrict words, wordexp_t *__restrict into, int flags) {
  (void)words; (void)flags;
  into->we_wordc = 0;
  into->we_wordv = NULL;
  refuse("wordexp", "a rank has no shell");
  return WRDE_NOSYS;
}
WEAK void wordfree(wordexp_t *words) { (void)words; }
#define NO_CONTEXTS "WebAssembly gives no access to the stack of calls"
WEAK int getcontext(ucontext_t *c) { (void)c; return refuse("getcontext", NO_CONTEXTS); }
WEAK int setcontext(const ucontext_t *c) { (void)c; return refuse("setcontext", NO_CONTEXTS); }
WEAK int swapcontext(ucontext_t *__restrict from, const ucontext_t *__restrict to) { (void)from; (void)to; return refuse("swapcontext", NO_CONTEXTS); }
WEAK void makecontext(ucontext_t *c, void (*start)(void), int count, ...) { (void)c; (void)start; (void)count; refuse("makecontext", NO_CONTEXTS); }

/* Files. */
#define ONE_DESCRIPTOR "a file of a rank has one descriptor: open it once more, or use freopen()"
WEAK int dup(int fd) { return !is_open(fd) ? -1 : refuse("dup", ONE_DESCRIPTOR); }
WEAK int dup2(int from, int to) { return !is_open(from) ? -1 : from == to ? to : refuse("dup2", ONE_DESCRIPTOR); }
WEAK int dup3(int from, int to, int flags) { (void)flags; return from == to ? failed(EINVAL) : !is_open(from) ? -1 : refuse("dup3", ONE_DESCRIPTOR); }

/* Locks are granted: nobody else has the file. */
WEAK int fcntl(int fd, int command, ...) {
  va_list values;
  va_start(values, command);
  switch (command) {
    case F_GETLK: case F_SETLK: case F_SETLKW: case F_OFD_GETLK: case F_OFD_SETLK: case F_OFD_SETLKW: {
      struct flock *lock = va_arg(values, struct flock *);
      va_end(values);
      if (!is_open(fd)) return -1;
      if (lock->l_type != F_RDLCK && lock->l_type != F_WRLCK && lock->l_type != F_UNLCK) return failed(EINVAL);
      if (command == F_GETLK || command == F_OFD_GETLK) lock->l_type = F_UNLCK;
      return 0;
    }
    case F_DUPFD: case F_DUPFD_CLOEXEC:
      va_end(values);
      return dup(fd);
    default: {
      const int value = va_arg(values, int);
      va_end(values);
      return mayfly_libc_fcntl(fd, command, value);
    }
  }
}
WEAK int statfs(const char *path, struct statfs *into) { (void)path; (void)into; return refuse("statfs", "files of a rank are in its memory, not in a file system"); }
WEAK int fstatfs(int fd, struct statfs *into) { (void)fd; (void)into; return statfs("", into); }
WEAK void sync(void) {}
WEAK int syncfs(int fd) { return is_open(fd) ? 0 : -1; }
WEAK int msync(void *p, size_t length, int flags) { (void)p; (void)length; (void)flags; return refuse("msync", "a mapping of a file is a copy: write the file"); }
WEAK char *canonicalize_file_name(const char *path) { return realpath(path, NULL); }

static int (*visit)(const char *, const struct stat *, int);
static int visit_without_place(const char *path, const struct stat *s, int kind, struct FTW *place) { (void)place; return visit(path, s, kind == FTW_SLN ? FTW_SL : kind); }
WEAK int ftw(const char *path, int (*each)(const char *, const struct stat *, int), int descriptors) {
  int (*const before)(const char *, const struct stat *, int) = visit;
  visit = each;
  const int result = nftw(path, visit_without_place, descriptors, 0);
  visit = before;
  return result;
}

/* Of the heap, only what it has taken from the memory is known. */
extern unsigned char __heap_base;
WEAK struct mallinfo2 mallinfo2(void) {
  const size_t taken = __builtin_wasm_memory_size(0) * 65536u - (size_t)(uintptr_t)&__heap_base;
  return (struct mallinfo2){.arena = taken, .uordblks = taken};
}
WEAK struct mallinfo mallinfo(void) {
  const int taken = (int)mallinfo2().arena;
  return (struct mallinfo){.arena = taken, .uordblks = taken};
}
/* "On success, mallopt() returns 1"; no parameter changes anything here. */
WEAK int mallopt(int parameter, int value) { (void)parameter; (void)value; return 1; }
WEAK void malloc_stats(void) { fprintf(stderr, "system bytes     = %10zu\n", mallinfo2().arena); }

/* No translations. */
WEAK char *gettext(const char *text) { return (char *)text; }
WEAK char *dgettext(const char *domain, const char *text) { (void)domain; return (char *)text; }
WEAK char *dcgettext(const char *domain, const char *text, int category) { (void)domain; (void)category; return (char *)text; }
WEAK char *ngettext(const char *one, const char *more, unsigned long n) { return (char *)(n == 1 ? one : more); }
WEAK char *textdomain(const char *name) { static char own[64] = "messages"; if (name != NULL && *name) { strncpy(own, name, sizeof own - 1); } return own; }
WEAK char *bindtextdomain(const char *name, const char *folder) { (void)name; return (char *)folder; }
WEAK char *bind_textdomain_codeset(const char *name, const char *codeset) { (void)name; return (char *)codeset; }
