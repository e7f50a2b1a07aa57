/** What the server holds for those who have not shown what they may do, or who never end what they began. */
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { MayflyServer } from '@mayfly/server';
import { TOKEN, startServer, until } from './harness.ts';

/** A socket, and the code that it was closed with. */
async function open(server: MayflyServer, path = '/data/cm/0'): Promise<{ ws: WebSocket; code: () => number }> {
  const ws = new WebSocket(server.localUrl.replace('http', 'ws') + path, { perMessageDeflate: false });
  let closed = 0;
  ws.on('error', () => undefined);
  ws.on('close', (code) => (closed = code));
  await new Promise((resolve) => ws.once('open', resolve).once('close', resolve));
  return { ws, code: () => closed };
}
/** The beginning of a message. */
const begin = (ws: WebSocket, bytes: number): void => ws.send(new Uint8Array(bytes), { fin: false });

it('an image socket opens with the capability of a rank that runs, and with nothing else', async () => {
  const server = await startServer();
  for (const cap of ['', '?cap=', '?cap=x', `?cap=nosuchjob123.0.0.${'0'.repeat(64)}`]) {
    const ws = new WebSocket(`${server.localUrl.replace('http', 'ws')}/data/image${cap}`);
    const status = await new Promise((resolve) =>
      ws.once('unexpected-response', (_, r) => resolve(r.statusCode)).once('open', () => resolve('open')),
    );
    expect(status, cap).toBe(403);
    const poll = `${server.localUrl}/data/poll/image/${cap === '' ? '?' : `${cap}&`}EIO=4&transport=polling`;
    expect((await fetch(poll)).status, cap).toBe(403);
  }
});

it('who has not presented itself may send little, and only on its share of the sockets', async () => {
  const server = await startServer({ limits: { dataSocketsPerNetwork: 2 } });
  const flood = await open(server);
  begin(flood.ws, 512 * 1024);
  await until('it is cut off', () => flood.code() !== 0);
  expect(flood.code()).toBe(1006);

  const [one, two, three] = [await open(server), await open(server), await open(server)];
  await until('there is no third place', () => three.code() !== 0);
  expect([one.code(), two.code(), three.code()]).toEqual([0, 0, 4429]);
  one.ws.terminate();
  await until('its place is free', async () => {
    const { ws, code } = await open(server);
    await new Promise((resolve) => ws.once('pong', resolve).once('close', resolve).ping());
    ws.terminate();
    return code() === 0;
  });
  two.ws.terminate();
});

const SOCKET_IO = '/socket.io/?EIO=4&transport=websocket';
/** A session of long polling. */
async function poll(
  server: MayflyServer,
  path: string,
): Promise<{ sid: string; post: (body: string) => Promise<number> }> {
  const answer = await (await fetch(`${server.localUrl}${path}?EIO=4&transport=polling`)).text();
  const { sid } = JSON.parse(answer.slice(1)) as { sid: string };
  const post = (body: string): Promise<number> =>
    fetch(`${server.localUrl}${path}?EIO=4&transport=polling&sid=${sid}`, { method: 'POST', body }).then(
      (r) => r.status,
      () => 0,
    );
  return { sid, post };
}

it('so do control connections, and sessions of long polling', async () => {
  const server = await startServer();
  const control = await open(server, SOCKET_IO);
  begin(control.ws, 512 * 1024);
  await until('it is cut off', () => control.code() !== 0);
  expect(control.code()).toBe(1006);

  for (const path of ['/socket.io/', '/data/poll/0/']) {
    const { post } = await poll(server, path);
    expect(await post('x'.repeat(512 * 1024)), path).toBe(0);
  }
  const { sid, post } = await poll(server, '/socket.io/');
  expect(await post('40/node,')).toBe(200);
  expect(await post('6'.repeat(512 * 1024)), 'one that has spoken').toBe(200);
  // Its upgrade is a connection of its own.
  const upgrade = await open(server, `${SOCKET_IO}&sid=${sid}`);
  begin(upgrade.ws, 512 * 1024);
  await until('it is cut off', () => upgrade.code() !== 0);
  expect(upgrade.code()).toBe(1006);
});

it('a message that never ends ends its connection', async () => {
  const server = await startServer({ limits: { messageMs: 400 } });
  const { ws, code } = await open(server);
  begin(ws, 100 * 1024);
  await until('it is ended', () => code() !== 0);
  // Not by the door, which waits longer for a first message.
  expect(code()).toBe(1006);
});

it('messages that have not ended are bounded together: the connection that has most of them goes', async () => {
  const server = await startServer({ limits: { unfinishedBytes: 150 * 1024 } });
  const [most, less] = [await open(server), await open(server)];
  begin(most.ws, 100 * 1024);
  await new Promise((resolve) => most.ws.once('pong', resolve).ping());
  begin(less.ws, 60 * 1024);
  await until('one of them is ended', () => most.code() + less.code() > 0);
  expect([most.code(), less.code()]).toEqual([1006, 0]);
  less.ws.terminate();
});

it('on control connections and in bodies of requests as well', async () => {
  const server = await startServer({ limits: { unfinishedBytes: 150 * 1024 } });
  const control = await open(server, SOCKET_IO);
  control.ws.send('40/node,');
  await new Promise((resolve) => control.ws.once('message', resolve));
  begin(control.ws, 200 * 1024);
  await until('it is ended', () => control.code() !== 0);

  const status = (text: string): Promise<number> =>
    fetch(`${server.localUrl}/api/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(text),
    }).then(
      (r) => r.status,
      () => 0,
    );
  expect(await status('x'.repeat(100 * 1024))).toBe(400);
  expect(await status('x'.repeat(200 * 1024))).toBe(0);
  expect(await status('ж'.repeat(100 * 1024)), 'two bytes a character').toBe(0);
});

it('a packet that waits for its attachment is short, and has one', async () => {
  const server = await startServer();
  /** What the connection was closed with before it answered a ping; 0: it was not. */
  const announced = async (packet: string): Promise<number> => {
    const { ws, code } = await open(server, SOCKET_IO);
    ws.send('40/node,');
    ws.send(packet);
    await new Promise((resolve) => ws.once('pong', resolve).once('close', resolve).ping());
    ws.terminate();
    return code();
  };
  const parity = '["parity",{"_placeholder":true,"num":0}';
  expect(await announced(`451-/node,${parity}]`)).toBe(0);
  expect(await announced(`452-/node,${parity}]`)).toBeGreaterThan(0);
  expect(await announced(`451-/node,${parity},"${'x'.repeat(100 * 1024)}"]`)).toBeGreaterThan(0);
});
