/** Webhooks: H1 to H5 of webhooks.ts, with real requests; which addresses are public. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { jobId, type JobEnded, type JobView } from '@mayfly/wire';
import { isPublic, lookupPublic } from '../src/serve/public-address.ts';
import { Webhooks } from '../src/webhooks.ts';
import { api, freshDir, later, program, startServer, until } from './harness.ts';

interface Post {
  path: string;
  body: JobEnded;
}

/** Answers with each of these statuses in turn, the last one for ever. */
async function receiver(statuses: number[], port = 0): Promise<{ posts: Post[]; url: string; port: number }> {
  const posts: Post[] = [];
  const server: Server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      posts.push({ path: request.url!, body: JSON.parse(text) as JobEnded });
      response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!, { location: '/elsewhere' });
      response.end();
    });
  }).listen(port, '127.0.0.1');
  await new Promise((r) => server.once('listening', r));
  later(() => new Promise((r) => server.close(r)));
  const at = (server.address() as AddressInfo).port;
  return { posts, url: `http://127.0.0.1:${at}`, port: at };
}

const forever = (notify: string): object => program('for (;;);\n', 1, { notify, name: 'with a hook' });
const hookOf = async (server: Parameters<typeof api>[0], id: string): Promise<JobView['webhook']> =>
  ((await api(server, 'GET', `/api/jobs/${id}`)).body as JobView).webhook;

test('the end of a job is posted, tried again after a restart, and the view names no secret', async () => {
  const dataDir = await freshDir();
  const dead = await receiver([500]);
  const options = { dataDir, privateWebhooks: true, publicUrl: 'https://mayfly.example' };
  const server = await startServer(options);
  const { body: created } = await api(server, 'POST', '/api/jobs', forever(`${dead.url}/hook?key=secret`));
  const { id } = created as { id: string };
  expect(await hookOf(server, id)).toEqual({ host: `127.0.0.1:${dead.port}`, state: 'waiting', tries: 0 });
  await api(server, 'POST', `/api/jobs/${id}/cancel`);
  await until('a try', () => dead.posts.length > 0);
  await until('it was noted', async () => (await hookOf(server, id))?.tries === 1);
  expect(await hookOf(server, id)).toMatchObject({ state: 'waiting', error: 'answered 500' });
  expect(JSON.stringify((await api(server, 'GET', `/api/jobs/${id}`)).body)).not.toContain('secret');
  expect(dead.posts[0]).toMatchObject({
    path: '/hook?key=secret',
    body: {
      event: 'job.ended',
      job: { id, name: 'with a hook', state: 'cancelled', size: 1, faults: 0 },
      url: `https://mayfly.example/dashboard/jobs/${id}`,
    },
  });
  await server.close();
  const tried = dead.posts.length;
  const again = await startServer(options);
  await until('the start tries again', () => dead.posts.length > tried);
  await until('it was noted', async () => ((await hookOf(again, id))?.tries ?? 0) > 1);
  // H1: gone with its job.
  await api(again, 'DELETE', `/api/jobs/${id}`);
  await again.close();
  const after = dead.posts.length;
  await startServer(options);
  expect(dead.posts.length).toBe(after);
});

test('a 2xx ends it, a refusal and a redirect lose it, and the record says so', async () => {
  const server = await startServer({ privateWebhooks: true });
  const state = async (statuses: number[]): Promise<JobView['webhook']> => {
    const there = await receiver(statuses);
    const { body } = await api(server, 'POST', '/api/jobs', forever(there.url));
    const { id } = body as { id: string };
    await api(server, 'POST', `/api/jobs/${id}/cancel`);
    await until('it was tried', async () => ((await hookOf(server, id))?.tries ?? 0) > 0);
    expect(there.posts.map((p) => p.path)).toEqual(['/']);
    return hookOf(server, id);
  };
  expect(await state([204])).toMatchObject({ state: 'delivered', tries: 1 });
  expect(await state([404])).toMatchObject({ state: 'lost', error: 'answered 404' });
  expect(await state([302])).toMatchObject({ state: 'lost', error: 'answered 302' });
});

test('a submission is refused for a URL that is not to be called', async () => {
  const server = await startServer();
  for (const [notify, why] of [
    ['not a url', /must be a URL/],
    ['ftp://example.org/', /must be a URL/],
    ['https://me:secret@example.org/', /user name or a password/],
    ['http://127.0.0.1:8080/', /not a public address.*--private-webhooks/],
    ['http://2130706433/', /not a public address/],
    ['http://[::ffff:10.0.0.1]/', /not a public address/],
    ['http://printer.localhost./', /not a public address/],
  ] as const) {
    const { status, body } = await api(server, 'POST', '/api/jobs', forever(notify));
    expect([status, (body as { message: string }).message], notify).toEqual([400, expect.stringMatching(why)]);
  }
});

test('a record without a job goes at the start (H1), and an address that is not allowed any more is lost (H4)', async () => {
  const kept = new Map<string, unknown>([
    ['webhook/abcdefghjkmn', { url: 'https://example.org/', state: 'waiting', tries: 0 }],
    ['webhook/nmkjhgfedcba', { url: 'http://127.0.0.1:9/', state: 'waiting', tries: 3 }],
    // damaged: one of them must not stop the server, or the page of its job
    ['webhook/ddddddddddd1', { url: 'no address', state: 'waiting', tries: 0 }],
    ['webhook/ddddddddddd2', { url: 'https://example.org/', state: 'waiting', tries: 'many' }],
  ]);
  const registry = {
    entries: async (prefix: string) => [...kept].filter(([k]) => k.startsWith(prefix)),
    commit: async (changes: readonly (readonly [string, unknown])[]) => {
      for (const [key, value] of changes)
        if (value === undefined) kept.delete(key);
        else kept.set(key, value);
    },
  };
  const errors: unknown[] = [];
  const quiet = { warn: () => undefined, error: (about: unknown) => errors.push(about) };
  const hooks = await Webhooks.open(
    registry as never,
    { privateAddresses: false, publicUrl: undefined },
    quiet as never,
  );
  const ended = { id: 'nmkjhgfedcba', name: 'j', state: 'done', size: 1, faults: [], submittedAt: 1 };
  expect(errors).toEqual([{ job: 'ddddddddddd1' }, { job: 'ddddddddddd2' }]);
  expect(hooks.viewOf(jobId('ddddddddddd1'))).toBeUndefined();
  for (const key of [...kept.keys()]) if (key.includes('ddd')) kept.delete(key);
  await hooks.begin((job) => (job === ended.id ? (ended as never) : undefined));
  await until('it is given up', () => (kept.get('webhook/nmkjhgfedcba') as { state: string }).state === 'lost');
  expect([...kept]).toEqual([
    [
      'webhook/nmkjhgfedcba',
      { url: 'http://127.0.0.1:9/', state: 'lost', tries: 4, error: '127.0.0.1 is not a public address' },
    ],
  ]);
  await hooks.close();
});

test('only global unicast addresses are public, and a name is resolved to those alone', async () => {
  const no = '10.1.2.3 127.0.0.1 0.0.0.0 100.64.0.1 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 255.255.255.255';
  const no6 = ':: ::1 ::ffff:8.8.8.8 fe80::1 fc00::1 ff02::1 64:ff9b::7f00:1 2002:7f00:1:: 2001:db8::1 2001::1 x';
  expect([...no.split(' '), ...no6.split(' ')].filter((a) => isPublic(a))).toEqual([]);
  expect(['8.8.8.8', '172.32.0.1', '2606:4700:4700::1111'].filter((a) => !isPublic(a))).toEqual([]);
  // Public by their numbers, and of this machine or of a network that it is in.
  const here = { internal: false, mac: '', scopeid: 0, netmask: '' } as const;
  const interfaces = (() => ({
    lo: [{ ...here, address: '9.9.9.9', cidr: null, family: 'IPv4' }],
    eth0: [
      { ...here, address: '8.8.4.1', cidr: '8.8.4.1/24', family: 'IPv4' },
      { ...here, address: '2606:4700:4700:1::1', cidr: '2606:4700:4700:1::1/64', family: 'IPv6' },
    ],
  })) as unknown as typeof networkInterfaces;
  const own = ['9.9.9.9', '8.8.4.1', '8.8.4.200', '2606:4700:4700:1::1', '2606:4700:4700:1:a::b'];
  expect(own.filter((a) => isPublic(a, interfaces))).toEqual([]);
  expect(own.filter((a) => !isPublic(a))).toEqual([]);
  expect(['9.9.9.8', '8.8.5.1', '2606:4700:4700:2::1'].filter((a) => !isPublic(a, interfaces))).toEqual([]);
  const error = await new Promise((resolve) => lookupPublic('localhost', { all: true }, (e) => resolve(e?.message)));
  expect(error).toBe('localhost has no public address');
});

/** A machine of one's own: it has a public address, under which something listens that trusts whoever reaches it. */
const MACHINE = `
import { createServer } from 'node:http';
import { Webhooks } from 'WEBHOOKS';
const calls = [];
const http = createServer((request, response) => (calls.push(request.headers.host), response.end()));
http.listen(80, '8.8.4.1', async () => {
  const records = ['http://8.8.4.1/', 'http://public.example/'].map((url, i) => [
    'webhook/abcdefghjkm' + i,
    { url, state: 'waiting', tries: 0 },
  ]);
  const kept = new Map(records);
  const registry = {
    entries: async () => records,
    commit: async ([[key, value]]) => {
      kept.set(key, value);
      if ([...kept.values()].some((r) => r.tries === 0)) return;
      console.log(JSON.stringify({ calls, ended: [...kept.values()] }));
      process.exit();
    },
  };
  const quiet = { warn() {}, error: console.error };
  const hooks = await Webhooks.open(registry, { privateAddresses: false, publicUrl: undefined }, quiet);
  await hooks.begin((id) => ({ id, name: 'j', state: 'done', size: 1, faults: [], submittedAt: 1 }));
});
`;
const NAMESPACE = ['--map-root-user', '--net', '--mount'];

test.skipIf(spawnSync('unshare', [...NAMESPACE, 'true']).status !== 0)(
  'no webhook reaches the server’s own machine by its public address, nor by a name of it (H4)',
  async () => {
    const dir = await freshDir();
    await writeFile(join(dir, 'hosts'), '8.8.4.1 public.example\n');
    const { outputFiles } = await build({
      stdin: {
        contents: MACHINE.replace('WEBHOOKS', '../src/webhooks.ts'),
        resolveDir: import.meta.dirname,
        loader: 'ts',
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
    });
    await writeFile(join(dir, 'machine.mjs'), outputFiles[0]!.contents);
    const script =
      'mount --bind hosts /etc/hosts && ip link set lo up && ip address add 8.8.4.1/32 dev lo && ' +
      `exec "${process.execPath}" machine.mjs`;
    const run = spawnSync('unshare', [...NAMESPACE, 'sh', '-c', script], { cwd: dir, encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout)).toEqual({
      calls: [],
      ended: [
        { url: 'http://8.8.4.1/', state: 'lost', tries: 1, error: expect.stringContaining('not a public address') },
        { url: 'http://public.example/', state: 'waiting', tries: 1, error: 'public.example has no public address' },
      ],
    });
  },
);
