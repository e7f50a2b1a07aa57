import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { OutputFiles } from '../src/output-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-outfile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);

test('each rank has a file, which begins anew with each run', () => {
  writeFileSync(join(folder, 'out.1.100%'), 'of an earlier run\n');
  const files = new OutputFiles(join(folder, 'out.%r.100%%'), '--outfile-pattern');
  files.write(1, bytes('one '));
  files.write(10, bytes('ten\n'));
  files.write(1, bytes('and more\n'));
  expect(readdirSync(folder).sort()).toEqual(['out.1.100%', 'out.10.100%']);
  expect(readFileSync(join(folder, 'out.1.100%'), 'utf8')).toBe('one and more\n');
});

test('without %r, the ranks share a file', () => {
  const files = new OutputFiles(join(folder, 'all'), '--outfile-pattern');
  files.write(1, bytes('one\n'));
  files.write(0, bytes('zero\n'));
  expect(readFileSync(join(folder, 'all'), 'utf8')).toBe('one\nzero\n');
});

test('below a folder, as Open MPI has it: the names of ranks are as long as the longest', () => {
  const below = join(folder, 'deep%r/run');
  OutputFiles.below(below, 'stderr', 1);
  const files = OutputFiles.below(below, 'stdout', 11);
  files.write(3, bytes('three\n'));
  files.write(10, bytes('ten\n'));
  expect(readFileSync(join(below, '1/rank.03/stdout'), 'utf8')).toBe('three\n');
  expect(readFileSync(join(below, '1/rank.10/stdout'), 'utf8')).toBe('ten\n');
  writeFileSync(join(folder, 'file'), '');
  expect(() => OutputFiles.below(join(folder, 'file'), 'stdout', 1)).toThrow(/^--output-filename: E/);
});

test('what cannot be written is an error before the job begins, or names the file', () => {
  expect(() => new OutputFiles(join(folder, 'no', 'out.%r'), '--errfile-pattern')).toThrow(/^--errfile-pattern: there/);
  expect(() => new OutputFiles('out.%h', '--outfile-pattern')).toThrow("'%h' is unknown");
  const files = new OutputFiles(folder, '--outfile-pattern');
  expect(() => files.write(0, bytes('x'))).toThrow(/^--outfile-pattern: EISDIR/);
});
