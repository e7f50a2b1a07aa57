/** Macros of the command line do not reach into the header that comes before each file (compat/long64.h). */
import { expect, it } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { TestHost } from '../../host-for-tests.ts';
import { instrument } from '../../instrument.ts';
import { resources } from '../../resources.ts';
import { cc } from '../cc.ts';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const COMMON = 'min max abs swap size value type name other mixed data count index first second wide N NX NPROCS DEBUG';
/** Every word of the header that a program may define: also its keywords, as in -Dinline= and -Dconst=. */
const OF_THE_HEADER = new TextDecoder()
  .decode(resources().files.read('/compat/long64.h'))
  .replace(/\/\*[^]*?\*\//g, '')
  .match(/(?<!\w)[A-Za-z]\w*/g)!
  .filter((w) => w !== 'defined' && w !== 'MAYFLY_LONG64_H');
const names = [...new Set([...LETTERS, ...COMMON.split(' '), ...OF_THE_HEADER])];

function drive(
  text: string,
  flags: readonly string[],
  cxx: boolean,
): { exit: number; err: string; files: MemoryFiles } {
  const path = cxx ? '/m.cc' : '/m.c';
  const files = new MemoryFiles({ [path]: text });
  const r = cc([...flags, path, '-o', '/prog'], { files, cwd: '/', driver: cxx ? 'mpicxx' : 'mpicc' });
  return { exit: r.exit, err: new TextDecoder().decode(r.stderr), files };
}

it.each(['c89', 'gnu17', 'c++98', 'gnu++17', 'c++23'])('any name may be a macro, with -std=%s', (mode) => {
  expect(names.length).toBeGreaterThan(90);
  // The program's own text is directives alone: its words are macros.
  const text = names.map((n) => (n === 'long' ? '' : `#ifndef ${n}\n#error ${n} is gone\n#endif\n`)).join('');
  for (const value of ['=3', '=']) {
    const flags = [...names.map((n) => `-D${n}${value}`), `-std=${mode}`, '-c', '-Wall', '-Wextra', '-Werror'];
    expect(drive(text, flags, mode.includes('++')).err).toBe('');
  }
});

it.each([false, true])('a program compiled with -DA=3 -Dmin=… -DN=100 -Db computes with them (C++: %s)', (cxx) => {
  const { exit, err, files } = drive(
    `
#include <stdio.h>
int main(void) { unsigned n = sizeof(int); long long m = min(A, N) + b; printf("%d %d\\n", (int)m, (int)n); return 0; }
`,
    ['-DA=3', '-DN=100', '-Db', '-Dmin(x,y)=((x)<(y)?(x):(y))', '-Dv=1', '-DT=2'],
    cxx,
  );
  expect([exit, err]).toEqual([0, '']);
  const { wasm, info } = instrument(files.read('/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('4 4\n');
});
