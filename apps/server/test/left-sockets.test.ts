/** Sockets that strangers would leave behind: every state before authentication ends by itself (sockets.ts U1, U2). */
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { endUnread } from '../src/serve/unread.ts';
import { later, sharedServer } from './harness.ts';

/** A client that never closes its end. */
const open = (port: number): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.on('connect', () => resolve(socket));
    later(async () => void socket.destroy());
  });

/** Resolves when the other side has no socket any more: what is written to it comes back as an error. */
const gone = async (socket: Socket): Promise<void> => {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const writing = setInterval(() => socket.write('x'), 20);
  await closed;
  clearInterval(writing);
};

it('U1: an upgrade that nobody takes is answered, and its socket is destroyed, though the client keeps its end', async () => {
  const { port } = await sharedServer();
  for (const path of [
    '/socket.io',
    '/socket.iox',
    '/socket.io?EIO=4&transport=websocket',
    '/socket.io.js',
    '/socket.io/nowhere',
    '/socket.io/?EIO=3&transport=websocket',
    '/nowhere',
    '/api/jobs',
    '/data/cm',
    '/data/cm/0',
    '/data/image',
    '/data/poll/99/',
    '/data/poll/0/?EIO=4',
  ]) {
    const socket = await open(port);
    let answer = '';
    socket.on('data', (d: Buffer) => (answer += d.toString('latin1')));
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('end', resolve));
    expect(answer, path).toMatch(/^HTTP\/1\.1 4\d\d /);
    await gone(socket);
  }
});

const engine = async (port: number): Promise<{ ws: WebSocket; got: string[]; closed: Promise<unknown> }> => {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`);
  later(async () => ws.terminate());
  const got: string[] = [];
  ws.on('message', (d: Buffer) => {
    got.push(d.toString());
    if (d.toString() === '2') ws.send('3');
  });
  const closed = new Promise((resolve) => ws.once('close', resolve));
  await new Promise((resolve) => ws.once('open', resolve));
  return { ws, got, closed };
};

it('U2: nobody stays in the namespace /, and who has left ours is not connected any more', async () => {
  const { port } = await sharedServer();
  const idle = await engine(port);
  idle.ws.send('40');
  await expect.poll(() => idle.got.some((m) => m.startsWith('44'))).toBe(true);
  expect(idle.got.some((m) => m.startsWith('40'))).toBe(false);

  const left = await engine(port);
  left.ws.send('40/node,');
  await expect.poll(() => left.got.some((m) => m.startsWith('40/node,'))).toBe(true);
  left.ws.send('41/node,');
  await left.closed;
});

it('an answer that is not read ends; one that we still owe does not', async () => {
  let answer = (): void => undefined;
  const server = createServer((request, response) => {
    if (request.url === '/large') return void response.end(Buffer.alloc(64 << 20));
    answer = () => void response.end('at last');
  });
  endUnread(server, 200);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string): Promise<Socket> => {
    const socket = await open(port);
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return socket;
  };
  let timeouts = 0;
  server.on('timeout', () => timeouts++);
  const waiting = await ask('/later');
  await expect.poll(() => timeouts).toBeGreaterThan(0);
  const unread = await ask('/large');
  await gone(unread);
  answer();
  let got = '';
  waiting.on('data', (d: Buffer) => (got += d.toString()));
  waiting.resume();
  await expect.poll(() => got).toContain('at last');
});
