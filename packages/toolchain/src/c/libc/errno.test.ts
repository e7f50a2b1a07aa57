/** errno after calls of which clang knows what they write. */
import { expect, it } from 'vitest';
import { runProgram } from './run-for-tests.ts';

/** "If there is not enough space, the function returns a null pointer and sets errno to ENOMEM" (POSIX, malloc). */
const ALLOCATE = `
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int errno;
static void *volatile sink;
int main() {
  errno = 0; sink = malloc(SIZE_MAX / 2); printf("%d", errno == ENOMEM);
  errno = 0; sink = calloc(SIZE_MAX / 4, 8); printf(" %d", errno == ENOMEM);
  errno = 0; sink = realloc(malloc(4), SIZE_MAX / 2); printf(" %d", errno == ENOMEM);
  errno = 0; sink = aligned_alloc(64, SIZE_MAX / 2 / 64 * 64); printf(" %d", errno == ENOMEM);
  errno = 0; sink = strdup("x"); printf(" %d", errno);
  errno = 0; strtol("99999999999999999999", NULL, 10); printf(" %d\\n", errno == ERANGE);
  return 0;
}`;

it.each(['-O0', '-O1', '-O3'])('malloc() that fails leaves ENOMEM, in C with %s', (flag) => {
  expect(runProgram(ALLOCATE, { flags: [flag] }).out).toBe('1 1 1 1 0 1\n');
});
it.each(['-std=c23', '-ansi'])('with %s as well', (flag) => {
  expect(
    runProgram(ALLOCATE.replace('aligned_alloc(64,', 'realloc(0,').replace('strdup("x")', '0'), { flags: [flag] }).out,
  ).toBe('1 1 1 1 0 1\n');
});
it('and in C++', () => {
  expect(runProgram(ALLOCATE, { name: '/main.cc', flags: ['-O2', '-std=c++17'] }).out).toBe('1 1 1 1 0 1\n');
});
it('a program that declares errno itself, without the header, sees the same', () => {
  const source = `
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
extern int errno;
int main(void) { errno = 0; strtol("99999999999999999999", NULL, 10); printf("%d\\n", errno != 0); return 0; }`;
  expect(runProgram(source).out).toBe('1\n');
});
