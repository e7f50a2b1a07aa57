/** createServer({ storage }): the server keeps everything that has a port in the storage that it is given. */
import { subscribe } from 'node:diagnostics_channel';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MayflyServer } from '@mayfly/server';
import { openEmbeddedStorage } from '@mayfly/storage';
import type { Storage } from '@mayfly/storage/ports';
import { expect, it } from 'vitest';
import type { JobView } from '@mayfly/wire';
import { api, door, freshDir, program, startServer, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

/** The port, with the names of its methods as they are called. */
function counted<T extends object>(port: T, calls: Set<string>, name: string): T {
  return new Proxy(port, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== 'function') return value;
      return (...a: unknown[]) => {
        calls.add(`${name}.${String(key)}`);
        return (value as (...a: unknown[]) => unknown).apply(target, a);
      };
    },
  });
}

/** The port, with other methods in place of some of its own. */
const instead = <T extends object>(port: T, others: Partial<T>): T =>
  new Proxy(port, {
    get(target, key) {
      const value = (others[key as keyof T] ?? Reflect.get(target, key, target)) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });

const echo: TestProgram = async (r) => {
  if (r.task === 0) await r.send(1, 'hello');
  else r.print((await r.recv()).text);
  r.exit(0);
};

it('runs a job on the storage that it was given, and closes it', async () => {
  const dataDir = await freshDir();
  const own = await openEmbeddedStorage({ dataDir: await freshDir() });
  const calls = new Set<string>();
  const storage: Storage = {
    notices: own.notices,
    lost: own.lost,
    log: counted(own.log, calls, 'log'),
    images: counted(own.images, calls, 'images'),
    registry: counted(own.registry, calls, 'registry'),
    files: counted(own.files, calls, 'files'),
    output: counted(own.output, calls, 'output'),
    archive: counted(own.archive, calls, 'archive'),
    writable: () => own.writable(),
    usage: () => own.usage(),
    usageOf: (job) => own.usageOf(job),
    backup: (target, about) => own.backup(target, about),
    async close() {
      calls.add('close');
      await own.close();
    },
  };
  const server = await startServer({ dataDir, storage });
  new Volunteer(server.localUrl, 2, echo);
  const input = Buffer.from('an input').toString('base64');
  const { body } = await api(
    server,
    'POST',
    '/api/jobs',
    program('export {};', 2, { files: { 'a.txt': input }, stdin: Buffer.from('typed').toString('base64') }),
  );
  const { id } = body as { id: string };
  await until(
    'the job ends',
    async () => ((await api(server, 'GET', `/api/jobs/${id}`)).body as JobView).state === 'done',
  );
  expect((await api(server, 'GET', `/api/jobs/${id}/tasks/1/stdout`)).body).toBe('hello\n');
  expect((await api(server, 'GET', `/api/jobs/${id}/submission`)).body).toMatchObject({ files: { 'a.txt': input } });
  expect((await api(server, 'GET', '/api/server')).body.storage.jobs).toBeGreaterThan(0);
  await until('its run log is kept', () => calls.has('archive.put'));
  expect((await api(server, 'DELETE', `/api/jobs/${id}`)).status).toBe(200);
  expect(calls).not.toContain('close');
  await server.close();
  // It lies elsewhere: nothing of it came to the server's own directory.
  expect(await readdir(dataDir)).toEqual([]);
  for (const call of [
    'log.open',
    'log.remove',
    'registry.commit',
    'registry.entries',
    'files.create',
    'files.seal',
    'files.read',
    'files.stdin',
    'files.remove',
    'output.open',
    'output.stream',
    'archive.put',
    'close',
  ])
    expect(calls).toContain(call);
});

it('closes the storage that it was given when it cannot start', async () => {
  const dataDir = await freshDir();
  const own = await openEmbeddedStorage({ dataDir });
  await expect(
    startServer({ dataDir, storage: own, token: 'short-token', tls: { cert: '/nowhere', key: '/nowhere' } }),
  ).rejects.toThrow();
  // Its lock is free again.
  await (await openEmbeddedStorage({ dataDir })).close();
});

it('gives a job what was typed while it was being opened', async () => {
  const dataDir = await freshDir();
  const own = await openEmbeddedStorage({ dataDir });
  const [opening, mayOpen] = [door(), door()];
  const output = instead(own.output, {
    async open(job, inputs) {
      opening.open();
      await mayOpen.opened;
      return own.output.open(job, inputs);
    },
  });
  const server = await startServer({ dataDir, storage: { ...own, output } });
  const lines: string[] = [];
  new Volunteer(server.localUrl, 1, async (r) => {
    for (let n = 0; n < 2; n++) lines.push((await r.recv(true)).text);
    r.exit(0);
  });
  const { body } = await api(server, 'POST', '/api/jobs', program('export {};', 1, { options: { interactive: true } }));
  const path = `/api/jobs/${(body as JobView).id}`;
  await opening.opened;
  let asked = 0;
  subscribe('http.server.request.start', () => asked++);
  const typed = ['one\n', 'two\n'].map((line) => api(server, 'POST', `${path}/stdin`, new TextEncoder().encode(line)));
  // They wait, or are stored, before the job is open.
  await until('both have arrived', () => asked === 2);
  mayOpen.open();
  expect((await Promise.all(typed)).map((answer) => answer.status)).toEqual([200, 200]);
  await until('the job ends', async () => ((await api(server, 'GET', path)).body as JobView).state === 'done');
  expect(lines).toEqual(['one\n', 'two\n']);
});

it('writes the output of an ended job once more, from its logs, when it was lost before it was synced', async () => {
  const dataDir = await freshDir();
  const own = await openEmbeddedStorage({ dataDir });
  // Between the end of a job and the sync of its output: its logs have everything.
  const power = door();
  const sync = (): Promise<void> => power.opened.then(() => Promise.reject(new Error('the power is gone')));
  const output = instead(own.output, {
    async open(job, inputs) {
      const open = await own.output.open(job, inputs);
      return instead(open, { task: (task) => instead(open.task(task), { sync }) });
    },
  });
  const first = await startServer({ dataDir, storage: { ...own, output } });
  new Volunteer(first.localUrl, 2, echo);
  const { body } = await api(first, 'POST', '/api/jobs', program('export {};', 2));
  const { id } = body as JobView;
  const stdout = async (server: MayflyServer): Promise<unknown> =>
    (await api(server, 'GET', `/api/jobs/${id}/tasks/1/stdout`)).body;
  await until('it ends', async () => ((await api(first, 'GET', `/api/jobs/${id}`)).body as JobView).state === 'done');
  expect(await stdout(first)).toBe('hello\n');
  power.open();
  await first.close();
  for (const name of await readdir(join(dataDir, 'jobs', id)))
    if (name.startsWith('out')) await rm(join(dataDir, 'jobs', id, name), { recursive: true });
  const second = await startServer({ dataDir });
  expect(await stdout(second)).toBe('hello\n');
  expect((await readdir(join(dataDir, 'log'))).filter((name) => name.includes(id))).toEqual([]);
});

it('closes when another process has taken the data directory, and stores nothing more', async () => {
  const dataDir = await freshDir();
  const first = await startServer({ dataDir });
  // As one that takes it over: the claims of others go.
  await rm(join(dataDir, 'lock'), { recursive: true });
  const second = await openEmbeddedStorage({ dataDir });
  // Refused, or, with a beat before it, not even answered.
  const answer = await api(first, 'POST', '/api/jobs', program('export {};', 1)).catch(() => undefined);
  if (answer) expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  expect(first.lost.aborted).toBe(true);
  // The server itself does it: this waits for the same.
  await first.close();
  await expect(fetch(`${first.localUrl}/api/info`)).rejects.toThrow();
  expect(await second.registry.entries('job/')).toEqual([]);
  await second.close();
});
