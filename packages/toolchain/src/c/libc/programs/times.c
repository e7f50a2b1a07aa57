/* Time zones by TZ, and the processor clock: what gcc and glibc print of it stands in times.expected. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
static void show(const char *zone, long long when) {
  time_t t = when;
  struct tm r, *p;
  char b[100];
  setenv("TZ", zone, 1);
  p = localtime(&t);
  strftime(b, sizeof b, "%F %T %Z %z", p);
  printf("%s dst %d back %d", b, p->tm_isdst, mktime(p) == t);
  tzset();
  localtime_r(&t, &r);
  r.tm_isdst = -1;
  printf(" %d | %s %s %ld %d\n", mktime(&r) == t, tzname[0], tzname[1], timezone, daylight);
}
int main(void) {
  struct tm m;
  show("UTC", 1700000000);
  show("", 1700000000);
  show("EST5EDT,M3.2.0,M11.1.0", 1689000000);
  show("EST5EDT,M3.2.0,M11.1.0", 1700000000);
  show("EST5EDT,M3.2.0,M11.1.0", 1678604399);
  show("EST5EDT,M3.2.0,M11.1.0", 1678604400);
  show("EST5EDT,M3.2.0,M11.1.0", 1699163999);
  show("EST5EDT,M3.2.0,M11.1.0", 1699164000 + 3600);
  show("CET-1CEST,M3.5.0,M10.5.0/3", 1711846799);
  show("CET-1CEST,M3.5.0,M10.5.0/3", 1711846800);
  show("IST-5:30", -5000000000);
  show("AEST-10AEDT,M10.1.0,M4.1.0/3", 1704067200);
  show("AEST-10AEDT,M10.1.0,M4.1.0/3", 1719792000);
  show("IST-5:30", 1700000000);
  show("<+0330>-3:30", 1700000000);
  show("NST3:30NDT2:30,J60/0:30,300/1", 1700000000);
  show("ABC-3DEF-5,M3.2.0/-2,M11.1.0/26", 1689000000);
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  memset(&m, 0, sizeof m);
  m.tm_year = 124; m.tm_mon = 2; m.tm_mday = 31; m.tm_hour = 2; m.tm_min = 30; m.tm_isdst = -1;
  printf("%lld", (long long)mktime(&m)); printf(" %d:%d %d\n", m.tm_hour, m.tm_min, m.tm_isdst);
  memset(&m, 0, sizeof m);
  m.tm_year = 124; m.tm_mon = 13; m.tm_mday = 45; m.tm_hour = -30; m.tm_isdst = 0;
  printf("%lld", (long long)mktime(&m)); printf(" %d-%d-%d %d wday %d yday %d\n", m.tm_year, m.tm_mon, m.tm_mday, m.tm_hour, m.tm_wday, m.tm_yday);
  m.tm_isdst = 1;
  printf("%lld\n", (long long)mktime(&m));
  printf("%s", ctime(&(time_t){1689000000}));
  struct timespec ts;
  struct tms ticks;
  printf("%d %d ", clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), ts.tv_sec < 1000);
  printf("%d %ld ", times(&ticks) != (clock_t)-1 && ticks.tms_utime < 100000, sysconf(_SC_CLK_TCK));
  printf("%ld %d\n", (long)CLOCKS_PER_SEC, (double)clock() / CLOCKS_PER_SEC < 1000);
  return 0;
}
