/**
 * Floods of valid messages: who sends or asks without end is slowed down or told so by name and closed, the server's
 * memory stays bounded, and another job in the same server ends with its answer. (A rank that pulls without end: C6 in
 * packages/protocols/test/data-path; malformed input: malformed.test.ts; what a bad frame does: border.test.ts.)
 */
import { CONTROL_VERSION, type ErrorBody } from '@mayfly/wire';
import type { MayflyServer } from '@mayfly/server';
import { io, type Socket } from 'socket.io-client';
import { expect, it } from 'vitest';
import { limitFlood } from '../src/serve/flood.ts';
import { TOKEN, api, auth, door, program, startServer, until } from './harness.ts';
import { Volunteer } from './volunteer.ts';

const MIB = 1024 * 1024;
/** Messages of the flood: beyond the limit of the server here. */
const FLOOD = 400;
const limits = {
  messagesPerMinute: 300,
  requestsPerMinute: 200,
  socketBacklogBytes: MIB,
  socketBacklogMaxBytes: 8 * MIB,
};

const connect = (server: MayflyServer, namespace: string, more: object = {}): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = io(server.localUrl + namespace, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      ...more,
    });
    socket.on('connect', () => resolve(socket));
    socket.on('connect_error', reject);
  });

/** Sends until the server has had enough; resolves to what it said. */
async function flood(socket: Socket, event: string, message: object): Promise<ErrorBody | undefined> {
  let said: ErrorBody | undefined;
  socket.on('closing', (e: ErrorBody) => (said = e));
  const over = new Promise((resolve) => socket.on('disconnect', resolve));
  for (let i = 0; i < FLOOD; i++) socket.emit(event, message, () => undefined);
  await over;
  return said;
}

it('a node, a dashboard, a rank and a client of REST that send valid messages without end end nothing but themselves', async () => {
  const server = await startServer({
    limits,
    trustProxy: true,
    dispatcher: { graceMs: 300, tickMs: 50, silentMs: 60_000, heartbeatMs: 200 },
  });
  /** Each address has requests of its own: whoever looks on here comes from a new one each time. */
  let looks = 0;
  const ask = async (
    path: string,
    from = `10.0.${looks >> 8}.${looks++ & 255}`,
  ): Promise<{ status: number; text: string }> => {
    const r = await fetch(server.localUrl + path, { headers: { ...auth, 'x-forwarded-for': from } });
    return { status: r.status, text: await r.text() };
  };
  const json = async (path: string): Promise<unknown> => JSON.parse((await ask(path)).text);

  // Two jobs. One rank of `other` waits for all floods; `own` is the flooder's.
  const floods = door();
  const swallowed: number[] = [];
  new Volunteer(server.localUrl, 3, async (r) => {
    if (r.args[0] === 'other') {
      if (r.task === 0) {
        await floods.opened;
        await r.send(1, 'still here');
      } else r.print((await r.recv()).text);
      return r.exit(0);
    }
    // The flooder: as much as it likes to itself, of which it reads nothing.
    for (let i = 0; i < 24; i++) await r.send(0, new Uint8Array(MIB), i);
    r.print('sent');
    await floods.opened;
    for (let i = 0; i < 24; i++) swallowed.push((await r.recv()).tag);
    r.exit(0);
  });
  const submit = async (size: number, args: string[]): Promise<string> =>
    (
      (await api(server, 'POST', '/api/jobs', program('export {};', size, { args, options: { graceMs: 60_000 } })))
        .body as { id: string }
    ).id;
  const other = await submit(2, ['other']);
  const own = await submit(1, ['own']);
  await until(
    'the flooding rank has sent all',
    async () => (await ask(`/api/jobs/${own}/tasks/0/stdout`)).text === 'sent\n',
  );

  const node = await connect(server, '/node');
  const { node: id } = (await node.emitWithAck('hello', {
    version: CONTROL_VERSION,
    name: 'flood',
    engine: 'e',
    slots: 0,
    holds: [],
    images: [],
  })) as { node: string };
  const foreign = {
    job: 'nosuchjob123',
    task: 0,
    incarnation: 0,
    started: true,
    activity: { state: 'computing', arrivals: 0, sends: 0 },
  };
  expect(await flood(node, 'heartbeat', { tasks: Array.from({ length: 3 }, () => foreign) })).toMatchObject({
    code: 'TOO_MANY',
  });
  await until('the server knows that it is gone', async () =>
    ((await json('/api/nodes')) as { id: string; state: string }[]).every((n) => n.id !== id || n.state !== 'here'),
  );

  const dashboard = await connect(server, '/dashboard', { auth: { token: TOKEN } });
  expect(await flood(dashboard, 'watch', { job: other, from: { '0:stdout': 0 } })).toMatchObject({
    code: 'TOO_MANY',
  });
  // A new one is welcome.
  const next = await connect(server, '/dashboard', { auth: { token: TOKEN } });
  expect(await next.emitWithAck('watch', { job: other })).toEqual({ ok: true });
  next.close();

  expect(process.memoryUsage().arrayBuffers).toBeLessThan(512 * MIB);
  let last: Awaited<ReturnType<typeof ask>> | undefined;
  for (let i = 0; i < 3 * limits.requestsPerMinute && last?.status !== 429; i++)
    last = await ask(`/api/jobs/${other}`, '192.0.2.1');
  expect(last?.status).toBe(429);
  expect(JSON.parse(last!.text)).toMatchObject({ code: 'TOO_MANY' });

  floods.open();
  for (const id of [other, own])
    await until(
      'the other job is done, and the flooder, which reads at last',
      async () => ((await json(`/api/jobs/${id}`)) as { state: string }).state === 'done',
    );
  expect((await ask(`/api/jobs/${other}/tasks/1/stdout`)).text).toBe('still here\n');
  expect(await json(`/api/jobs/${other}`)).toMatchObject({ faults: [] });
  expect(swallowed).toEqual(Array.from({ length: 24 }, (_, i) => i));
});

it('parts of parity count for a share of a message, and end their node all the same when there is no end of them', () => {
  let judge: (packet: unknown, next: () => void) => void = () => undefined;
  let ended = 0;
  const socket = {
    use: (j: typeof judge) => (judge = j),
    emit: () => undefined,
    disconnect: () => ended++,
    conn: { on: () => undefined },
  };
  limitFlood(socket, 10, () => undefined, { event: 'parity', share: 0.25 });
  const send = (event: string, times: number): void => {
    for (let i = 0; i < times; i++) judge([event, {}], () => undefined);
  };
  send('parity', 32);
  send('heartbeat', 2);
  expect(ended).toBe(0);
  send('parity', 1);
  expect(ended).toBe(1);
});

it('a token has so many dashboards; one that closes makes room', async () => {
  const server = await startServer({ limits: { dashboardsPerToken: 2 } });
  const auth = { token: TOKEN };
  const first = await connect(server, '/dashboard', { auth });
  const second = await connect(server, '/dashboard', { auth });
  const said = new Promise<ErrorBody>((resolve, reject) => {
    const third = io(`${server.localUrl}/dashboard`, { transports: ['websocket'], forceNew: true, auth });
    third.on('closing', resolve);
    third.on('disconnect', () => (third.close(), reject(new Error('closed without a word'))));
  });
  expect(await said).toMatchObject({ code: 'TOO_MANY' });
  expect(await first.emitWithAck('watch', {})).toEqual({ ok: true });
  first.close();
  await until('a place is free', async () => {
    const socket = await connect(server, '/dashboard', { auth });
    return socket
      .timeout(5000)
      .emitWithAck('watch', {})
      .then(
        () => true,
        () => false,
      );
  });
  second.close();
});
