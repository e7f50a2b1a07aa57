/** Kills real processes with SIGKILL in the middle of their work; nothing that they acknowledged may be lost. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { blake3 } from 'hash-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedStorage } from '../src/index.ts';
import { temporary } from './temporary.ts';
import { pageOf, recordOf } from './victim-data.ts';

let bundle: { path: string; dispose(): Promise<void> };
beforeAll(async () => {
  bundle = await temporary();
  await build({
    entryPoints: [join(import.meta.dirname, 'victim.ts')],
    outfile: join(bundle.path, 'victim.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => bundle.dispose());

/** Runs the victim until it has printed `lines` lines, then kills it. Returns all it printed whole. */
async function killAfter(directory: string, mode: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [join(bundle.path, 'victim.mjs'), directory, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Its output may end before it does: a write to the disk that is under way is waited for by the kernel.
  const gone = new Promise((resolve) => child.once('exit', resolve));
  let out = '';
  let killed = false;
  for await (const chunk of child.stdout) {
    out += String(chunk);
    if (!killed && out.split('\n').length > lines) {
      killed = true;
      child.kill('SIGKILL');
    }
  }
  await gone;
  expect(killed).toBe(true);
  return out.split('\n').slice(0, -1);
}

describe('kill -9', () => {
  it.each([3, 40, 400])('loses no append that had returned (after %i of them)', async (lines) => {
    const dir = await temporary();
    try {
      for (let life = 0; life < 3; life++) {
        const printed = await killAfter(dir.path, 'append', lines);
        const storage = await openEmbeddedStorage({ dataDir: dir.path });
        for (const name of ['job/cm0/t0', 'job/cm0/t1']) {
          const acknowledged = Math.max(
            -1,
            ...printed.filter((l) => l.startsWith(`${name} `)).map((l) => Number(l.split(' ')[1])),
          );
          const s = await storage.log.open(name);
          expect(s.next).toBeGreaterThan(acknowledged);
          const all = [...s.scan()];
          expect(all.map((r) => r.lsn)).toEqual(Array.from({ length: s.next }, (_, i) => i));
          for (const r of all) expect(Buffer.compare(r.bytes, recordOf(name, r.lsn))).toBe(0);
        }
        await storage.close();
      }
    } finally {
      await dir.dispose();
    }
  });

  it('loses no commit and no page that had been acknowledged', async () => {
    const dir = await temporary();
    try {
      const printed = await killAfter(dir.path, 'commit', 60);
      const storage = await openEmbeddedStorage({ dataDir: dir.path });
      const commits = printed.filter((l) => l.startsWith('commit ')).map((l) => Number(l.split(' ')[1]));
      const pages = printed.filter((l) => l.startsWith('page ')).map((l) => Number(l.split(' ')[1]));
      expect(commits.length).toBeGreaterThan(0);
      expect(pages.length).toBeGreaterThan(0);
      for (const n of commits) expect(await storage.registry.get(`n/${n}`)).toEqual({ n });
      // A commit writes two keys: both or none.
      expect(await storage.registry.get('last')).toBe((await storage.registry.entries('n/')).length - 1);
      for (const n of pages) {
        const raw = pageOf(n);
        expect(Buffer.compare((await storage.images.getPage(await blake3(raw)))!, raw)).toBe(0);
      }
      await storage.close();
    } finally {
      await dir.dispose();
    }
  });

  it('keeps a second server out while the first lives, and lets it in when it was killed', async () => {
    const dir = await temporary();
    try {
      const storage = await openEmbeddedStorage({ dataDir: dir.path });
      await expect(openEmbeddedStorage({ dataDir: dir.path })).rejects.toMatchObject({ code: 'CONFLICT' });
      await storage.close();
      await killAfter(dir.path, 'append', 3);
      await (await openEmbeddedStorage({ dataDir: dir.path })).close();
    } finally {
      await dir.dispose();
    }
  });
});
