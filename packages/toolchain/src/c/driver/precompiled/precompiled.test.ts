import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { CallStore } from '../cache/call-store.ts';
import { rememberedCc } from '../cache/remembered.ts';
import { hashOf } from '../cache/traced-files.ts';
import { cc } from '../cc.ts';
import { DriverRun } from '../run.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-pch-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** Calls are not remembered: clang runs in each. */
class ForgetfulStore extends CallStore {
  override calls(): [] {
    return [];
  }
}

const PROGRAM = `#include "own.h"
#include <iostream>
#include <vector>
#ifdef NAMED_LATER
#include <map>
#endif
int main(int argc, char **argv) {
  std::vector<int> v(argc, OWN);
  for (int x : v) std::cout << x << std::endl;
  int unused;
  return __COUNTER__ + WRONG;
}
`;

interface Made {
  readonly exit: number;
  readonly err: string;
  readonly object: Uint8Array | undefined;
  readonly rules: string;
}

/** One source, compiled with precompiled headers in the store, or without. */
function compile(argv: string, store?: CallStore, sources: Record<string, string> = {}): Made {
  const files = new MemoryFiles({ '/me/a.cc': PROGRAM, '/me/own.h': '#pragma once\n#define OWN 7\n', ...sources });
  const options = { files, cwd: '/me', driver: 'mpicxx' } as const;
  const args = `-mno-long64 -Wall -Iinc -MD -MP -c a.cc -o a.o ${argv}`.split(' ');
  const r = store === undefined ? cc(args, options) : rememberedCc(args, options, store, 'version 1');
  return { exit: r.exit, err: text(r.stderr), object: files.read('/me/a.o'), rules: text(files.read('/me/a.d')) };
}

const precompiled = (store: string): string[] =>
  readdirSync(join(folder, store, 'bytes')).filter((n) =>
    readFileSync(join(folder, store, 'bytes', n))
      .subarray(0, 4)
      .equals(Buffer.from('CPCH')),
  );

test('the object, the warnings and the rules for make are those of an ordinary compilation', () => {
  const store = new ForgetfulStore(join(folder, 'same'));
  const argv = '-std=c++14 -O1 -DWRONG=0 -DNAMED_LATER';
  const made = compile(argv, store);
  expect(made).toEqual(compile(argv));
  expect(made).toMatchObject({ exit: 0, rules: 'a.o: a.cc own.h\nown.h:\n' });
  expect(made.err).toContain("unused variable 'unused'");
  // <vector>, and the rest over it. A macro that no header names makes no other one, nor does a second version of the
  // program.
  expect(precompiled('same').length).toBe(2);
  const other = { '/me/own.h': '#pragma once\n#define OWN 8\n' };
  const again = compile('-std=c++14 -O1 -DWRONG=1', store, other);
  expect(precompiled('same').length).toBe(2);
  expect(again).toEqual(compile('-std=c++14 -O1 -DWRONG=1', undefined, other));
  expect(again.object).not.toEqual(made.object);
});

test('clang reads one, and one that is damaged is made again', () => {
  const place = join(folder, 'damaged');
  const runs = vi.spyOn(DriverRun.prototype, 'llvm');
  try {
    const good = compile('-DWRONG=0', new ForgetfulStore(place));
    expect([good.exit, precompiled('damaged').length]).toEqual([0, 2]);
    expect(runs.mock.calls.map((args) => args.some((a) => a.endsWith('.pch')))).toEqual([true]);
    for (const name of precompiled('damaged')) {
      const path = join(place, 'bytes', name);
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(path, bytes);
    }
    const whole = (): number =>
      precompiled('damaged').filter((n) => hashOf(readFileSync(join(place, 'bytes', n))) === n).length;
    expect(whole()).toBe(0);
    const later = new ForgetfulStore(place);
    expect(compile('-DWRONG=0', later)).toEqual(good);
    expect(whole()).toBe(2);
    expect(runs.mock.calls.at(-1)!.some((a) => a.endsWith('.pch'))).toBe(true);
  } finally {
    runs.mockRestore();
  }
});

test('errors name the places that they name in an ordinary compilation', () => {
  const store = new ForgetfulStore(join(folder, 'errors'));
  const sources = {
    '/me/a.cc':
      '#include <vector>\nstruct S { S(const S &) = delete; };\nvoid f(std::vector<S> &v, S &s) { v.push_back(s); }\n',
  };
  const failed = compile('', store, sources);
  expect(failed).toEqual(compile('', undefined, sources));
  expect(failed.err).toContain('In file included from a.cc:1:\n');
  expect(precompiled('errors').length).toBe(1);
});

test.each([
  ['an option that it does not know', '-Xclang -fno-validate-pch', {}],
  ['a folder of the caller that hides a header', '', { '/me/inc/__config': '#error mine\n' }],
  ['a macro of the source', '', { '/me/own.h': '#define OWN 1\n#define _LIBCPP_ABI_VERSION 2\n' }],
])('none is made for %s', (_what, argv, sources) => {
  const store = new ForgetfulStore(join(folder, 'none'));
  // The sources need not compile: whether one is made is decided before.
  compile(`-fsyntax-only -DWRONG=0 ${argv}`, store, sources);
  expect(precompiled('none')).toEqual([]);
});
