/* Options behind arguments, locales, terminals, qsort_r(): what gcc and glibc print of it stands in misc.expected. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void parse(const char *options, int with_long, char *first, ...) {
  static struct option names[] = {{"size", required_argument, 0, 's'}, {"flag", no_argument, 0, 'f'}, {0, 0, 0, 0}};
  char *v[20] = {"a.out"};
  __builtin_va_list more;
  int n = 1, c;
  __builtin_va_start(more, first);
  for (char *a = first; a != NULL; a = __builtin_va_arg(more, char *)) v[n++] = a;
  __builtin_va_end(more);
  v[n] = NULL;
  optind = 0;
  opterr = 0;
  while ((c = with_long ? getopt_long(n, v, options, names, NULL) : getopt(n, v, options)) != -1)
    printf("%c%s%s ", c == 1 ? '1' : c, optarg ? "=" : "", optarg ? optarg : "");
  printf("|");
  for (int i = optind; i < n; i++) printf(" %s", v[i]);
  printf("\n");
}
static int falling(const void *a, const void *b, void *calls) { ++*(int *)calls; return *(const int *)b - *(const int *)a; }
int main(void) {
  parse("n:v", 0, "input", "-n", "5", "more", "-v", NULL);
  parse("n:vx", 0, "a", "-vxn", "5", "b", "-n6", "-", "c", NULL);
  parse("n:v", 0, "a", "-v", "--", "-n", "b", NULL);
  parse("n:v", 0, "a", "b", NULL);
  parse("+n:v", 0, "-v", "a", "-n", "5", NULL);
  parse("-n:v", 0, "-v", "a", "-n", "5", NULL);
  parse(":n:v", 0, "a", "-q", "-n", NULL);
  parse(":n:v", 0, "-v", "-n", NULL);
  parse("n:v", 1, "a", "b", "--size", NULL);
  parse("n:v", 1, "a", "--size=3", "b", "--flag", "-v", "--si", "4", "c", NULL);
  setenv("POSIXLY_CORRECT", "1", 1);
  parse("n:v", 0, "-v", "a", "-n", "5", NULL);
  parse("n:v", 1, "-v", "a", "--flag", NULL);
  unsetenv("POSIXLY_CORRECT");

  printf("%s ", setlocale(LC_ALL, NULL));
  printf("%d ", setlocale(LC_ALL, "xx_YY.nothing") == NULL);
  printf("%d ", setlocale(LC_NUMERIC, "de_DE") == NULL);
  printf("%s ", setlocale(LC_ALL, NULL));
  printf("%s ", setlocale(LC_ALL, "C.UTF-8"));
  printf("%d ", (int)MB_CUR_MAX > 3);
  printf("%s ", setlocale(LC_ALL, "POSIX"));
  setenv("LC_ALL", "xx_YY", 1); setenv("LANG", "C.UTF-8", 1);
  printf("%d ", setlocale(LC_ALL, "") == NULL);
  unsetenv("LC_ALL"); setenv("LC_CTYPE", "C", 1);
  printf("%s ", setlocale(LC_CTYPE, ""));
  printf("%s ", setlocale(LC_TIME, ""));
  printf("%d\n", newlocale(LC_ALL_MASK, "de_DE.UTF-8x", 0) == 0);

  errno = 0; printf("%d %d, ", isatty(1), errno == ENOTTY);
  errno = 0; printf("%d %d\n", isatty(99), errno == EBADF);
  int a[] = {3, 9, 1, 7}, calls = 0;
  qsort_r(a, 4, sizeof *a, falling, &calls);
  printf("%d %d %d %d %d\n", a[0], a[1], a[2], a[3], calls > 2);
  return 0;
}
