/*
 * Time zones by the variable TZ, in the notation of POSIX ("CET-1CEST,M3.5.0,M10.5.0/3"), and clocks in glibc's units. wasi-libc's
 * localtime(), mktime() and strftime() ask two functions for the zone, which know UTC alone there; these two, and tzset(), stand here.
 *
 * Owns the zone last read, and all names of zones that were ever given out: a struct tm points to them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include "own.h"

enum { DAY = 86400 };
/* The day when a half of the year begins, by its kind ('M', 'J', or 'n' for days from 0), and the time on it. */
struct rule { char kind; int month, week, day, seconds; };

/* gmtime() points to this one. */
WEAK const char __utc[] = "GMT";
static char utc[] = "UTC";
char *__tzname[2] = {utc, utc};
long __timezone;
int __daylight;
/* Other names for the same, so that a program may have variables of these names. */
extern char *tzname[2] __attribute__((weak, alias("__tzname")));
extern long timezone __attribute__((weak, alias("__timezone")));
extern int daylight __attribute__((weak, alias("__daylight")));

static struct { char text[256]; long summer; struct rule begins, ends; } zone;

static char *kept(const char *name, size_t length) {
  static struct name { struct name *next; char text[]; } *all;
  for (struct name *n = all; n != NULL; n = n->next)
    if (strlen(n->text) == length && memcmp(n->text, name, length) == 0) return n->text;
  struct name *n = malloc(sizeof *n + length + 1);
  if (n == NULL) return utc;
  memcpy(n->text, name, length);
  n->text[length] = 0;
  n->next = all;
  all = n;
  return n->text;
}

/* Letters, or anything between < and >. @returns NULL where there is no name */
static char *read_name(const char **at) {
  const char *from = *at, *end = from;
  if (*from == '<') {
    end = strchr(++from, '>');
    if (end == NULL) return NULL;
    *at = end + 1;
  } else {
    while (isalpha((unsigned char)*end)) end++;
    *at = end;
  }
  return end - from < 3 ? NULL : kept(from, (size_t)(end - from));
}

/* [+-]hh[:mm[:ss]] */
static int read_time(const char **at, int *seconds) {
  const int sign = **at == '-' ? -1 : 1;
  int sum = 0;
  if (**at == '-' || **at == '+') ++*at;
  if (!isdigit((unsigned char)**at)) return 0;
  for (int unit = 3600; unit > 0; unit /= 60) {
    char *end;
    sum += unit * (int)strtol(*at, &end, 10);
    *at = end;
    if (*end != ':' || unit == 1) break;
    ++*at;
  }
  *seconds = sign * sum;
  return 1;
}

static int read_rule(const char **at, struct rule *rule) {
  *rule = (struct rule){.kind = 'n', .seconds = 7200};
  if (*(*at)++ != ',') return 0;
  if (**at == 'M') {
    int used = 0;
    rule->kind = 'M';
    if (sscanf(*at, "M%d.%d.%d%n", &rule->month, &rule->week, &rule->day, &used) < 3 || used == 0) return 0;
    if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5 || rule->day < 0 || rule->day > 6) return 0;
    *at += used;
  } else {
    char *end;
    if (**at == 'J') rule->kind = *(*at)++;
    if (!isdigit((unsigned char)**at)) return 0;
    rule->day = (int)strtol(*at, &end, 10);
    *at = end;
  }
  if (**at != '/') return 1;
  ++*at;
  return read_time(at, &rule->seconds);
}

/* @returns 0 where the text is no zone; the zone is then UTC */
static int read_zone(const char *text) {
  const char *at = text;
  int offset;
  char *name = read_name(&at);
  if (name == NULL || !read_time(&at, &offset)) return 0;
  char *summer = name;
  zone.summer = __timezone = offset;
  __daylight = *at != 0;
  if (__daylight) {
    summer = read_name(&at);
    if (summer == NULL) return 0;
    zone.summer = offset - 3600;
    if (*at != ',' && *at != 0) {
      if (!read_time(&at, &offset)) return 0;
      zone.summer = offset;
    }
    if (*at == 0) at = ",M3.2.0,M11.1.0";
    if (!read_rule(&at, &zone.begins) || !read_rule(&at, &zone.ends) || *at != 0) return 0;
  }
  __tzname[0] = name;
  __tzname[1] = summer;
  return 1;
}

WEAK void tzset(void) {
  const char *text = getenv("TZ");
  if (text == NULL || *text == 0) text = "UTC0";
  if (*text == ':') text++;
  if (strcmp(zone.text, text) == 0) return;
  if (strlen(text) < sizeof zone.text) strcpy(zone.text, text);
  if (read_zone(text)) return;
  zone.summer = __timezone = 0;
  __daylight = 0;
  __tzname[0] = __tzname[1] = utc;
  if (strcmp(text, "UTC") != 0 && strcmp(text, "GMT") != 0)
    fprintf(stderr, "mayfly: TZ=%s is taken as UTC: a rank has no table of places; say it as in TZ=CET-1CEST,M3.5.0,M10.5.0/3\n", text);
}

/* Days from 1970 to the first of January of a year. */
static long long days_to(long long year) {
  const long long y = year - 1;
  return 365 * (year - 1970) + (y / 4 - y / 100 + y / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400);
}
static int is_leap(long long year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/* In the local time before the change. */
static long long change_in(long long year, const struct rule *r) {
  static const short first[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  long long day = days_to(year);
  const int leap = is_leap(year);
  if (r->kind == 'n') day += r->day;
  else if (r->kind == 'J') day += r->day - 1 + (leap && r->day >= 60);
  else {
    day += first[r->month - 1] + (leap && r->month > 2);
    const int length = first[r->month] - first[r->month - 1] + (leap && r->month == 2);
    const int weekday = (int)(((day + 4) % 7 + 7) % 7);
    int in_month = (r->day - weekday + 7) % 7 + 7 * (r->week - 1);
    if (in_month >= length) in_month -= 7;
    day += in_month;
  }
  return day * DAY + r->seconds;
}

static int is_summer(long long t, int local) {
  if (!__daylight) return 0;
  /* Of both, in standard time. A time that the clocks leave out counts as standard time, one that they repeat as summer. */
  const long long saved = __timezone - zone.summer, standard = local ? t : t - __timezone;
  /* Gregorian years back to 1: a year in question is found within two of the mean. */
  long long year = 1970 + standard / 31556952;
  while (days_to(year) * DAY > standard) year--;
  while (days_to(year + 1) * DAY <= standard) year++;
  const long long begins = change_in(year, &zone.begins) + (local ? saved : 0), ends = change_in(year, &zone.ends) - (local ? 0 : saved);
  return begins < ends ? standard >= begins && standard < ends : standard >= begins || standard < ends;
}

/* wasi-libc's localtime_r() and mktime() ask this: offsets are to the east. */
WEAK void __secs_to_zone(long long t, int local, int *isdst, int *offset, long *other_offset, const char **name) {
  tzset();
  *isdst = is_summer(t, local);
  *offset = (int)-(*isdst ? zone.summer : __timezone);
  if (other_offset != NULL) *other_offset = -(*isdst ? __timezone : zone.summer);
  *name = __tzname[*isdst];
}
/* strftime()'s %Z. A struct tm that the program filled in itself may point anywhere. */
WEAK const char *__tm_to_tzname(const struct tm *tm) {
  const char *const name = tm->__tm_zone;
  tzset();
  return name == __utc || name == __tzname[0] || name == __tzname[1] ? name : "";
}

/* Of <omp.h>. */
WEAK double omp_get_wtime(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of a rank is time by the job's clock, from the first question on. WASI's numbers of the clocks are 2 and 3. */
struct __clockid { unsigned number; };
WEAK const struct __clockid mayfly_process_clock = {2}, mayfly_thread_clock = {3};

static clock_t in_units(const struct __clockid *of, long long per_second) {
  struct timespec t;
  if (clock_gettime(of, &t) != 0) return (clock_t)-1;
  return (clock_t)(t.tv_sec * per_second + t.tv_nsec / (1000000000 / per_second));
}
WEAK clock_t clock(void) { return in_units(CLOCK_PROCESS_CPUTIME_ID, CLOCKS_PER_SEC); }
WEAK clock_t times(struct tms *t) {
  const long ticks = sysconf(_SC_CLK_TCK);
  *t = (struct tms){.tms_utime = in_units(CLOCK_PROCESS_CPUTIME_ID, ticks)};
  return in_units(CLOCK_MONOTONIC, ticks);
}
