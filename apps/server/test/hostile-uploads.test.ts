/**
 * Uploads that are made to cost: archives that lie, JSON that is nothing but brackets, programs that are never compiled
 * to the end, stacks that no expression likes. The server answers everybody else meanwhile.
 */
import { io } from 'socket.io-client';
import { beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { MayflyServer } from '@mayfly/server';
import { tar, zeros, zip } from '@mayfly/toolchain/archives-for-tests';
import { Stranger } from './malformed/stranger.ts';
import { TOKEN, api, auth, program, sharedServer, until } from './harness.ts';

let server: MayflyServer;
beforeAll(async () => {
  server = await sharedServer({ compileWorkers: 2 });
});
const submit = (archive: Uint8Array): ReturnType<typeof api> =>
  api(server, 'POST', '/api/jobs', {
    program: { language: 'archive', archive: Buffer.from(archive).toString('base64') },
    size: 1,
  });
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const MANIFEST = { name: 'mayfly.json', data: bytesOf('{"language":"typescript"}') };
const metric = async (name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await server.inject({ url: '/metrics' })).body)?.[1]);

it('an archive is unpacked outside of the server’s process, and one that lies is refused with what was wrong', async ({
  onTestFinished,
}) => {
  onTestFinished(() => void vi.unstubAllGlobals());
  // Nothing in this process can unpack.
  vi.stubGlobal('DecompressionStream', undefined);
  expect(await submit(zip([MANIFEST, { name: 'main.ts', data: bytesOf(`import 'mayfly';`) }]))).toMatchObject({
    status: 201,
  });
  const bomb = zeros(100 << 20);
  const A = { name: 'a.ts', data: bytesOf('') };
  for (const [archive, status, code, words] of [
    [
      zip(Array.from({ length: 40 }, (_, i) => ({ name: `${i}.ts`, packed: bomb, stated: 1000 }))),
      422,
      'BAD_ARCHIVE',
      '"0.ts" has 1000 bytes by the directory of the zip file, and another number in truth.',
    ],
    [
      zip([{ name: 'a.ts', packed: bomb, stated: 100 << 20 }]),
      413,
      'TOO_LARGE',
      'The archive unpacks to more than 64 MB.',
    ],
    [zip([A, ...Array.from({ length: 100 }, (_, i) => ({ name: `b${i}.ts`, at: 0 }))]), 422, 'BAD_ARCHIVE', 'overlap'],
    [
      zip([MANIFEST, { name: 'main.ts', packed: zeros(40 << 20), stated: 40 << 20 }]),
      413,
      'TOO_LARGE',
      '33554432 are allowed',
    ],
    [tar([{ name: 'a.ts', size: '77777777777\0' }]), 422, 'BAD_ARCHIVE', 'has 8589934591 bytes by its head'],
  ] as const) {
    const r = await submit(archive);
    expect(r, words).toMatchObject({ status, body: { code } });
    expect((r.body as { message: string }).message).toContain(words);
  }
});

it('a program without an end keeps nobody waiting, and is ended when its submitter leaves', async () => {
  const bits = '${B}'.repeat(12);
  const types = Array.from(
    { length: 4000 },
    (_, i) =>
      `export type U${i} = { [K in \`${bits}\`]: K extends \`\${infer A}\${infer R}\` ? [A, R, ${i}] : ` +
      `never }; export const v${i}: U${i}['000000000000'] = 0 as never as U${i}[keyof U${i}];`,
  );
  const leave = new AbortController();
  let answered = false;
  const upload = fetch(`${server.localUrl}/api/jobs`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'application/json' },
    body: JSON.stringify(program(`type B = '0' | '1';\n${types.join('\n')}`, 1)),
    signal: leave.signal,
  });
  upload.then(
    () => (answered = true),
    () => undefined,
  );
  await until('it is compiled', async () => (await metric('mayfly_compiles_running')) === 1);
  const before = ((await api(server, 'GET', '/api/jobs')).body as unknown[]).length;
  // Others go on, and have their programs compiled.
  expect((await api(server, 'POST', '/api/jobs', program(`import 'mayfly';\nconsole.log(1);`, 1))).status).toBe(201);
  expect(answered).toBe(false);
  leave.abort();
  await until('it is ended', async () => (await metric('mayfly_compiles_running')) === 0);
  expect(((await api(server, 'GET', '/api/jobs')).body as unknown[]).length).toBe(before + 1);
});

it('JSON of brackets is refused before it is parsed: in requests, on sockets of nodes, in offers of images', async ({
  onTestFinished,
}) => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const parsed = (): number => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
  const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
  for (const [body, words] of [
    [deep, 'nested deeper than 32 levels'],
    [`[${'[],'.repeat(400_000)}0]`, 'more than 200000 parts'],
    [`{${Array.from({ length: 150_000 }, (_, i) => `"${i}":0`).join(',')}}`, 'more than 200000 parts'],
  ] as const) {
    const r = await fetch(`${server.localUrl}/api/jobs`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json' },
      body,
    });
    expect([r.status, ((await r.json()) as { message: string }).message]).toEqual([
      413,
      `Cannot parse the JSON: it ${words === 'nested deeper than 32 levels' ? 'is' : 'has'} ${words}.`,
    ]);
  }
  expect(parsed()).toBeLessThan(10_000);

  const node = io(`${server.localUrl}/node`, {
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    auth: { token: TOKEN },
  });
  await new Promise<void>((resolve) => node.once('connect', () => resolve()));
  const closed = new Promise((resolve) => node.once('disconnect', resolve));
  (node.io.engine as unknown as { send(packet: string): void }).send(`2/node,["hello",${deep}]`);
  await closed;

  const stranger = new Stranger(server.localUrl);
  await until('it is there', () => stranger.here);
  await api(server, 'POST', '/api/jobs', program('export {};', 1));
  await until('it has a rank', () => stranger.holders.length > 0);
  const { capability } = stranger.holders[0]!;
  const image = new WebSocket(`${server.localUrl.replace('http', 'ws')}/data/image?cap=${capability}`);
  await new Promise((resolve) => image.once('open', resolve));
  const code = new Promise((resolve) => image.once('close', resolve));
  image.send(deep);
  expect(await code).toBe(4400);
  expect(parsed()).toBeLessThan(10_000);
});

it('a body of long polling that is nothing but packets is cut off, before it is taken apart', async () => {
  for (const path of ['/socket.io/', '/data/poll/0/']) {
    const open = await fetch(`${server.localUrl}${path}?EIO=4&transport=polling`);
    const { sid } = JSON.parse((await open.text()).slice(1)) as { sid: string };
    const post = (packets: number): Promise<number> =>
      fetch(`${server.localUrl}${path}?EIO=4&transport=polling&sid=${sid}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain;charset=UTF-8' },
        body: Array.from({ length: packets }, () => '3').join('\x1e'),
      }).then(
        (r) => r.status,
        () => 0,
      );
    expect(await post(100), path).toBe(200);
    // 413, or the connection was gone before the client had sent all of it.
    expect([0, 413], path).toContain(await post(200_000));
    expect((await fetch(`${server.localUrl}${path}?EIO=4&transport=polling&sid=${sid}`)).status, path).toBe(400);
  }
});
