/**
 * Roles of tokens: every route and every message of the dashboard, by each role; whose jobs; tokens that end; what the
 * log must not hold.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import Fastify from 'fastify';
import { io, type Socket } from 'socket.io-client';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { createServer, type MayflyServer } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import { ROLES, type JobView, type Role, type TokenCreated, type TokenView } from '@mayfly/wire';
import { routes } from '@mayfly/rest';
import { EVENTS, needsToken, refuseUnlisted } from '../src/access.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { patient } from '@mayfly/testing';
import { TOKEN, program, until } from './harness.ts';

/** For an answer of the server. */
const LIMIT_MS = patient(60_000);

let dataDir: string;
let server: MayflyServer;
let log = '';
const secrets: string[] = [TOKEN];
const tokens: Partial<Record<Role, string>> = { owner: TOKEN };

const open = (): Promise<MayflyServer> =>
  createServer({
    dataDir,
    port: 0,
    token: TOKEN,
    ...sharedCompiler(),
    room: 'DOOR42',
    log: { level: 'trace', stream: new Writable({ write: (chunk, _e, done) => ((log += String(chunk)), done()) }) },
    limits: { wrongTokensPerMinute: 10_000 },
  });
interface Answer {
  status: number;
  body: { code?: string; [key: string]: unknown };
}
async function ask(method: string, url: string, token?: string, payload?: unknown): Promise<Answer> {
  const r = await server.inject({
    method,
    url,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(payload === undefined ? {} : { payload }),
  });
  let body: unknown;
  try {
    body = r.json();
  } catch {
    body = {};
  }
  return { status: r.statusCode, body: body as never };
}
async function make(name: string, role: Role, more: object = {}): Promise<TokenCreated> {
  const r = await ask('POST', '/api/tokens', TOKEN, { name, role, ...more });
  expect(r.status, JSON.stringify(r.body)).toBe(201);
  const created = r.body as unknown as TokenCreated;
  secrets.push(created.token);
  return created;
}
const list = async (): Promise<TokenView[]> => (await ask('GET', '/api/tokens', TOKEN)).body as unknown as TokenView[];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
  server = await open();
  for (const role of ['viewer', 'submitter'] as const) tokens[role] = (await make(role, role)).token;
});
afterAll(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const NOBODY = 'zzzzzzzzzzzz';
/** The route with something well-formed, that is not there, in each of its places. */
const filled = (url: string): string =>
  url
    .replace(':id/', `${NOBODY}/`)
    .replace(':task', '0')
    .replace(/jobs\/:id/, `jobs/${NOBODY}`)
    .replace(':id', NOBODY.slice(0, 10))
    .replace(':code', 'NOSUCH')
    .replace('*', 'nothing');

const ROUTES = Object.entries(routes).map(([route, { access }]) => [route, access] as const);

describe('every route by every role', () => {
  const api = ROUTES.filter(([, access]) => needsToken(access));
  it.each(api)('%s: %s', async (route, access) => {
    const [method, url] = route.split(' ') as [string, string];
    expect((await ask(method, filled(url))).status, 'without a token').toBe(401);
    for (const role of ROLES) {
      const { status, body } = await ask(method, filled(url), tokens[role]);
      const least = access === 'own' ? 'submitter' : access;
      const allowed = ROLES.indexOf(role) >= ROLES.indexOf(least as Role);
      if (allowed) expect([401, 403], `${role}: ${JSON.stringify(body)}`).not.toContain(status);
      else expect({ status, code: body.code }, role).toEqual({ status: 403, code: 'FORBIDDEN' });
    }
  });

  it('a viewer changes nothing, and only an owner has to do with tokens, rooms and backups', () => {
    for (const [route, access] of api) {
      // A ticket for a download is a way to read, and is forgotten after a minute; a login is one's own.
      const own = ['POST /api/jobs/:id/archive', 'POST /api/logout', 'POST /api/me/token'];
      if (!route.startsWith('GET ') && !own.includes(route)) expect(access, route).not.toBe('viewer');
      if (/tokens|quotas|backup|(POST|DELETE) .*rooms/.test(route)) expect(access, route).toBe('owner');
    }
  });

  it('the list is the whole: OpenAPI has the same routes, and a route without a row does not start', async () => {
    const { paths } = (await ask('GET', '/openapi.json')).body as unknown as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([m, o]) =>
          [
            `${m.toUpperCase()} ${path.replaceAll(/\{([\w*]+)\}/g, (_, n: string) => (n === 'path' ? '*' : `:${n}`))}`,
            o.security !== undefined,
          ] as const,
      ),
    );
    const wanted = ROUTES.filter(([r]) => r.startsWith('GET /api') || !r.startsWith('GET '));
    expect(Object.fromEntries(described.filter(([r]) => r.includes('/api/')))).toEqual(
      Object.fromEntries(wanted.map(([r, a]) => [r, needsToken(a)])),
    );
    const app = Fastify();
    refuseUnlisted(app);
    expect(() => app.get('/api/forgotten', async () => 'x')).toThrow(/GET \/api\/forgotten has no row/);
    await app.close();
  });

  it('messages of the dashboard: each has a role, any other is refused', async () => {
    const socket = await connect(tokens.viewer!);
    for (const event of Object.keys(EVENTS))
      expect(await socket.timeout(LIMIT_MS).emitWithAck(event, {}), event).not.toMatchObject({
        error: { code: 'FORBIDDEN' },
      });
    expect(await socket.timeout(LIMIT_MS).emitWithAck('erase', {})).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    socket.disconnect();
  });
});

async function connect(token: string): Promise<Socket> {
  const socket = io(`${server.localUrl}/dashboard`, {
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    auth: { token },
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return socket;
}

describe('jobs have owners', () => {
  it('a submitter manages the own jobs, reads all, and no other submitter’s are touched', async () => {
    const ada = await make('Ada', 'submitter');
    const { id } = (await ask('POST', '/api/jobs', ada.token, program(`console.log('hello');`, 2))).body as {
      id: string;
    };
    expect((await ask('GET', '/api/me', ada.token)).body).toEqual({ name: 'Ada', role: 'submitter' });
    expect((await ask('GET', '/api/jobs', tokens.viewer)).body as unknown as JobView[]).toMatchObject([
      { id, owner: 'Ada' },
    ]);
    const cancel = `/api/jobs/${id}/cancel`;
    expect((await ask('POST', cancel, tokens.viewer)).status).toBe(403);
    expect((await ask('POST', cancel, tokens.submitter)).body).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('Ada'),
    });
    expect((await ask('GET', `/api/jobs/${id}/submission`, tokens.submitter)).status).toBe(200);
    expect((await ask('POST', cancel, ada.token)).status).toBe(200);
    expect((await ask('DELETE', `/api/jobs/${id}`, tokens.submitter)).status).toBe(403);
    expect((await ask('DELETE', `/api/jobs/${id}`, TOKEN)).status).toBe(200);
  });
});

describe('tokens', () => {
  it('a name is given once, and says nothing strange', async () => {
    for (const name of ['viewer', 'owner'])
      expect((await ask('POST', '/api/tokens', TOKEN, { name, role: 'viewer' })).body, name).toMatchObject({
        code: 'CONFLICT',
      });
    for (const name of ['', ' x', 'a\nb', 'x'.repeat(41)])
      expect((await ask('POST', '/api/tokens', TOKEN, { name, role: 'viewer' })).status, JSON.stringify(name)).toBe(
        400,
      );
    expect((await ask('POST', '/api/tokens', TOKEN, { name: 'late', role: 'viewer', expiresAt: 1 })).status).toBe(400);
    expect((await ask('POST', '/api/tokens', TOKEN, { name: 'king', role: 'king' })).status).toBe(400);
  });

  it('one that is revoked admits nobody, and what is connected with it is cut', async () => {
    const { id, token } = await make('Bo', 'viewer');
    expect((await ask('GET', '/api/jobs', token)).status).toBe(200);
    expect((await list()).find((t) => t.name === 'Bo')).toMatchObject({
      id,
      role: 'viewer',
      createdAt: expect.any(Number),
      lastUsedAt: expect.any(Number),
    });
    const socket = await connect(token);
    const other = await connect(tokens.viewer!);
    const cut = new Promise<string>((resolve) => socket.once('disconnect', resolve));
    expect((await ask('DELETE', `/api/tokens/${id}`, TOKEN)).status).toBe(200);
    expect(await cut).toBe('io server disconnect');
    expect(other.connected).toBe(true);
    expect((await ask('GET', '/api/jobs', token)).status).toBe(401);
    await expect(connect(token)).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } });
    expect((await list()).map((t) => t.name)).not.toContain('Bo');
    other.disconnect();
  });

  it('one that is over is refused, and its connection ends', async () => {
    const { token } = await make('Cy', 'viewer', { expiresAt: Date.now() + 1500 });
    const over = await connect(token).then(
      (socket) => new Promise((resolve) => socket.once('disconnect', resolve)),
      () => 'over before it was connected',
    );
    expect(over).toBeDefined();
    await until('refused', async () => (await ask('GET', '/api/me', token)).status === 401);
  });

  it('stand after a restart of the server; neither directory nor log ever holds one, nor a join code', async () => {
    const room = (await ask('POST', '/api/rooms', TOKEN, { name: 'Class' })).body as { code: string };
    await ask('DELETE', `/api/rooms/${room.code}`, TOKEN);
    for (const url of [`/api/jobs?token=${TOKEN}`, `/dashboard?token=${TOKEN}`, `/volunteer?room=${room.code}`])
      await ask('GET', url, `${TOKEN}x`);
    await connect(`${TOKEN}y`).catch(() => undefined);
    const node = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
    for (const code of ['DOOR42', 'WRONG7'])
      await node
        .timeout(LIMIT_MS)
        .emitWithAck('hello', { version: 1, name: 'n', engine: 'test', slots: 1, room: code, holds: [], images: [] });
    node.disconnect();
    await server.close();
    const files = await readdir(join(dataDir, 'registry'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect((await readFile(join(dataDir, 'registry', file))).includes(tokens.viewer!.slice(14)), file).toBe(false);
    server = await open();
    expect((await ask('GET', '/api/me', tokens.viewer)).body).toEqual({ name: 'viewer', role: 'viewer' });
    expect(log).toContain('token made');
    expect(log).toContain('request refused');
    for (const secret of [...secrets, 'DOOR42', 'WRONG7', room.code])
      expect(log.includes(secret.startsWith('mf_') ? secret.slice(14) : secret), secret).toBe(false);
  });
});

describe('the log says who did what', () => {
  /** Lines of `audit` since a place of the log. */
  const since = (from: number): Record<string, unknown>[] =>
    log
      .slice(from)
      .split('\n')
      .filter((line) => line.includes('"msg":"audit"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('U1, U2: each change by its token and its subject, also one that was refused; looking is none', async () => {
    const ada = await make('Lovelace', 'submitter');
    const from = log.length;
    const { id } = (await ask('POST', '/api/jobs', ada.token, program('for (;;);\n', 1))).body as { id: string };
    await ask('GET', `/api/jobs/${id}`, ada.token);
    await ask('POST', `/api/jobs/${id}/tasks/0/kill`, tokens.viewer);
    await ask('POST', `/api/jobs/${id}/cancel`, ada.token);
    await ask('DELETE', `/api/tokens/${ada.id}`, TOKEN);
    const address = '127.0.0.1';
    const by = { who: 'Lovelace', tokenId: ada.id, role: 'submitter', address };
    expect(since(from)).toMatchObject([
      { ...by, did: 'POST /api/jobs', made: id, status: 201 },
      { who: 'viewer', role: 'viewer', did: 'POST /api/jobs/:id/tasks/:task/kill', of: id, task: '0', status: 403 },
      { ...by, did: 'POST /api/jobs/:id/cancel', of: id, status: 200 },
      { role: 'owner', did: 'DELETE /api/tokens/:id', of: ada.id, status: 200, address },
    ]);
    expect(since(from).map(({ tokenId }) => tokenId !== undefined)).toEqual([true, true, true, false]);
  });

  it('U3: a join code is not in it', async () => {
    const from = log.length;
    const { code } = (await ask('POST', '/api/rooms', TOKEN, { name: 'Secret' })).body as { code: string };
    await ask('DELETE', `/api/rooms/${code}`, TOKEN);
    expect(since(from).map(({ did }) => did)).toEqual(['POST /api/rooms', 'DELETE /api/rooms/:code']);
    expect(log.slice(from)).not.toContain(code);
  });
});
