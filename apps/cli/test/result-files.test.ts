/**
 * Names of result files come from strangers' machines: nothing is written outside the directory, or over the program.
 */
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobView } from '@mayfly/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../src/client.ts';
import { saveResultFiles } from '../src/result-files.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-results-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const client = {
  file: async (_id: string, path: string) => new TextEncoder().encode(`bytes of ${path}`),
} as unknown as Client;
const job = (...paths: string[]): JobView =>
  ({ id: 'x', outputs: paths.map((path) => ({ path, bytes: 1, task: 0 })) }) as unknown as JobView;

describe('saveResultFiles', () => {
  it('writes plain names, with folders and colons', async () => {
    expect(await saveResultFiles(client, job('a.txt', 'pictures/b.png', 'run.14:37.yaml'), dir)).toEqual({
      saved: ['a.txt', 'pictures/b.png', 'run.14:37.yaml'],
      refused: [],
    });
    expect(await readFile(join(dir, 'pictures/b.png'), 'utf8')).toBe('bytes of pictures/b.png');
  });

  it.each(['../a', '/etc/x', 'a/../../b', '.bashrc', 'a/.git/hooks/x', 'a//b', '', 'a\\..\\b'])(
    'refuses %j',
    async (path) => {
      const { saved, refused } = await saveResultFiles(client, job(path), dir);
      expect([saved, refused.length]).toEqual([[], 1]);
      expect(await readdir(dir)).toEqual([]);
    },
  );

  it('neither follows links nor overwrites what it was told to spare', async () => {
    await writeFile(join(dir, 'main.ts'), 'mine');
    await symlink('/tmp', join(dir, 'out'));
    const { saved, refused } = await saveResultFiles(
      client,
      job('main.ts', 'out/x'),
      dir,
      new Set([join(dir, 'main.ts')]),
    );
    expect([saved, refused.map((r) => r.path)]).toEqual([[], ['main.ts', 'out/x']]);
    expect(await readFile(join(dir, 'main.ts'), 'utf8')).toBe('mine');
  });
});
