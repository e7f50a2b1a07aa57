/*
 * getopt() as glibc has it: it puts arguments that are no options behind the options. wasi-libc's getopt_long() does, its getopt() does not.
 * <getopt.h> and <unistd.h> give the two names to the functions here, and the libc's keep theirs.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "own.h"

int mayfly_libc_getopt_long(int, char *const *, const char *, const struct option *, int *) __asm__("getopt_long");

/* Where an option is last and lacks its argument, wasi-libc counts the NULL behind the arguments as one, and moves it forward. */
static int parse(int count, char **arguments, const char *options, const struct option *names, int *found) {
  const int c = mayfly_libc_getopt_long(count, arguments, options, names, found);
  if ((c == '?' || c == ':') && optind <= count + 1 && arguments[optind - 1] == NULL) {
    optind--;
    for (int i = optind; i < count; i++) arguments[i] = arguments[i + 1];
    arguments[count] = NULL;
  }
  return c;
}

/* "If the environment variable POSIXLY_CORRECT is set, then option processing stops as soon as a nonoption argument is encountered." */
WEAK int getopt_long(int count, char *const *arguments, const char *options, const struct option *names, int *found) {
  if (getenv("POSIXLY_CORRECT") == NULL || options[0] == '+' || options[0] == '-')
    return parse(count, (char **)arguments, options, names, found);
  char in_order[strlen(options) + 2];
  in_order[0] = '+';
  strcpy(in_order + 1, options);
  return parse(count, (char **)arguments, in_order, names, found);
}

WEAK int getopt(int count, char *const *arguments, const char *options) {
  static const struct option none[1];
  return getopt_long(count, arguments, options, none, NULL);
}
