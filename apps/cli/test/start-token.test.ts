/** The token of `mayfly start` outlives the process, and is nobody else's to read. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startToken } from '../src/start-token.ts';
import { said, start } from './built.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'mayfly-start-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, 'data', 'start-token');

test('the same data directory has the same token, readable by its owner alone', async () => {
  const token = await startToken(join(folder, 'data'));
  expect(token).toMatch(/^[\w-]{24}$/);
  expect(await startToken(join(folder, 'data'))).toBe(token);
  if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(await startToken(join(folder, 'other'))).not.toBe(token);
});

test('a damaged file, or one that others may read, is no token', async () => {
  const token = await startToken(join(folder, 'data'));
  for (const text of ['', 'short', token + token, '\0'.repeat(24)]) {
    writeFileSync(file(), text);
    const next = await startToken(join(folder, 'data'));
    expect(next).toMatch(/^[\w-]{24}$/);
    expect(next).not.toBe(token);
    expect(readFileSync(file(), 'utf8')).toBe(`${next}\n`);
  }
  if (process.platform === 'win32') return;
  const last = await startToken(join(folder, 'data'));
  chmodSync(file(), 0o644);
  expect(await startToken(join(folder, 'data'))).not.toBe(last);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

test('mayfly start prints the same link at its second start', async () => {
  const tokens = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const server = start(['start', '--port', '0', '--data-dir', join(folder, 'data')], { cwd: folder });
    try {
      tokens.add(await said(server, /dashboard\?token=([\w-]+)/));
    } finally {
      server.child.kill();
      await server.ended;
    }
  }
  expect(tokens.size).toBe(1);
});
