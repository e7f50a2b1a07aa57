/** The registry and the rest of the data directory disagree: the server does not start, and removes nothing; what a crash leaves of making or removing a job is finished. */
import { openEmbeddedStorage } from '@mayfly/storage';
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, freshDir, later, program, startServer, until } from './harness.ts';

let original: string;
let job: string;
/** A directory of a server with one job that has ended. */
beforeAll(async () => {
  // Not one of freshDir, which goes after each test.
  original = join(mkdtempSync(join(tmpdir(), 'mayfly-server-')), 'data');
  const server = await startServer({ dataDir: original });
  const node = await startHeadlessNode({ server: server.localUrl, slots: 1, name: 'a' });
  job = ((await api(server, 'POST', '/api/jobs', program(`console.log('hello');`, 1))).body as { id: string }).id;
  await until('the end', async () => ((await api(server, 'GET', `/api/jobs/${job}`)).body as JobView).state === 'done');
  await node.close(0);
  await server.close();
});

afterAll(() => rmSync(dirname(original), { recursive: true }));

const filesOf = (dir: string): string[] => (readdirSync(dir, { recursive: true }) as string[]).filter((f) => !f.startsWith('registry')).sort();

async function copy(): Promise<string> {
  const dir = join(await freshDir(), 'data');
  cpSync(original, dir, { recursive: true });
  return dir;
}

describe('a registry that lacks a job', () => {
  it.each([
    ['is gone', (dir: string) => rmSync(join(dir, 'registry'), { recursive: true })],
    ['is empty', (dir: string) => {
      rmSync(join(dir, 'registry'), { recursive: true });
      mkdirSync(join(dir, 'registry'));
    }],
    ['is a data.mdb of 0 bytes', (dir: string) => {
      rmSync(join(dir, 'registry'), { recursive: true });
      mkdirSync(join(dir, 'registry'));
      writeFileSync(join(dir, 'registry', 'data.mdb'), '');
    }],
    ['has only empty files', (dir: string) => readdirSync(join(dir, 'registry')).forEach((f) => truncateSync(join(dir, 'registry', f), 0))],
    ['is that of another directory', async (dir: string) => {
      rmSync(join(dir, 'registry'), { recursive: true });
      const other = join(await freshDir(), 'other');
      await (await startServer({ dataDir: other })).close();
      renameSync(join(other, 'registry'), join(dir, 'registry'));
    }],
  ])('%s: the server does not start, says why and what to do, and everything stays', async (_what, damage) => {
    const dir = await copy();
    await damage(dir);
    const before = filesOf(dir);
    await expect(startServer({ dataDir: dir })).rejects.toMatchObject({ code: 'DAMAGED_DATA', message: expect.stringMatching(/registry|data\.mdb/) as string });
    expect(filesOf(dir)).toEqual(before);
    expect(existsSync(join(dir, 'jobs', job, 'out', '0.stdout'))).toBe(true);
  });

  it('a folder of an unknown job alone is enough', async () => {
    const dir = await copy();
    mkdirSync(join(dir, 'jobs', '0unknownjob0'));
    await expect(startServer({ dataDir: dir })).rejects.toMatchObject({ message: expect.stringMatching(/a job that its registry does not know \(0unknownjob0\).*mayfly check .* --repair/) as string });
    expect(existsSync(join(dir, 'jobs', '0unknownjob0'))).toBe(true);
  });
});

describe('a crash in the middle', () => {
  it('of making a job: its folder goes, since it was never accepted', async () => {
    const dir = await copy();
    const storage = await openEmbeddedStorage({ dataDir: dir });
    await storage.registry.commit([['making/0halfmade000', { at: 1 }]]);
    await storage.close();
    mkdirSync(join(dir, 'jobs', '0halfmade000', 'in'), { recursive: true });
    const server = await startServer({ dataDir: dir });
    later(() => server.close());
    expect(readdirSync(join(dir, 'jobs'))).toEqual([job]);
  });

  it.each(['before', 'after'])('of removing a job, %s its records went: it is gone, with its files, logs and images', async (when) => {
    const dir = await copy();
    const storage = await openEmbeddedStorage({ dataDir: dir });
    await storage.registry.commit([[`removing/${job}`, { at: 1 }], ...(when === 'after' ? (await storage.registry.entries('')).filter(([k]) => k.includes(job)).map(([k]) => [k, undefined] as const) : [])]);
    const log = await storage.log.open(`${job}/cm0/t0`);
    log.append(new Uint8Array(3));
    await storage.images.putManifest(`${job}-0-0-1`, '{"pages":[]}');
    await storage.close();
    const server = await startServer({ dataDir: dir });
    expect((await api(server, 'GET', '/api/jobs')).body).toEqual([]);
    expect(readdirSync(join(dir, 'jobs'))).toEqual([]);
    expect(readdirSync(join(dir, 'log'))).toEqual([]);
    expect(readdirSync(join(dir, 'images', 'manifests'))).toEqual([]);
    await server.close();
    const again = await startServer({ dataDir: dir });
    later(() => again.close());
  });

  it('a job that is deleted leaves nothing, no mark either', async () => {
    const dir = await copy();
    const server = await startServer({ dataDir: dir });
    expect((await api(server, 'DELETE', `/api/jobs/${job}`)).status).toBe(200);
    await server.close();
    expect(readdirSync(join(dir, 'jobs'))).toEqual([]);
    const storage = await openEmbeddedStorage({ dataDir: dir });
    later(() => storage.close());
    expect((await storage.registry.entries('')).map(([k]) => k).filter((k) => k.includes(job) || /^(making|removing)/.test(k))).toEqual([]);
  });
});
