import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { DiskFiles, MemoryFiles, type FileTree } from '../../files.ts';
import { CallStore, type RememberedCall } from './call-store.ts';
import { rememberedCc } from './remembered.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-calls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Counts the calls for which clang ran. */
class CountingStore extends CallStore {
  compiled = 0;
  override remember(key: string, call: RememberedCall): void {
    this.compiled++;
    super.remember(key, call);
  }
}
let store: CountingStore;
beforeEach(() => {
  rmSync(join(folder, 'store'), { recursive: true, force: true });
  store = new CountingStore(join(folder, 'store'));
});

const drive = (
  files: FileTree,
  argv: string,
  { cwd = '/me', code = 'version 1' } = {},
): { exit: number; out: string; err: string } => {
  const r = rememberedCc(
    argv.split(' '),
    { files, cwd, driver: 'mpicc', launcher: Buffer.from('#!/bin/sh\n') },
    store,
    code,
  );
  return { exit: r.exit, out: text(r.stdout), err: text(r.stderr) };
};
const sources = (): MemoryFiles =>
  new MemoryFiles({
    '/me/a.c': '#include "a.h"\n#include <b.h>\nint main(void) { int unused; return A + B; }\n',
    '/me/a.h': '#define A 1\n',
    '/me/second/b.h': '#define B 2\n',
    '/me/first/other.h': '',
  });
const COMPILE = '-Wall -MD -Ifirst -Isecond -c a.c -o a.o';

test('a repeated call writes the same files and the same warnings, and clang does not run', () => {
  const files = sources();
  const first = drive(files, COMPILE);
  expect(first).toEqual({ exit: 0, out: '', err: expect.stringContaining("unused variable 'unused'") });
  const [object, rule] = [files.read('/me/a.o')!, text(files.read('/me/a.d')!)];
  for (const name of ['a.o', 'a.d']) files.remove(`/me/${name}`, 'file');
  expect(drive(files, COMPILE)).toEqual(first);
  expect(store.compiled).toBe(1);
  expect([files.read('/me/a.o'), text(files.read('/me/a.d')!)]).toEqual([object, rule]);
  // What lay under the output's name does not matter.
  files.write('/me/a.o', new Uint8Array(3));
  drive(files, COMPILE);
  expect([store.compiled, files.read('/me/a.o')]).toEqual([1, object]);
});

test('what a call depends on: texts, the absence of a header, options, folder, version of the drivers', () => {
  const files = sources();
  drive(files, COMPILE);
  const before = files.read('/me/a.o')!;
  files.write('/me/a.h', Buffer.from('#define A 7\n'));
  drive(files, COMPILE);
  expect([store.compiled, text(files.read('/me/a.o')!) === text(before)]).toEqual([2, false]);
  files.write('/me/a.h', Buffer.from('#define A 1\n'));
  drive(files, COMPILE);
  expect([store.compiled, files.read('/me/a.o')]).toEqual([2, before]);
  // Found before the one of the earlier call.
  files.write('/me/first/b.h', Buffer.from('#define B 20\n'));
  drive(files, COMPILE);
  expect([store.compiled, text(files.read('/me/a.o')!) === text(before)]).toEqual([3, false]);
  drive(files, `-DA2 ${COMPILE}`);
  drive(files, COMPILE, { code: 'version 2' });
  drive(files, '-c ../me/a.c -I../me/second -o /me/a.o', { cwd: '/other' });
  expect(store.compiled).toBe(6);
});

test('neither errors nor texts that ask for the time of their file are remembered', () => {
  const files = new MemoryFiles({ '/me/bad.c': 'int x = y;\n', '/me/time.c': 'const char *t = __TIMESTAMP__;\n' });
  expect([drive(files, '-c bad.c').exit, drive(files, '-c bad.c').exit]).toEqual([1, 1]);
  expect([drive(files, '-c time.c').exit, store.compiled]).toEqual([0, 0]);
});

test('a damaged store is an empty one', () => {
  const files = sources();
  drive(files, COMPILE);
  const good = files.read('/me/a.o')!;
  const damage = (part: string): void => {
    const at = join(folder, 'store', part);
    for (const name of readdirSync(at)) {
      const bytes = readFileSync(join(at, name));
      if (bytes.length > 0) bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(join(at, name), bytes);
    }
  };
  damage('bytes');
  drive(files, COMPILE);
  expect([store.compiled, files.read('/me/a.o')]).toEqual([2, good]);
  damage('calls');
  drive(files, COMPILE);
  expect([store.compiled, files.read('/me/a.o')]).toEqual([3, good]);
});

test('on the disk: a linked program can be started again; one header under two names is not two headers', () => {
  const cwd = join(folder, 'disk');
  const files = new DiskFiles();
  files.makeDirectory(cwd);
  const at = (name: string): string => join(cwd, name);
  writeFileSync(at('a.h'), '#pragma once\nstatic int one(void) { return 1; }\n');
  symlinkSync('a.h', at('b.h'));
  writeFileSync(at('a.c'), '#include "a.h"\n#include "b.h"\nint main(void) { return one(); }\n');
  expect(drive(files, 'a.c -o a', { cwd })).toEqual({ exit: 0, out: '', err: '' });
  unlinkSync(at('a'));
  drive(files, 'a.c -o a', { cwd });
  expect([store.compiled, statSync(at('a')).mode & 0o111]).toEqual([1, 0o111]);
  expect(readFileSync(at('a')).subarray(0, 2).toString()).toBe('#!');
  unlinkSync(at('b.h'));
  copyFileSync(at('a.h'), at('b.h'));
  expect(drive(files, 'a.c -o a', { cwd })).toMatchObject({ exit: 1, err: expect.stringContaining('redefinition') });
});

test('the store stays below its limit: what was used least recently goes', () => {
  const limited = new CallStore(join(folder, 'limited'), 100_000);
  const call = (fill: number): RememberedCall => {
    const bytes = limited.put(new Uint8Array(40_000).fill(fill));
    return { inputs: [], outputs: [{ path: '/a', executable: false, bytes }], stdout: bytes, stderr: bytes };
  };
  const calls = [1, 2].map(call);
  calls.forEach((c, i) => limited.remember(`key${i}`, c));
  const old = new Date(0);
  const third = call(3);
  for (const c of calls) utimesSync(join(folder, 'limited/bytes', c.stdout), old, old);
  limited.used('key0', calls[0]!);
  new CallStore(join(folder, 'limited'), 100_000).remember('key2', third);
  expect([calls[0]!, calls[1]!, third].map((c) => limited.get(c.stdout) !== undefined)).toEqual([true, false, true]);
});
