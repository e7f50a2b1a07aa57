/**
 * Wrong tokens and codes: what is right passes, whatever others at the same address do (guesses.ts W1, W2; secrets.ts
 * S4). And whose they are, behind proxies (address.ts A2).
 */
import { Writable } from 'node:stream';
import { openEmbeddedStorage } from '@mayfly/storage';
import type { MayflyServer } from '@mayfly/server';
import { CONTROL_VERSION, type TokenCreated } from '@mayfly/wire';
import { Socket as EngineSocket } from 'engine.io-client';
import { io, type Socket } from 'socket.io-client';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Secrets } from '../src/secrets.ts';
import { networkOf } from '../src/serve/address.ts';
import { WrongGuesses } from '../src/serve/guesses.ts';
import { TOKEN, api, auth, freshDir, later, startServer, until } from './harness.ts';

const ask = async (
  server: MayflyServer,
  token: string | undefined,
  url = '/api/jobs',
): Promise<{ status: number; code?: string }> => {
  const r = await server.inject({ url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  return { status: r.statusCode, ...(r.statusCode === 200 ? {} : { code: (r.json() as { code: string }).code }) };
};
const dashboard = (server: MayflyServer, token: string, extraHeaders = {}): Promise<string> =>
  new Promise((resolve) => {
    const socket = io(`${server.localUrl}/dashboard`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth: { token },
      extraHeaders,
    });
    socket.on('connect_error', (e: Error & { data?: { code: string } }) => resolve(e.data?.code ?? e.message));
    socket.on('connect', () => {
      socket.close();
      resolve('connected');
    });
  });

it(
  'a class behind one address: wrong tokens in any number, and requests without end of one of them, lock out ' +
    'nobody who has a right one',
  async () => {
    const server = await startServer({ limits: { wrongTokensPerMinute: 3, requestsPerMinute: 40 } });
    const { token } = (await api(server, 'POST', '/api/tokens', { name: 'Ada', role: 'viewer' })).body as TokenCreated;
    for (let i = 0; i < 3; i++) expect(await ask(server, 'wrong')).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    for (let i = 0; i < 200; i++) expect((await ask(server, `wrong-${i}`)).status).toBe(429);
    expect(await dashboard(server, 'wrong')).toBe('TOO_MANY');
    // The same address.
    for (const right of [TOKEN, token]) {
      expect(await ask(server, right)).toEqual({ status: 200 });
      expect(await dashboard(server, right)).toBe('connected');
    }
    // One without a token asks as much as an address may, then one with a token of its own.
    let status = 0;
    for (let i = 0; i < 60; i++) ({ status } = await ask(server, undefined, '/api/info'));
    expect(status).toBe(429);
    for (let i = 0; i < 60; i++) ({ status } = await ask(server, token));
    expect(status).toBe(429);
    expect(await ask(server, TOKEN)).toEqual({ status: 200 });
  },
);

it(
  'wrong guesses of many addresses are limited together, networks of IPv6 count as one address, and memory is ' +
    'bounded',
  () => {
    let now = 0;
    const guesses = new WrongGuesses(2, () => now);
    expect([guesses.add('a'), guesses.add('a'), guesses.add('a')]).toEqual([true, true, false]);
    let told = 0;
    for (let i = 0; i < 1000; i++) if (guesses.add(`10.0.${i >> 8}.${i & 255}`)) told++;
    expect(told).toBe(2 * 100 - 2);
    now = 60_000;
    expect(guesses.add('a')).toBe(true);
    expect([
      guesses.add('2001:db8:1:2::1'),
      guesses.add('2001:db8:1:2:ffff::9'),
      guesses.add('2001:DB8:0001:2:1:2:3:4'),
      guesses.add('2001:db8:1:3::1'),
    ]).toEqual([true, true, false, true]);
    expect(['::ffff:192.0.2.1', '::1', 'fe80::1%eth0', '192.0.2.1'].map(networkOf)).toEqual([
      '192.0.2.1',
      '0:0:0:0::/64',
      'fe80:0:0:0::/64',
      '192.0.2.1',
    ]);
  },
);

it('the first token, kept as a hash only, is found among wrong ones without hashing each of them slowly', async () => {
  const storage = await openEmbeddedStorage({ dataDir: await freshDir() });
  later(() => storage.close());
  await Secrets.open(storage.registry, TOKEN);
  const record = (await storage.registry.get('secret/token')) as { salt: string; hash: string; check?: string };
  expect(record.check).toMatch(/^[0-9a-f]{2}$/);
  const slow = async (secrets: Secrets, n: number): Promise<number> => {
    const before = secrets.slowlyHashed;
    for (let i = 0; i < n; i++) expect(await secrets.isToken(`wrong-${i}`)).toBe(false);
    return secrets.slowlyHashed - before;
  };
  // Started without the token, which nobody has shown yet.
  const again = await Secrets.open(storage.registry, undefined);
  expect(await slow(again, 512)).toBeLessThan(20);
  expect(await again.isToken(TOKEN)).toBe(true);
  expect(await slow(again, 512)).toBe(0);
});

it('who guesses codes of rooms waits for each wrong answer, one at a time; who has the code does not', async () => {
  const server = await startServer();
  const { code } = (await api(server, 'POST', '/api/rooms', { name: 'Class' })).body as { code: string };
  const connect = (): Socket => {
    const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
    later(async () => void socket.close());
    return socket;
  };
  const hello = (room: string): object => ({
    version: CONTROL_VERSION,
    name: 'n',
    engine: 'e',
    slots: 0,
    room,
    holds: [],
    images: [],
  });
  const guesser = connect();
  for (let i = 0; i < 60; i++)
    expect(await guesser.emitWithAck('hello', hello('NOSUCH'))).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
  // The next one waits: another connection with the right code is served meanwhile.
  let answered = false;
  guesser.emit('hello', hello('NOSUCH'), () => (answered = true));
  expect(await connect().emitWithAck('hello', hello(code))).toMatchObject({ node: expect.any(String) as string });
  expect(answered).toBe(false);
  // And who does not wait is closed.
  const closed = new Promise((resolve) => guesser.once('disconnect', resolve));
  guesser.emit('hello', hello('NOSUCX'), () => undefined);
  expect(await closed).toBe('io server disconnect');
  expect((await fetch(`${server.localUrl}/api/rooms`, { headers: auth })).status).toBe(200);
});

it.each([
  [true, '198.51.100.7'],
  [2, 'second'],
])('A2: every door counts the same address, with trustProxy %s', async (trustProxy, client) => {
  const lines: { address?: string; did?: string; what?: string; code?: string }[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line) as (typeof lines)[0]);
      done();
    },
  });
  const server = await startServer({ trustProxy, log: { level: 'info', stream }, limits: { wrongTokensPerMinute: 1 } });
  const headers = { 'x-forwarded-for': 'claimed, second, 198.51.100.7' };
  const seen = async (is: (line: (typeof lines)[0]) => boolean): Promise<string | undefined> => {
    await until('a line of the log', () => lines.some(is));
    return lines.find(is)!.address;
  };

  // Requests.
  await server.inject({ method: 'POST', url: '/api/tokens', headers: { ...auth, ...headers }, payload: {} } as never);
  expect(await seen((l) => l.did === 'POST /api/tokens')).toBe(client);
  // The data plane, both ways.
  const data = new WebSocket(server.localUrl.replace('http', 'ws') + '/data/cm/0', { headers });
  data.on('open', () => data.send(new Uint8Array(3)));
  data.on('error', () => undefined);
  expect(await seen((l) => l.code === 'BAD_FRAME')).toBe(client);
  lines.length = 0;
  const poll = new EngineSocket(server.localUrl, {
    path: '/data/poll/0/',
    transports: ['polling'],
    extraHeaders: headers,
  });
  poll.on('open', () => poll.send(new Uint8Array(3)));
  expect(await seen((l) => l.code === 'BAD_FRAME')).toBe(client);
  poll.close();
  // Nodes.
  const node = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, extraHeaders: headers });
  node.on('connect', () => node.emit('heartbeat', 'no heartbeat'));
  expect(await seen((l) => l.what === 'heartbeat')).toBe(client);
  node.close();
  // Dashboards: each wrong token claims to come from elsewhere, and still there is one answer for all of them.
  const wrong = (claimed: string): Promise<string> =>
    dashboard(server, 'wrong', { 'x-forwarded-for': `${claimed}, second, 198.51.100.7` });
  expect([await wrong('a'), await wrong('b')]).toEqual(['UNAUTHORIZED', 'TOO_MANY']);
});

it('a token has one limit for a network, whatever address of it or port the proxy reports', async () => {
  const server = await startServer({ trustProxy: true, limits: { requestsPerMinute: 2 } });
  const ask = async (from: string): Promise<number> =>
    (await server.inject({ url: '/api/jobs', headers: { ...auth, 'x-forwarded-for': from } })).statusCode;
  expect([await ask('2001:db8::1'), await ask('2001:db8::2'), await ask('[2001:db8::3]:99')]).toEqual([200, 200, 429]);
  expect([await ask('203.0.113.7:1'), await ask('203.0.113.7:2'), await ask('203.0.113.7')]).toEqual([200, 200, 429]);
});
