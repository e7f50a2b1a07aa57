/**
 * Pages of other sites: no route that changes something, and no handshake, is theirs (origin.ts O1 to O3); and names
 * that are not this server's.
 */
import type { IncomingMessage } from 'node:http';
import { io } from 'socket.io-client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MayflyServer } from '@mayfly/server';
import { CONTROL_VERSION } from '@mayfly/wire';
import { routes } from '@mayfly/rest';
import { loadTls } from '../src/tls.ts';
import { Origins, parseHost, type OwnNames } from '../src/serve/origin.ts';
import { TOKEN, auth, freshDir, sharedServer, startServer } from './harness.ts';

let server: MayflyServer;
let host: string;
beforeAll(async () => {
  server = await sharedServer();
  host = new URL(server.localUrl).host;
});

interface Answer {
  status: number;
  body: { code?: string; message?: string };
}
async function ask(method: string, url: string, headers: Record<string, string>, payload?: unknown): Promise<Answer> {
  const r = await server.inject({
    method,
    url,
    headers: { host, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  return {
    status: r.statusCode,
    body: (r.body === '' || !/json/.test(String(r.headers['content-type'])) ? {} : r.json()) as never,
  };
}
const filled = (url: string): string =>
  url.replaceAll(/:(id|code|task)/g, (_, name: string) => ({ id: 'zzzzzzzzzzzz', code: 'ABCDEFGH', task: '0' })[name]!);

describe('every route that changes something', () => {
  const changing = Object.keys(routes).filter((r) => !r.startsWith('GET '));

  it.each(changing)('%s', async (route) => {
    const [method, url] = route.split(' ') as [string, string];
    const foreign = {
      'another site': { origin: 'https://evil.example' },
      'the same machine, another port': { origin: `http://${host.replace(/:\d+$/, ':1')}` },
      'a name that begins like this one': { origin: `http://${host.split(':')[0]}.evil.example:${server.port}` },
      'a frame without an origin': { origin: 'null' },
      'what is no origin': { origin: 'file://' },
      'a browser that says so': { 'sec-fetch-site': 'cross-site' },
      'another name of the same site': { 'sec-fetch-site': 'same-site', origin: 'http://other.localhost' },
    };
    // With the owner's token, too: a page that has it would still not be this server's.
    for (const [who, headers] of Object.entries(foreign))
      for (const token of [{}, auth])
        expect(await ask(method, filled(url), { ...headers, ...token }), who).toMatchObject({
          status: 403,
          body: { code: 'FORBIDDEN', message: expect.stringContaining('only pages of this server') as string },
        });
  });

  it('goes on for the pages of this server, for programs, and through a proxy that the browser vouches for', async () => {
    for (const headers of [
      {},
      { origin: `http://${host}` },
      { origin: `https://${host}`, 'sec-fetch-site': 'same-origin' },
      { origin: 'https://mayfly.example', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ] as Record<string, string>[])
      expect(await ask('DELETE', '/api/lesson/ABCDEFGH', headers), JSON.stringify(headers)).toMatchObject({
        status: 200,
      });
  });

  it('is refused whatever the table says: a new route needs no thought', async () => {
    // Where nothing is, the door is still closed.
    expect(await ask('POST', '/api/of-tomorrow', { origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await ask('POST', '/api/of-tomorrow', {})).toMatchObject({ status: 404 });
  });

  it('takes JSON as JSON only: nothing that a form of another site can send', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect((await ask('POST', '/api/rooms', { ...auth, 'content-type': type }, '{"name":"x"}')).status, type).toBe(
        415,
      );
    expect(
      await ask(
        'POST',
        '/api/rooms',
        { ...auth, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        '{}',
      ),
    ).toMatchObject({ status: 400, body: { message: expect.stringContaining('uncompressed') as string } });
  });

  it('a page of another site may look and be framed as before: GETs of pages and of /data', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await ask('GET', '/widget', headers)).status).not.toBe(403);
    expect(
      await ask('GET', '/data/program/zzzzzzzzzzzz?cap=x', { origin: 'null', 'sec-fetch-site': 'cross-site' }),
    ).toMatchObject({ body: { message: expect.stringContaining('capability') as string } });
  });
});

describe('handshakes of socket.io', () => {
  const connect = (
    namespace: string,
    headers: Record<string, string>,
    transport: 'polling' | 'websocket',
  ): Promise<string> =>
    new Promise((resolve) => {
      const socket = io(server.localUrl + namespace, {
        transports: [transport],
        forceNew: true,
        reconnection: false,
        auth: { token: TOKEN },
        extraHeaders: headers,
      });
      socket.once('connect_error', () => resolve('refused'));
      socket.once('connect', () => {
        socket.close();
        resolve('connected');
      });
    });

  it.each(['polling', 'websocket'] as const)(
    'over %s act for pages of this server and for programs only',
    async (transport) => {
      for (const namespace of ['/node', '/dashboard']) {
        for (const headers of [
          { origin: 'https://evil.example' },
          { origin: 'null' },
          { 'sec-fetch-site': 'cross-site' },
        ] as Record<string, string>[])
          expect(await connect(namespace, headers, transport), `${namespace} ${JSON.stringify(headers)}`).toBe(
            'refused',
          );
        for (const headers of [{}, { origin: server.localUrl }] as Record<string, string>[])
          expect(await connect(namespace, headers, transport), `${namespace} ${JSON.stringify(headers)}`).toBe(
            'connected',
          );
      }
    },
  );

  it('a volunteer of the widget comes from the server’s own frame, and is let in', async () => {
    const socket = io(`${server.localUrl}/node`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { origin: server.localUrl, 'sec-fetch-site': 'same-origin' },
    });
    expect(
      await socket.emitWithAck('hello', {
        version: CONTROL_VERSION,
        name: 'widget',
        engine: 'e',
        slots: 0,
        holds: [],
        images: [],
      }),
    ).toMatchObject({ node: expect.any(String) as string });
    socket.close();
  });
});

describe('names', () => {
  const own: OwnNames = {
    host: '0.0.0.0',
    publicUrl: 'https://mayfly.example',
    certificate: undefined,
    allowHosts: ['old.example', '.tunnel.example'],
  };
  const handshake = (names: OwnNames, headers: Record<string, string>): string => {
    try {
      new Origins(names).checkHandshake({ headers } as unknown as IncomingMessage);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('are this server’s if they are addresses, of a network of one’s own, in its certificate, or set', async () => {
    for (const name of [
      'localhost:7070',
      '127.0.0.1:7070',
      '[::1]:7070',
      '192.168.1.20:7070',
      'LOCALHOST',
      'teacher',
      'teacher.local:7070',
      'a.localhost',
      'mayfly.example',
      'MAYFLY.example.',
      'old.example',
      'a-b.tunnel.example',
    ])
      expect(handshake(own, { host: name }), name).toBe('');
    for (const name of [
      'evil.example',
      'evil.example:7070',
      'mayfly.example.evil.example',
      'tunnel.example',
      '127.0.0.1.evil.example',
      'a b',
      '[::1',
      'localhost@evil.example',
    ])
      expect(handshake(own, { host: name }), name).toContain('--allow-host');
    // The names that its certificate has, one with a wildcard.
    const certificate = (await loadTls('selfsigned', await freshDir(), ['class.example', '*.school.example'])).cert;
    for (const name of ['class.example:8443', 'room-1.school.example']) {
      expect(handshake(own, { host: name }), name).not.toBe('');
      expect(handshake({ ...own, certificate }, { host: name }), name).toBe('');
    }
    expect(handshake({ ...own, certificate }, { host: 'evil.example' })).not.toBe('');
    expect(parseHost('[fe80::1]:80')).toEqual({ name: 'fe80::1', port: '' });
  });

  it('a page counts as this server’s by the name that was asked for, or by the public one behind a proxy', () => {
    const page = (origin: string, name: string, names = own, more = {}): string =>
      handshake(names, { host: name, origin, ...more });
    expect(page('http://192.168.1.20:7070', '192.168.1.20:7070')).toBe('');
    expect(page('https://mayfly.example', '127.0.0.1:7070')).toBe('');
    expect(page('https://mayfly.example:443', 'mayfly.example')).toBe('');
    expect(page('https://old.example', '127.0.0.1:7070')).toContain('start it with --public-url https://old.example');
    expect(page('https://evil.example', '127.0.0.1:7070', own, { 'x-forwarded-host': 'evil.example' })).not.toBe('');
  });

  it('behind a proxy are read from Host alone: a page under a foreign name sends any X-Forwarded-Host', async () => {
    const server = await startServer({ trustProxy: true });
    const foreign = { host: 'evil.example', 'x-forwarded-host': 'localhost' };
    expect((await server.inject({ url: '/api/info', headers: foreign })).statusCode).toBe(403);
    expect(handshake(own, foreign)).toContain('--allow-host');
    // And what a client says of the scheme gets into no policy.
    const { headers } = await server.inject({ url: '/frame/', headers: { 'x-forwarded-proto': "x: 'unsafe-eval' a" } });
    expect(headers['content-security-policy']).toBeDefined();
    expect(headers['content-security-policy']).not.toContain("x: 'unsafe");
  });

  it('of others get a sentence that names the setting, on every route but the load balancer’s', async () => {
    expect(await ask('GET', '/api/info', { host: 'evil.example' })).toMatchObject({
      status: 403,
      body: {
        code: 'FORBIDDEN',
        message:
          'This server does not know the name “evil.example”. If that is one of its names, start it with ' +
          '--allow-host evil.example, or with --public-url behind a proxy or tunnel.',
      },
    });
    expect((await ask('POST', '/api/lesson', { host: 'evil.example', origin: 'http://evil.example' })).status).toBe(
      403,
    );
    expect((await ask('GET', '/', { host: 'evil.example' })).status).toBe(403);
    expect((await ask('GET', '/healthz', { host: 'evil.example' })).status).toBe(200);
  });
});

it('O3: a frame of an opaque origin may post its frames to the data plane, where a capability admits', async () => {
  const server = await sharedServer();
  const answer = await fetch(`${server.localUrl}/data/poll/0/?EIO=4&transport=polling&sid=unknown`, {
    method: 'POST',
    headers: { origin: 'null', 'sec-fetch-site': 'cross-site' },
    body: '6',
  });
  // engine.io's own answer: no such session.
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Session ID unknown')]);
});
