/** `mayfly check`: what it prints, and its exit code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStorage } from '@mayfly/storage';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { check } from '../src/commands/check.ts';

let dir: string;
let printed: string;
beforeEach(async () => {
  dir = join(mkdtempSync(join(tmpdir(), 'mayfly-cli-')), 'data');
  const storage = await openEmbeddedStorage({ dataDir: dir });
  await storage.registry.commit([['secret/token', { salt: '', hash: '' }]]);
  await storage.close();
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(join(dir, '..'), { recursive: true });
});

it('0: healthy', async () => {
  expect(await check(dir, {})).toBe(0);
  expect(printed).toMatch(/^Healthy: 0 jobs/);
});

it('1: problems, a sentence for each, with the name of the file; the repair tells what it did', async () => {
  writeFileSync(join(dir, 'images', 'manifests', 'x.json'), 'garbage');
  expect(await check(dir, {})).toBe(1);
  expect(printed).toMatch(
    /^images\/manifests\/x\.json is damaged: image x cannot be used\n[^]*1 problem .*--repair\n$/,
  );
  printed = '';
  expect(await check(dir, { json: true })).toBe(1);
  expect(JSON.parse(printed)).toMatchObject({ problems: [{ file: 'images/manifests/x.json' }], done: [], jobs: 0 });
});

it('2: cannot check', async () => {
  await expect(check(join(dir, 'none'), {})).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^cannot check: .*is missing/) as string,
  });
  const storage = await openEmbeddedStorage({ dataDir: dir });
  await expect(check(dir, {})).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/in use by process/) as string,
  });
  await storage.close();
});
