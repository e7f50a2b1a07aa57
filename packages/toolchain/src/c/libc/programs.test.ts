/** Programs of which gcc's and glibc's output stands beside them (NAME.expected). */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runProgram } from './run-for-tests.ts';

const file = (name: string): string => readFileSync(new URL(`programs/${name}`, import.meta.url), 'utf8');

it.each(['glibc', 'misc', 'random', 'times'])('%s.c prints what it prints natively', (name) => {
  expect(runProgram(file(`${name}.c`)).out).toBe(file(`${name}.expected`));
});

it('what a rank has not is answered as on a machine without it, or with ENOSYS and one line', () => {
  const { out, err } = runProgram(file('system.c'));
  expect(out).toBe(file('system.expected'));
  expect([...err.matchAll(/^mayfly: (\w+): /gm)].map((m) => m[1])).toEqual(
    'dup dup2 getaddrinfo gethostbyname posix_spawn getcontext wordexp statfs msync'.split(' '),
  );
});

it('err(), warn() and error() say what errno means, and end with their status', () => {
  const { err, exit } = runProgram(file('glibc.c'));
  expect(err).toBe(
    [
      'prog: no file: No such file or directory',
      'prog: plain 5',
      'prog: with 7: Permission denied',
      'prog: without',
      'prog: end: Out of memory',
      '',
    ].join('\n'),
  );
  expect(exit).toBe(3);
});

it('a zone by the name of a place is UTC, and the rank says so once', () => {
  const { out, err } = runProgram(`
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {
  time_t t = 1700000000;
  setenv("TZ", "Europe/Berlin", 1);
  printf("%d ", localtime(&t)->tm_hour); printf("%d\\n", localtime(&t)->tm_hour);
  return 0;
}`);
  expect(out).toBe('22 22\n');
  expect(err).toMatch(/^mayfly: TZ=Europe\/Berlin is taken as UTC: [^\n]*\n$/);
});

it('with _POSIX_C_SOURCE alone, getopt() stops at the first argument that is no option', () => {
  const source = `
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>
int main(void) { char *v[] = {"a", "in", "-v", NULL}; printf("%d %d\\n", getopt(3, v, "v"), optind); return 0; }`;
  expect(runProgram(source, { flags: ['-std=c99'] }).out).toBe('-1 1\n');
});

it("a program's own getopt() and isatty() are its own", () => {
  const source = `
#include <stdio.h>
#include <unistd.h>
#include <getopt.h>
int getopt(int c, char *const *v, const char *o) { (void)c; (void)v; (void)o; return 77; }
int isatty(int fd) { return fd + 40; }
int timezone = 5;
int main(void) { printf("%d %d %d\\n", getopt(0, 0, 0), isatty(2), timezone); return 0; }`;
  expect(runProgram(source, { flags: ['-std=c99', '-D_BSD_SOURCE'] }).out).toBe('77 42 5\n');
});
