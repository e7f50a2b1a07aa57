/* What the sources of the layer share. */
#ifndef MAYFLY_OWN_H
#define MAYFLY_OWN_H
#include <errno.h>
#include <stdio.h>

/* A program's own definition wins. */
#define WEAK __attribute__((weak, visibility("default")))

/* For what a rank cannot have. @returns -1, with ENOSYS */
static inline int refuse(const char *name, const char *why) {
  fprintf(stderr, "mayfly: %s: %s\n", name, why);
  errno = ENOSYS;
  return -1;
}
#endif
