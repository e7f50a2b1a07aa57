/** The port of a server that shares its database: what goes on to another server, and what is served. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttps, request as httpsRequest } from 'node:https';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Front } from '../src/serve/front.ts';
import { callServer } from '../src/serve/server-link.ts';
import { loadTls } from '../src/tls.ts';
import { freshDir, later, until } from './harness.ts';

const SECRET = 'secret-of-the-database';

async function front(patienceMs?: number, most?: number): Promise<Front> {
  const f = await Front.listen(0, '0.0.0.0', patienceMs, most);
  later(() => f.close());
  return f;
}
const whoAsks: RequestListener = (request, response) => response.end(request.socket.remoteAddress);

/** Connections that servers of this process have accepted. */
const accepted = new Set<Socket>();
subscribe('net.server.socket', (message) => accepted.add((message as { socket: Socket }).socket));
/** Until a server has read so many bytes, and no more, of a connection to that port. */
const hasRead = (port: number, bytes: number): Promise<unknown> =>
  until(`${bytes} bytes are read at port ${port}`, () =>
    [...accepted].some((socket) => socket.localPort === port && socket.bytesRead === bytes),
  );

/** What comes back for these bytes, from this address. */
async function send(port: number, bytes: string, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.write(bytes);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  await once(socket, 'close');
  return text;
}
const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

it('goes on to the server that serves, which counts the client and not the server between', async () => {
  const [a, b] = [await front(), await front()];
  const http = createHttp(whoAsks);
  a.serve(http, SECRET);
  b.sendOn({ address: `127.0.0.1:${a.port}`, secret: SECRET });
  expect(await send(b.port, GET, '127.0.0.7')).toMatch(/^HTTP\/1.1 200[^]*127\.0\.0\.7$/);
  expect(await send(a.port, GET, '127.0.0.8')).toMatch(/^HTTP\/1.1 200[^]*127\.0\.0\.8$/);
  // A request may come in pieces that look like the line of another server.
  const slow = connect({ port: a.port, host: '127.0.0.1' });
  slow.write('M');
  await hasRead(a.port, 1);
  slow.write(GET.replace('GET', 'ERGE'));
  const [answer] = (await once(slow, 'data')) as [Buffer];
  expect(answer.toString()).toContain('HTTP/1.1 200');
  // Who does not know the secret names no address: neither in the clear, nor with another one.
  expect(await send(a.port, `MAYFLY/2\n10.0.0.1\n${GET}`)).not.toContain('10.0.0.1');
  b.sendOn({ address: `127.0.0.1:${a.port}`, secret: 'guessed' });
  expect(await send(b.port, GET)).toBe('');
});

it('keeps what is for its own seats, and knows who comes from the server that serves', async () => {
  const [a, b] = [await front(), await front()];
  a.serve(createHttp(whoAsks), SECRET);
  const seats = createHttp();
  const ofServers = new Set<unknown>();
  seats.on('request', (request: IncomingMessage, response: ServerResponse) =>
    response.end(`seat ${ofServers.has(request.socket) ? 'of a server' : 'of a client'}`),
  );
  b.seats = {
    has: (head) => head.startsWith('GET /here'),
    take(connection, ofServer) {
      if (ofServer) ofServers.add(connection);
      seats.emit('connection', connection);
    },
  };
  b.sendOn({ address: `127.0.0.1:${a.port}`, secret: SECRET });
  expect(await send(b.port, GET.replace('/', '/here'))).toContain('seat of a client');
  expect(await send(b.port, GET.replace('/', '/there'))).toContain('127.0.0.1');
  const call = async (secret: string): Promise<string> => {
    const link = callServer(connect({ port: b.port, host: '127.0.0.1' }), secret, undefined);
    let text = '';
    link.on('error', () => undefined).on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    link.write(GET);
    await new Promise((closed) => link.on('close', closed));
    return text;
  };
  expect(await call(SECRET)).toContain('seat of a server');
  expect(await call('guessed')).toBe('');
  // Once it serves, it has none.
  b.seats = undefined;
  b.serve(createHttp(whoAsks), SECRET);
  expect(await send(b.port, GET.replace('/', '/here'))).toContain('127.0.0.1');
});

it('lets connections wait until somebody serves, and ends those that went on to a server that is not it any more', async () => {
  const [a, b] = [await front(), await front()];
  const waiting = send(b.port, GET);
  const slow = createHttp((request, response) => void (request.url === '/' ? response.end('here') : undefined));
  a.serve(slow, SECRET);
  b.sendOn({ address: `127.0.0.1:${a.port}`, secret: SECRET });
  expect(await waiting).toContain('here');
  const stuck = send(b.port, GET.replace('/', '/never'));
  await once(slow, 'request');
  b.serve(createHttp(whoAsks), 'another secret');
  expect(await stuck).toBe('');
  expect(await send(b.port, GET)).toContain('127.0.0.1');
});

it('waits for a server that cannot be reached, whoever takes over, and says so when nobody does', async () => {
  const [b, patient, gone] = [await front(0), await front(), await front()];
  for (const f of [b, patient]) f.sendOn({ address: `127.0.0.1:${gone.port}`, secret: SECRET });
  await gone.close();
  const waiting = send(patient.port, GET);
  await hasRead(patient.port, GET.length);
  patient.serve(createHttp(whoAsks), 'another secret');
  expect(await waiting).toContain('127.0.0.1');
  expect(await send(b.port, GET)).toMatch(/^HTTP\/1.1 503[^]*stands by for another one, which does not answer/);
});

it('encrypts what goes from one server to another', async () => {
  const [a, b] = [await front(), await front()];
  const wire: Buffer[] = [];
  const between = createServer((socket) => {
    const on = connect({ port: a.port, host: '127.0.0.1' });
    for (const [from, to] of [[socket, on] as const, [on, socket] as const])
      from.on('data', (chunk: Buffer) => void (wire.push(chunk), to.write(chunk))).on('close', () => to.destroy());
  });
  await once(between.listen(0, '127.0.0.1'), 'listening');
  later(async () => void between.close());
  a.serve(
    createHttp((request, response) =>
      response.end(`${request.url} ${'encrypted' in request.socket && request.socket.encrypted}`),
    ),
    SECRET,
  );
  b.sendOn({ address: `127.0.0.1:${(between.address() as AddressInfo).port}`, secret: SECRET });
  // It came without TLS: its answers name http addresses.
  expect(await send(b.port, GET.replace('/', '/token'))).toMatch(/\/token (undefined|false)$/);
  const seen = Buffer.concat(wire).toString('latin1');
  expect(seen.length).toBeGreaterThan(200);
  for (const secret of [SECRET, '/token', '127.0.0.1']) expect(seen).not.toContain(secret);
});

it('passes TLS through, and closes all of it', async () => {
  const [a, b] = [await front(), await front()];
  const { cert, key } = await loadTls('selfsigned', await freshDir(), []);
  const https = createHttps({ cert, key }, (_, response) => response.end('over TLS'));
  a.serve(https as never, SECRET);
  b.sendOn({ address: `127.0.0.1:${a.port}`, secret: SECRET });
  const request = httpsRequest({ port: b.port, host: '127.0.0.1', rejectUnauthorized: false, agent: false });
  request.setHeader('connection', 'keep-alive');
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { socket } = response;
  expect((await response.toArray()).join('')).toBe('over TLS');
  https.closeAllConnections();
  if (!socket.destroyed) await once(socket, 'close');
});

it('N4: has so many connections that wait or say nothing, and the oldest of them goes', async () => {
  const [a, b] = [await front(undefined, 3), await front()];
  b.serve(createHttp(whoAsks), SECRET);
  const closed: number[] = [];
  const open = async (name: number, bytes = ''): Promise<Socket> => {
    const socket = connect({ port: a.port, host: '127.0.0.1' });
    socket.on('close', () => closed.push(name)).on('error', () => undefined);
    await once(socket, 'connect');
    if (bytes !== '') socket.write(bytes);
    later(() => Promise.resolve(void socket.destroy()));
    return socket;
  };
  // A socket that is closed has no port any more.
  let arrived = 0;
  const count = (message: unknown): void => {
    if ((message as { socket: Socket }).socket.localPort === a.port) arrived++;
  };
  subscribe('net.server.socket', count);
  later(() => Promise.resolve(void unsubscribe('net.server.socket', count)));
  const came = (n: number): Promise<unknown> => until(`${n} connections have come`, () => arrived >= n);
  for (let name = 1; name <= 5; name++) {
    await open(name);
    await came(name);
  }
  await until('two are closed', () => closed.length >= 2);
  expect(closed.sort()).toEqual([1, 2]);
  // Now they are silent.
  a.sendOn({ address: `127.0.0.1:${b.port}`, secret: SECRET });
  expect(await send(a.port, GET)).toContain('127.0.0.1');
  await until('one more is closed', () => closed.length >= 3);
  expect(closed.at(-1)).toBe(3);
});
