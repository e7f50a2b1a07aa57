/** Who may open seats at a server that stands by (memories/seat-server.ts). */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pino from 'pino';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { defaultLimits } from '../src/options.ts';
import { SeatServer } from '../src/memories/seat-server.ts';
import { SEATS_PATH, decodeMessage, encodeMessage, type Join, type ToOwner } from '../src/memories/seat-messages.ts';
import { later } from './harness.ts';

/** @param ofServer as which its port gives connections. @returns its address, and the epochs that it has joined */
async function seatServer(ofServer: boolean): Promise<{ url: string; joined: string[]; seats: SeatServer }> {
  const joined: string[] = [];
  const seats = new SeatServer({
    version: '2.0.0',
    pingMs: 10_000,
    trustProxy: 0,
    limits: { ...defaultLimits, dataSockets: 10 },
    logger: pino({ level: 'silent' }),
    join({ epoch }) {
      joined.push(epoch);
      const none = (): Promise<never> => Promise.reject(new Error('not used here'));
      return { durability: 'sync-only', open: none, list: none, remove: none, close: () => Promise.resolve() };
    },
  });
  const port = createServer((socket) => seats.take(socket, ofServer));
  port.listen(0, '127.0.0.1');
  await once(port, 'listening');
  later(async () => {
    await seats.close();
    port.close();
  });
  return { url: `ws://127.0.0.1:${(port.address() as AddressInfo).port}`, joined, seats };
}

const join = (epoch: string, version = '2.0.0'): Buffer =>
  encodeMessage({
    type: 'join',
    version,
    joining: { application: 'mayfly x', epoch },
    key: Buffer.alloc(32),
    settings: { backlogBytes: 1, backlogMaxBytes: 1 },
  } satisfies Join);
const answer = async (ws: WebSocket): Promise<ToOwner['type']> =>
  decodeMessage<ToOwner>(((await once(ws, 'message')) as [Buffer])[0]).type;
const closed = (ws: WebSocket): Promise<unknown> =>
  new Promise((is) => ws.on('close', is).on('error', () => undefined));

it('another server of the database with the same version, the last one that came; nobody else', async () => {
  const { url, joined, seats } = await seatServer(true);
  const owner = new WebSocket(url + SEATS_PATH);
  await once(owner, 'open');
  owner.send(join('7'));
  expect(await answer(owner)).toBe('joined');
  // An upgrade goes from one to the next.
  const newer = new WebSocket(url + SEATS_PATH);
  await once(newer, 'open');
  const gone = closed(owner);
  newer.send(join('8', '2.1.0'));
  expect(await answer(newer)).toBe('refused');
  await gone;
  const next = new WebSocket(url + SEATS_PATH);
  await once(next, 'open');
  next.send(join('9'));
  expect(await answer(next)).toBe('joined');
  expect(joined).toEqual(['7', '9']);
  expect(seats.has('GET /data/cm/0?job=abcdefghijkl HTTP/1.1\r\n')).toBe(false);
  // What it cannot read ends the connection, and not the process.
  next.send(Buffer.from('nonsense'));
  await closed(next);

  const { url: outside } = await seatServer(false);
  const client = new WebSocket(outside + SEATS_PATH);
  const [error] = (await once(client, 'error')) as [Error];
  expect(error.message).toContain('404');
});
