/* <mntent.h>: tables of mounts, in which a space of a name is written \040 and a line may be a comment. */
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include "own.h"

WEAK FILE *setmntent(const char *path, const char *mode) { return fopen(path, mode); }
WEAK int endmntent(FILE *table) { if (table != NULL) fclose(table); return 1; }

/* The next word of a line, with its escapes read. */
static char *word(char **line) {
  char *from = *line + strspn(*line, " \t\n"), *to = from, *const begin = from;
  for (; *from != '\0' && strchr(" \t\n", *from) == NULL; to++) {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
      *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
      from += 4;
    } else *to = *from++;
  }
  *line = *from == '\0' ? from : from + 1;
  *to = '\0';
  return begin;
}

WEAK struct mntent *getmntent_r(FILE *__restrict table, struct mntent *__restrict entry, char *__restrict room, int size) {
  while (fgets(room, size, table) != NULL) {
    char *line = room + strspn(room, " \t");
    if (*line == '#' || *line == '\n' || *line == '\0') continue;
    entry->mnt_fsname = word(&line);
    entry->mnt_dir = word(&line);
    entry->mnt_type = word(&line);
    entry->mnt_opts = word(&line);
    entry->mnt_freq = atoi(word(&line));
    entry->mnt_passno = atoi(word(&line));
    return entry;
  }
  return NULL;
}

WEAK struct mntent *getmntent(FILE *table) {
  static char room[4096];
  static struct mntent entry;
  return getmntent_r(table, &entry, room, sizeof room);
}

static void put(FILE *table, const char *name) {
  for (; *name != '\0'; name++)
    if (strchr(" \t\n\\", *name) != NULL) fprintf(table, "\\%03o", (unsigned)*name);
    else fputc(*name, table);
  fputc(' ', table);
}

WEAK int addmntent(FILE *__restrict table, const struct mntent *__restrict entry) {
  if (fseek(table, 0, SEEK_END) != 0) return 1;
  put(table, entry->mnt_fsname);
  put(table, entry->mnt_dir);
  put(table, entry->mnt_type);
  put(table, entry->mnt_opts);
  return fprintf(table, "%d %d\n", entry->mnt_freq, entry->mnt_passno) < 0;
}

WEAK char *hasmntopt(const struct mntent *entry, const char *option) {
  const size_t length = strlen(option);
  for (char *at = entry->mnt_opts; (at = strstr(at, option)) != NULL; at++)
    if ((at == entry->mnt_opts || at[-1] == ',') && strchr(",=", at[length]) != NULL) return at;
  return NULL;
}
