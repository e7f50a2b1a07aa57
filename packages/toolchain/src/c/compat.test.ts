import { expect, test } from 'vitest';
import { buildModule } from './build-module.ts';
import { TestHost } from './host-for-tests.ts';

test('what codes for a POSIX machine call now and then compiles, and answers politely', () => {
  const { wasm, info } = buildModule(
    {
      '/main.c': `
#include <mpi.h>
#include <errno.h>
#include <libgen.h>
#include <omp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int caught;
static void handler(int n) { caught = n; }
int main(void) {
  __uint8_t small = 255; u_int32_t wide = 7; uint plain = 1;
  char host[64], path[] = "/a/b";
  struct rusage usage; struct rlimit limit; struct tms t; cpu_set_t set;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  printf("%d %u %u\\n", small, wide, plain);
  printf("system %d %d popen %d\\n", system(NULL), system("ls"), popen("ls", "r") == NULL);
  printf("host %d %s user %d\\n", gethostname(host, sizeof host), host, getpwuid(getuid()) == NULL);
  memset(&usage, 255, sizeof usage);
  printf("rusage %d limit %d times %d clock %d\\n",
    getrusage(RUSAGE_SELF, &usage), getrlimit(RLIMIT_STACK, &limit), times(&t) != (clock_t)-1, clock() != (clock_t)-1);
  printf("usage %d faults %ld switches %ld\\n",
    usage.ru_maxrss > 64, usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw);
  CPU_ZERO(&set);
  printf("affinity %d base %s pid %d\\n",
    sched_setaffinity(0, sizeof set, &set) + pthread_setaffinity_np(pthread_self(), sizeof set, &set),
    basename(path), getpid() > 0);
  int installed = sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  printf("signal %d %d\\n", installed, caught == SIGUSR1);
  char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  map[4095] = 'm';
  printf("map %c fork %d %d\\n", map[4095], fork(), errno == ENOSYS);
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
  printf("omp %d %d\\n", sum, omp_get_max_threads());
  printf("long double %.20Lf\\n", 1.0L / 3);
  return 0;
}`,
    },
    { flags: ['-fopenmp'] },
  );
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe(
    '255 7 1\nsystem 0 -1 popen 1\nhost 0 mayfly user 1\nrusage 0 limit 0 times 1 clock 1\nusage 1 faults 0 ' +
      'switches 0\naffinity 0 base b pid 1\nsignal 0 1\nmap m fork -1 1\nomp 45 1\nlong double ' +
      '0.33333333333333333333\n',
  );
  expect(host.err).toContain('mayfly: system: a rank has no shell\n');
  expect(host.err).toContain('mayfly: fork: ');
});
