/* What a rank answers where a system is asked for users, terminals, a network, locks … that it has not. */
#define _GNU_SOURCE
#include <errno.h>
extern int errno;
#include <fcntl.h>
#include <grp.h>
#include <libintl.h>
#include <malloc.h>
#include <netdb.h>
#include <pwd.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>
#include <wordexp.h>
#define FAILS(call, number) (errno = 0, (call) == -1 && errno == (number))
int main(void) {
  struct flock lock = {F_WRLCK, SEEK_SET, 0, 0, 0};
  printf("%d %d ", fcntl(1, F_SETLK, &lock), fcntl(1, F_SETLKW, &lock));
  printf("%d %d ", fcntl(1, F_GETLK, &lock), lock.l_type == F_UNLCK);
  lock.l_type = 9;
  printf("%d %d\n", FAILS(fcntl(1, F_SETLK, &lock), EINVAL), fcntl(1, F_GETFL) != -1);
  printf("%d %d %d %d\n", FAILS(dup(1), ENOSYS), FAILS(dup2(1, 2), ENOSYS), dup2(1, 1), FAILS(dup3(1, 1, 0), EINVAL));
  struct group g, *found_group = &g; struct passwd w, *found = &w; char text[100];
  printf("%d %d %d ", getgrgid(1) == NULL, getgrnam_r("x", &g, text, 100, &found_group) == 0 && found_group == NULL, getgroups(0, NULL));
  printf("%d %d %s ", getpwuid_r(1000, &w, text, 100, &found) == 0 && found == NULL, getlogin_r(text, 100), text);
  printf("%d %d %d\n", getlogin_r(text, 3) == ERANGE, setuid(getuid()), FAILS(setgid(0), EPERM));
  printf("%d %d %d %d\n", getpgrp() == getpid(), getsid(0) == getpid(), FAILS(setsid(), EPERM), FAILS(getpgid(7), ESRCH));
  struct termios t; struct winsize size;
  memset(&t, 255, sizeof t);
  cfmakeraw(&t);
  printf("%d %d %d %d ", FAILS(tcgetattr(0, &t), ENOTTY), FAILS(tcsetattr(0, TCSANOW, &t), ENOTTY), ttyname(0) == NULL, ioctl(1, TIOCGWINSZ, &size));
  printf("%d\n", (t.c_lflag & (ECHO | ICANON)) == 0 && (t.c_cflag & CSIZE) == CS8);
  struct addrinfo *list = (struct addrinfo *)text;
  printf("%d %d %s ", getaddrinfo("localhost", "80", NULL, &list) == EAI_FAIL, list == NULL, gai_strerror(EAI_FAIL));
  printf("%d %d\n", gethostbyname("localhost") == NULL, h_errno == NO_RECOVERY);
  pid_t pid; posix_spawn_file_actions_t actions; ucontext_t context; wordexp_t words;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, 0);
  printf("%d %d %d\n", posix_spawn(&pid, "/bin/ls", &actions, NULL, NULL, NULL) == ENOSYS, FAILS(getcontext(&context), ENOSYS), wordexp("$HOME/*", &words, 0) == WRDE_NOSYS && words.we_wordc == 0);
  struct statfs fs;
  sync();
  printf("%d %d %d\n", FAILS(statfs("/", &fs), ENOSYS), FAILS(msync(text, 1, MS_SYNC), ENOSYS), FAILS(fchown(1, 0, 0), EPERM));
  void *volatile p = malloc(3000000);
  printf("%d %d %d\n", mallinfo2().arena > 3000000 && mallinfo().uordblks > 3000000, mallopt(M_MMAP_MAX, 0), p != NULL);
  textdomain("prog");
  printf("%s %s %s %s\n", gettext("as it is"), ngettext("one", "more", 2), textdomain(NULL), bindtextdomain("prog", "/share"));
  return 0;
}
