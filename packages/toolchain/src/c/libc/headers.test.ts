/**
 * Every header that a program may include compiles: alone in the default mode of C and in its strictest, where headers
 * must not lean on what others or the mode declare; and all together in every mode of C and C++.
 */
import { expect, it } from 'vitest';
import { cc } from '../driver/cc.ts';
import { MemoryFiles } from '../files.ts';
import { sysrootFiles } from '../llvm.ts';
import { resources } from '../resources.ts';

/** Below `wasi/` lies what only the library itself includes. */
const isPublic = (name: string): boolean => name.endsWith('.h') && !/^(__|bits\/|wasi\/|c\+\+\/)/.test(name);
const below = (paths: Iterable<string>, folder: string): string[] =>
  [...paths].filter((p) => p.startsWith(folder)).map((p) => p.slice(folder.length));
const headers = [
  ...new Set([
    ...below(sysrootFiles().files.keys(), '/include/wasm32-wasip1/'),
    ...below(resources().files.files.keys(), '/compat/include/'),
  ]),
]
  .filter(isPublic)
  .sort();

/** What clang says against a file that includes these. */
function errors(includes: readonly string[], mode: string): string[] {
  const cxx = mode.includes('++');
  const path = cxx ? '/a.cc' : '/a.c';
  const text = includes.map((name) => `#include <${name}>\n`).join('');
  const r = cc(['-fsyntax-only', '-w', '-ferror-limit=0', mode, path], {
    files: new MemoryFiles({ [path]: `${text}int own;\n` }),
    cwd: '/',
    driver: cxx ? 'mpicxx' : 'mpicc',
  });
  const lines = new TextDecoder().decode(r.stderr).split('\n');
  return r.exit === 0 ? [] : [includes[0]!, ...lines.filter((line) => line.includes('error'))];
}

it('there are more than a hundred, those of POSIX among them', () => {
  expect(headers.length).toBeGreaterThan(100);
  expect(headers).toEqual(expect.arrayContaining(['signal.h', 'pthread.h', 'sched.h', 'omp.h', 'sys/wait.h']));
});

it.each(['-ansi', '-std=gnu17'])('each alone with %s', (mode) => {
  expect(headers.flatMap((name) => errors([name], mode))).toEqual([]);
});

it.each(['c89', 'c99', 'c11', 'c17', 'c23', 'gnu89', 'gnu99', 'gnu11', 'gnu17', 'gnu23'])(
  'all together with -std=%s, forwards and backwards',
  (mode) => {
    expect(errors(headers, `-std=${mode}`)).toEqual([]);
    expect(errors([...headers].reverse(), `-std=${mode}`)).toEqual([]);
  },
);

it.each(['c++98', 'c++11', 'c++17', 'c++23', 'gnu++17'])('all together with -std=%s', (mode) => {
  expect(errors(headers, `-std=${mode}`)).toEqual([]);
});

/** "the GNU C preprocessor … predefines `unix`" with underscores in every mode, and without in gnu's alone (cpp). */
it.each([
  ['', 'c', 1],
  ['-ansi', 'c', 0],
  ['-std=c99', 'c', 0],
  ['-std=gnu89', 'c', 1],
  ['-std=c11 -std=gnu11', 'c', 1],
  ['-std=iso9899:1999', 'c', 0],
  ['', 'cc', 1],
  ['-std=c++17', 'cc', 0],
  ['-std=gnu++20', 'cc', 1],
  ['-Uunix -U__unix__ -U__unix', 'c', -1],
])('%s: __unix__ and __unix are defined for a file .%s, unix is: %d', (flags, extension, bare) => {
  const files = new MemoryFiles({
    [`/a.${extension}`]: `
#if ${bare < 0 ? '' : '!'}(defined __unix__ && defined __unix && !defined __linux__)
#error with underscores
#endif
#${bare === 1 ? 'ifndef' : 'ifdef'} unix
#error without underscores
#endif
`,
  });
  const r = cc([...flags.split(' ').filter(Boolean), '-c', `/a.${extension}`], {
    files,
    cwd: '/',
    driver: extension === 'c' ? 'mpicc' : 'mpicxx',
  });
  expect(new TextDecoder().decode(r.stderr)).toBe('');
});
