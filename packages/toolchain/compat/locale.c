/*
 * Which locales there are: C, POSIX and C.UTF-8. wasi-libc's setlocale() and newlocale() ask this function, and its own knows every name:
 * "returns a null pointer if the selection cannot be honored" (C, setlocale).
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "own.h"

struct __locale_map;
extern const char __c_dot_utf8[];
#define FAILED ((const struct __locale_map *)-1)

/* @returns NULL for C */
WEAK const struct __locale_map *__get_locale(int category, const char *name) {
  static const char *const variables[] = {
    [LC_CTYPE] = "LC_CTYPE", [LC_NUMERIC] = "LC_NUMERIC", [LC_TIME] = "LC_TIME",
    [LC_COLLATE] = "LC_COLLATE", [LC_MONETARY] = "LC_MONETARY", [LC_MESSAGES] = "LC_MESSAGES",
  };
  if (*name == 0) {
    const char *const asked[] = {getenv("LC_ALL"), getenv(variables[category]), getenv("LANG")};
    name = "C";
    for (int i = 2; i >= 0; i--)
      if (asked[i] != NULL && *asked[i] != 0) name = asked[i];
  }
  if (strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0) return NULL;
  return strcmp(name, "C.UTF-8") == 0 || strcmp(name, "C.utf8") == 0 ? (const struct __locale_map *)__c_dot_utf8 : FAILED;
}
