/** The forms of main() that programs have: with the environment, with one parameter, in C and C++. */
import { expect, it } from 'vitest';
import { runProgram } from './run-for-tests.ts';

const HEAD = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void before(void) { setenv("RANK", "seven", 1); }
`;
const FORMS = [
  ['int main(int argc, char **argv, char **envp)', 'printf("%d %s %s %d\\n", argc, argv[1], envp[0], envp == environ)'],
  ['int main(int argc, char *argv[], char *envp[])', 'printf("%d %s %s %d\\n", argc, argv[1], *envp, envp == environ)'],
  ['int main(int argc)', 'printf("%d in RANK=%s 1\\n", argc, getenv("RANK"))'],
  ['int main(void)', 'printf("2 in RANK=%s 1\\n", getenv("RANK"))'],
] as const;

it.each(FORMS.flatMap(([main, print]) => ['main.c', 'main.cc'].map((file) => [main, file, print] as const)))(
  '%s runs in %s',
  (main, file, print) => {
    const { out, err } = runProgram(`${HEAD}${main} { ${print}; return 0; }`, {
      name: `/${file}`,
      flags: ['-D_GNU_SOURCE', '-Wno-main'],
      args: ['in'],
    });
    expect(out).toBe('2 in RANK=seven 1\n');
    expect(err).toBe('');
  },
);

it('what such a main() returns is the exit code', () => {
  expect(runProgram('int main(int c, char **v, char **e) { return c + (e == 0) + 40; }').exit).toBe(41);
});
