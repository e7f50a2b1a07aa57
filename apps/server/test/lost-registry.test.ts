/**
 * The registry and the rest of the data directory disagree: the server does not start, and removes nothing; what a
 * crash leaves of making or removing a job is finished.
 */
import { checkDataDirectory } from '@mayfly/server';
import { openEmbeddedStorage } from '@mayfly/storage';
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
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
  const node = await startHeadlessNode({ server: server.localUrl, slots: 1, name: 'a', allowTypeScript: true });
  job = ((await api(server, 'POST', '/api/jobs', program(`console.log('hello');`, 1))).body as { id: string }).id;
  let view: JobView | undefined;
  await until(
    'the end',
    async () =>
      (view = (await api(server, 'GET', `/api/jobs/${job}`)).body as JobView).state !== 'running' &&
      view.state !== 'waiting',
  );
  expect([view!.state, view!.error]).toEqual(['done', undefined]);
  await node.close(0);
  await server.close();
});

afterAll(() => rmSync(dirname(original), { recursive: true }));

const filesOf = (dir: string): string[] =>
  (readdirSync(dir, { recursive: true }) as string[]).filter((f) => !f.startsWith('registry')).sort();

async function copy(): Promise<string> {
  const dir = join(await freshDir(), 'data');
  cpSync(original, dir, { recursive: true });
  return dir;
}

describe('a registry that lacks a job', () => {
  it.each([
    ['is gone', (dir: string) => rmSync(join(dir, 'registry'), { recursive: true })],
    [
      'is empty',
      (dir: string) => {
        rmSync(join(dir, 'registry'), { recursive: true });
        mkdirSync(join(dir, 'registry'));
      },
    ],
    [
      'is a data.mdb of 0 bytes',
      (dir: string) => {
        rmSync(join(dir, 'registry'), { recursive: true });
        mkdirSync(join(dir, 'registry'));
        writeFileSync(join(dir, 'registry', 'data.mdb'), '');
      },
    ],
    [
      'has only empty files',
      (dir: string) => readdirSync(join(dir, 'registry')).forEach((f) => truncateSync(join(dir, 'registry', f), 0)),
    ],
    [
      'is that of another directory',
      async (dir: string) => {
        rmSync(join(dir, 'registry'), { recursive: true });
        const other = join(await freshDir(), 'other');
        await (await startServer({ dataDir: other })).close();
        renameSync(join(other, 'registry'), join(dir, 'registry'));
      },
    ],
  ])('%s: the server does not start, says why and what to do, and everything stays', async (_what, damage) => {
    const dir = await copy();
    await damage(dir);
    const before = filesOf(dir);
    await expect(startServer({ dataDir: dir })).rejects.toMatchObject({
      code: 'DAMAGED_DATA',
      message: expect.stringMatching(/registry|data\.mdb/) as string,
    });
    expect(filesOf(dir)).toEqual(before);
    expect(existsSync(join(dir, 'jobs', job, 'out', '0.stdout'))).toBe(true);
  });

  it('a folder of an unknown job alone is enough', async () => {
    const dir = await copy();
    mkdirSync(join(dir, 'jobs', '0unknownjob0'));
    await expect(startServer({ dataDir: dir })).rejects.toMatchObject({
      message: expect.stringMatching(
        /a job that its registry does not know \(0unknownjob0\).*mayfly check .* --repair/,
      ) as string,
    });
    expect(existsSync(join(dir, 'jobs', '0unknownjob0'))).toBe(true);
  });
});

describe('mayfly check', () => {
  it('says that a directory is healthy, and changes nothing', async () => {
    const dir = await copy();
    const before = filesOf(dir);
    expect(await checkDataDirectory(dir)).toMatchObject({ problems: [], done: [], jobs: 1 });
    expect(filesOf(dir)).toEqual(before);
  });

  it('cannot check what a server uses, or what is no data directory', async () => {
    const dir = await copy();
    const server = await startServer({ dataDir: dir });
    later(() => server.close());
    await expect(checkDataDirectory(dir)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/in use by process/) as string,
    });
    await expect(checkDataDirectory(await freshDir())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(checkDataDirectory(join(dir, 'none'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('--repair takes an ended job in again when the registry is gone: with its end, its output and its submission', async () => {
    const dir = await copy();
    rmSync(join(dir, 'registry'), { recursive: true });
    const { problems, done } = await checkDataDirectory(dir, { repair: true });
    expect(problems.map((p) => `${p.file} ${p.what}`)).toEqual(
      expect.arrayContaining(['registry is missing', `jobs/${job} belongs to a job that is not in the registry`]),
    );
    expect(done.join('\n')).toMatch(/is in the registry again, with its end and its output/);
    expect((await checkDataDirectory(dir)).problems.map((p) => p.what)).toEqual([
      'holds no owner token: the next start creates a new one',
    ]);
    const server = await startServer({ dataDir: dir });
    later(() => server.close());
    expect((await api(server, 'GET', `/api/jobs/${job}`)).body).toMatchObject({
      state: 'done',
      size: 1,
      tasks: [{ exitCode: 0 }],
    });
    expect((await api(server, 'GET', `/api/jobs/${job}/tasks/0/stdout`)).body).toBe('hello\n');
    expect((await api(server, 'GET', `/api/jobs/${job}/submission`)).status).toBe(200);
  });

  it('--repair shows a job that had not ended as failed, and keeps its logs and images aside', async () => {
    const dir = await copy();
    const first = await startServer({ dataDir: dir });
    const { id } = (await api(first, 'POST', '/api/jobs', program(`console.log('never');`, 2, { name: 'waits' })))
      .body as { id: string };
    await first.close();
    const storage = await openEmbeddedStorage({ dataDir: dir });
    (await storage.log.open(`${id}/cm0/t0`)).append(new Uint8Array(5));
    await storage.images.putManifest(`${id}-0-0-1`, '{"pages":[]}');
    await storage.close();
    rmSync(join(dir, 'registry'), { recursive: true });
    const { done } = await checkDataDirectory(dir, { repair: true });
    expect(done.join('\n')).toMatch(/“waits” had not ended; it is in the registry again as failed/);
    const aside = (readdirSync(join(dir, 'damaged'), { recursive: true }) as string[]).join('\n');
    expect(aside).toMatch(/\.seg/);
    expect(aside).toMatch(/manifests/);
    const server = await startServer({ dataDir: dir });
    later(() => server.close());
    expect((await api(server, 'GET', `/api/jobs/${id}`)).body).toMatchObject({
      state: 'failed',
      error: { code: 'DAMAGED_DATA' },
    });
    expect(((await api(server, 'GET', '/api/jobs')).body as unknown[]).length).toBe(2);
  });

  it('--repair makes a registry of what is left when a log and its twin are damaged; the old files are kept', async () => {
    const dir = await copy();
    for (const f of readdirSync(join(dir, 'registry')).filter((n) => /\.(log|twin)$/.test(n))) {
      const path = join(dir, 'registry', f);
      const bytes = readFileSync(path);
      if (bytes.length > 200) bytes[80]! ^= 1;
      writeFileSync(path, bytes);
    }
    await expect(startServer({ dataDir: dir })).rejects.toMatchObject({
      code: 'DAMAGED_DATA',
      message: expect.stringMatching(/commit \d+ is lost/) as string,
    });
    const { done } = await checkDataDirectory(dir, { repair: true });
    expect(done.join('\n')).toMatch(/registry: rebuilt/);
    expect((readdirSync(join(dir, 'damaged'), { recursive: true }) as string[]).some((f) => f.endsWith('.log'))).toBe(
      true,
    );
    const server = await startServer({ dataDir: dir });
    later(() => server.close());
    expect((await api(server, 'GET', `/api/jobs/${job}/tasks/0/stdout`)).body).toBe('hello\n');
  });

  it('names what was changed in the folder of an ended job', async () => {
    const dir = await copy();
    writeFileSync(join(dir, 'jobs', job, 'out', '0.stdout'), 'hellO\n');
    rmSync(join(dir, 'jobs', job, 'program.js'));
    expect((await checkDataDirectory(dir)).problems.map((p) => `${p.file} ${p.what}`).sort()).toEqual([
      `jobs/${job}/out/0.stdout is damaged: its checksum is wrong`,
      `jobs/${job}/program.js is missing`,
    ]);
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

  it.each(['before', 'after'])(
    'of removing a job, %s its records went: it is gone, with its files, logs and images',
    async (when) => {
      const dir = await copy();
      const storage = await openEmbeddedStorage({ dataDir: dir });
      await storage.registry.commit([
        [`removing/${job}`, { at: 1 }],
        ...(when === 'after'
          ? (await storage.registry.entries('')).filter(([k]) => k.includes(job)).map(([k]) => [k, undefined] as const)
          : []),
      ]);
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
    },
  );

  it('a job that is deleted leaves nothing, no mark either', async () => {
    const dir = await copy();
    const server = await startServer({ dataDir: dir });
    expect(await api(server, 'DELETE', `/api/jobs/${job}`)).toMatchObject({ status: 200 });
    await server.close();
    expect(readdirSync(join(dir, 'jobs'))).toEqual([]);
    const storage = await openEmbeddedStorage({ dataDir: dir });
    later(() => storage.close());
    expect(
      (await storage.registry.entries(''))
        .map(([k]) => k)
        .filter((k) => k.includes(job) || /^(making|removing)/.test(k)),
    ).toEqual([]);
  });
});
