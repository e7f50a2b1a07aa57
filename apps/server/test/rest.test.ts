/** REST at its border: tokens, schemas, limits, errors with stable codes. */
import { describe, expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer } from '@mayfly/server';
import { startHeadlessNode } from '@mayfly/node/headless';
import type { ServerView } from '@mayfly/wire';
import { io } from 'socket.io-client';
import { complaints } from './prometheus.ts';
import { api, auth, freshDir, program, sharedServer, startServer, TOKEN } from './harness.ts';

const HELLO = `console.log('hello');`;

describe('REST', () => {
  it('submits, lists, shows, cancels and deletes a job, and gives the submission back as it came', async () => {
    const server = await startServer();
    const submission = program(HELLO, 2, {
      name: 'greeting',
      args: ['a'],
      files: { 'in/data.txt': Buffer.from('42').toString('base64') },
      stdin: Buffer.from('x\n').toString('base64'),
    });
    const created = await api(server, 'POST', '/api/jobs', submission);
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    expect(id).toMatch(/^[0-9a-z]{12}$/);
    const job = await api(server, 'GET', `/api/jobs/${id}`);
    expect(job.body).toMatchObject({
      id,
      name: 'greeting',
      state: 'waiting',
      size: 2,
      reason: 'needs 2 slots; none available',
      args: ['a'],
      protocol: 'pessimistic',
      durability: 'behind',
    });
    expect((await api(server, 'GET', '/api/jobs')).body).toMatchObject([{ id }]);
    expect((await api(server, 'GET', `/api/jobs/${id}/submission`)).body).toEqual(submission);
    expect(await api(server, 'DELETE', `/api/jobs/${id}`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await api(server, 'POST', `/api/jobs/${id}/cancel`)).status).toBe(200);
    expect((await api(server, 'GET', `/api/jobs/${id}`)).body).toMatchObject({
      state: 'cancelled',
      error: { code: 'CANCELLED' },
    });
    expect(await api(server, 'POST', `/api/jobs/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    expect((await api(server, 'DELETE', `/api/jobs/${id}`)).status).toBe(200);
    expect(await api(server, 'GET', `/api/jobs/${id}`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('opens rooms, and sends jobs and volunteers into them', async () => {
    const server = await startServer();
    const opened = await api(server, 'POST', '/api/rooms', { name: 'Class 7b' });
    expect(opened).toMatchObject({ status: 201, body: { name: 'Class 7b', nodes: 0, slots: 0, free: 0, jobs: 0 } });
    const { code } = opened.body as { code: string };
    expect(code).toMatch(/^[A-HJKMNP-Z2-9]{6}$/);
    // A person types it as it comes.
    const node = await startHeadlessNode({
      server: server.url,
      allowTypeScript: true,
      slots: 2,
      name: 'in the room',
      board: { name: ' Ada  L. ', team: '7b' },
      room: ` ${code.slice(0, 3).toLowerCase()}-${code.slice(3)}`,
    });
    try {
      expect((await api(server, 'GET', '/api/rooms')).body).toMatchObject([{ code, nodes: 1, slots: 2, free: 2 }]);
      expect((await api(server, 'GET', '/api/nodes')).body).toMatchObject([
        { name: 'in the room', room: code, faults: 0 },
      ]);
      await expect(
        startHeadlessNode({ server: server.url, allowTypeScript: true, slots: 1, name: 'lost', room: 'NOSUCH' }),
      ).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
      const elsewhere = await api(server, 'POST', '/api/jobs', program(HELLO, 1));
      const here = await api(
        server,
        'POST',
        '/api/jobs',
        program(`import { env } from 'mayfly'; console.log(env.GREETING);`, 1, {
          room: code,
          options: { env: { GREETING: 'good morning' }, memoryBytes: 64 << 20 },
        }),
      );
      const id = (here.body as { id: string }).id;
      await expect
        .poll(async () => ((await api(server, 'GET', `/api/jobs/${id}`)).body as { state: string }).state, {})
        .toBe('done');
      expect((await server.inject({ url: `/api/jobs/${id}/tasks/0/stdout`, headers: auth })).body).toBe(
        'good morning\n',
      );
      // Without a token: who has the code sees the board.
      const board = await fetch(`${server.localUrl}/api/rooms/${code}/board?name=ada%20l.&team=7b`);
      expect(await board.json()).toMatchObject({
        names: 1,
        entries: [{ name: 'Ada L.', team: '7b', jobs: 1, finished: 1, here: true }],
        you: { place: 1 },
        anonymous: { jobs: 0 },
      });
      expect((await fetch(`${server.localUrl}/api/rooms/NOSUCH/board`)).status).toBe(401);
      await expect(
        startHeadlessNode({
          server: server.url,
          allowTypeScript: true,
          slots: 1,
          name: 'liar',
          board: { name: '<img>' },
        }),
      ).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      expect((await api(server, 'GET', `/api/jobs/${(elsewhere.body as { id: string }).id}`)).body).toMatchObject({
        state: 'waiting',
        reason: 'needs 1 slot; none available',
      });
      expect((await api(server, 'GET', `/api/checkpoint-advice?room=${code}`)).body).toMatchObject({
        checkpointMs: 30_000,
        measured: false,
        faults: 0,
      });
      const waiting = await api(server, 'POST', '/api/jobs', program(HELLO, 3, { room: code }));
      expect(await api(server, 'DELETE', `/api/rooms/${code}`)).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT' },
      });
      await api(server, 'POST', `/api/jobs/${(waiting.body as { id: string }).id}/cancel`);
      expect((await api(server, 'DELETE', `/api/rooms/${code}`)).status).toBe(200);
      expect(await api(server, 'POST', '/api/jobs', program(HELLO, 1, { room: code }))).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    } finally {
      await node.close(0);
    }
  });

  it('shows diagnostics of a program that does not compile, and keeps nothing of it', async () => {
    const server = await startServer();
    const r = await api(server, 'POST', '/api/jobs', program(`const x: number = 'text';`, 1));
    expect(r).toMatchObject({
      status: 422,
      body: { code: 'COMPILE_FAILED', diagnostics: [{ file: 'main.ts', line: 1, code: 'TS2322' }] },
    });
    const outside = await api(
      server,
      'POST',
      '/api/jobs',
      program(`import { readFileSync } from 'node:fs'; readFileSync('/etc/passwd');`, 1),
    );
    expect(outside).toMatchObject({ status: 422, body: { code: 'FORBIDDEN_IMPORT' } });
    expect((await api(server, 'GET', '/api/jobs')).body).toEqual([]);
  });

  it('refuses wrong and missing tokens, and counts wrong ones', async () => {
    const server = await startServer({ limits: { wrongTokensPerMinute: 3 }, trustProxy: true });
    const get = (headers: Record<string, string>): ReturnType<typeof server.inject> =>
      server.inject({ url: '/api/jobs', headers });
    expect((await get({})).json()).toMatchObject({ code: 'UNAUTHORIZED' });
    for (let i = 0; i < 3; i++) expect((await get({ authorization: 'Bearer wrong' })).statusCode).toBe(401);
    expect((await get({ authorization: 'Bearer wrong' })).json()).toMatchObject({ code: 'TOO_MANY' });
    // Behind a proxy each client has an address of its own, on the dashboard's socket as well.
    const dashboard = (address: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = io(`${server.localUrl}/dashboard`, {
          transports: ['websocket'],
          forceNew: true,
          reconnection: false,
          auth: { token: 'wrong' },
          extraHeaders: { 'x-forwarded-for': address },
        });
        socket.on('connect_error', (e: Error & { data?: { code: string } }) => resolve(e.data!.code));
      });
    for (let i = 0; i < 3; i++) expect(await dashboard('192.0.2.7')).toBe('UNAUTHORIZED');
    expect([await dashboard('192.0.2.7'), await dashboard('192.0.2.8')]).toEqual(['TOO_MANY', 'UNAUTHORIZED']);
    expect((await server.inject({ url: '/api/info' })).json()).toMatchObject({
      name: 'mayfly',
      roomNeeded: false,
      slots: { total: 0, free: 0, nodes: 0 },
      defaults: { graceMs: 3000, memoryBytes: 1024 ** 3 },
    });
  });

  it.each([
    ['no size', { program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': '' } } }],
    ['a size of 0', program(HELLO, 0)],
    [
      'an entry that is not there',
      { program: { language: 'typescript', entry: 'other.ts', sources: { 'main.ts': '' } }, size: 1 },
    ],
    [
      'a path that climbs',
      { program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': '', '../x.ts': '' } }, size: 1 },
    ],
    ['an absolute input path', program(HELLO, 1, { files: { '/etc/x': '' } })],
    ['an input that is not base64', program(HELLO, 1, { files: { x: '*' } })],
    ['an unknown field', program(HELLO, 1, { surprise: 1 })],
    ['an unknown option', program(HELLO, 1, { options: { colour: 'red' } })],
  ])('refuses %s with BAD_REQUEST', async (_what, body) => {
    const server = await sharedServer();
    const r = await api(server, 'POST', '/api/jobs', body);
    expect(r).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect((r.body as { message: string }).message.length).toBeGreaterThan(10);
  });

  it('refuses oversize uploads, broken JSON and unknown ids', async () => {
    const server = await startServer({ limits: { submissionBytes: 10_000, inputBytes: 100 } });
    expect(await api(server, 'POST', '/api/jobs', program(`/*${'x'.repeat(20_000)}*/`, 1))).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE' },
    });
    expect(
      await api(server, 'POST', '/api/jobs', program(HELLO, 1, { files: { x: Buffer.alloc(200).toString('base64') } })),
    ).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
    const broken = await server.inject({
      method: 'POST',
      url: '/api/jobs',
      headers: { ...auth, 'content-type': 'application/json' },
      payload: '{',
    });
    expect(broken.json()).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await api(server, 'GET', '/api/jobs/nosuchjob123')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    expect(await api(server, 'GET', '/api/jobs/NOT-AN-ID')).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
    expect(await api(server, 'GET', '/api/nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await server.inject({ url: '/data/program/nosuchjob123?cap=x' })).json()).toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it('says that an upload is too large, also when it has more than the server keeps of unfinished messages', async () => {
    const server = await startServer({ limits: { submissionBytes: 10_000, unfinishedBytes: 1 << 20 } });
    const r = await fetch(`${server.localUrl}/api/jobs`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json' },
      body: ' '.repeat(16 << 20),
    });
    expect([r.status, await r.json()]).toMatchObject([
      413,
      {
        code: 'TOO_LARGE',
        message: 'The body of this request has more than the 10000 bytes that this server takes here.',
      },
    ]);
  });

  it('limits requests per address', async () => {
    const server = await startServer({ limits: { requestsPerMinute: 3 } });
    for (let i = 0; i < 3; i++) expect((await server.inject({ url: '/api/info' })).statusCode).toBe(200);
    const r = await server.inject({ url: '/api/info' });
    expect([r.statusCode, r.json()]).toMatchObject([429, { code: 'TOO_MANY' }]);
    expect((await server.inject({ url: '/healthz' })).statusCode).toBe(200);
  });

  it('describes itself: OpenAPI, metrics, health', async () => {
    const server = await startServer();
    const openapi = (await server.inject({ url: '/openapi.json' })).json() as { paths: Record<string, object> };
    expect(Object.keys(openapi.paths)).toEqual(
      expect.arrayContaining([
        '/api/jobs',
        '/api/jobs/{id}',
        '/api/jobs/{id}/cancel',
        '/api/jobs/{id}/tasks/{task}/stdout',
        '/api/jobs/{id}/tasks/{task}/kill',
        '/api/jobs/{id}/stdin',
        '/api/nodes',
        '/api/examples',
        '/api/info',
      ]),
    );
    const metrics = (await server.inject({ url: '/metrics' })).body;
    expect(complaints(metrics)).toEqual([]);
    for (const line of [
      'mayfly_jobs{state="running"} 0',
      'mayfly_build_info{version="0.2.0"} 1',
      'mayfly_dashboards 0',
    ])
      expect(metrics).toContain(`${line}\n`);
    await expect
      .poll(async () => (await server.inject({ url: '/metrics' })).body)
      .toContain('mayfly_http_requests_total{method="GET",route="/openapi.json",status="200"} 1\n');
    expect(metrics).toMatch(/^mayfly_storage_bytes\{kind="registry"\} [1-9]/m);
    expect(
      complaints('# HELP mayfly_a_ms x\n# TYPE mayfly_a_ms counter\nmayfly_a_ms 1\nmayfly_a_ms 2\nb 1\n'),
    ).toHaveLength(4);
    const seen = (await api(server, 'GET', '/api/server')).body as ServerView;
    expect(seen).toMatchObject({
      version: '0.2.0',
      nodes: 0,
      jobs: { running: 0 },
      dashboards: 0,
      storage: { limitBytes: 20 * 2 ** 30 },
    });
    expect(seen.storage.registry).toBeGreaterThan(0);
    expect(seen.storage.freeBytes).toBeGreaterThan(0);
    expect(seen.eventLoopMs.max).toBeGreaterThanOrEqual(seen.eventLoopMs.mean);
    expect((await server.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' });
  });

  it('draws a token at the first start, keeps only its hash, and takes it at the next', async () => {
    const dataDir = await freshDir();
    const first = await createServer({ dataDir, port: 0, log: 'silent' });
    expect(first.tokenIsNew).toBe(true);
    const token = first.token!;
    await first.close();
    const second = await createServer({ dataDir, port: 0, log: 'silent' });
    expect([second.token, second.tokenIsNew]).toEqual([undefined, false]);
    expect((await second.inject({ url: '/api/jobs', headers: { authorization: `Bearer ${token}` } })).statusCode).toBe(
      200,
    );
    expect((await second.inject({ url: '/api/jobs', headers: { authorization: `Bearer ${token}x` } })).statusCode).toBe(
      401,
    );
    await second.close();
    expect((await readFile(join(dataDir, 'registry', 'data.mdb')).catch(() => Buffer.alloc(0))).includes(token)).toBe(
      false,
    );
    const third = await startServer({ dataDir, token: TOKEN });
    expect((await third.inject({ url: '/api/jobs', headers: { authorization: `Bearer ${token}` } })).statusCode).toBe(
      401,
    );
    expect((await third.inject({ url: '/api/jobs', headers: auth })).statusCode).toBe(200);
  });

  it('takes standard input durably and by offset', async () => {
    const dataDir = await freshDir();
    const server = await startServer({ dataDir });
    const { id } = (await api(server, 'POST', '/api/jobs', program(HELLO, 1, { options: { interactive: true } })))
      .body as { id: string };
    const text = (s: string): Uint8Array => new TextEncoder().encode(s);
    expect((await api(server, 'POST', `/api/jobs/${id}/stdin`, text('one\n'))).body).toEqual({ bytes: 4 });
    // Said again with its offset (the answer was lost): nothing is doubled.
    expect((await api(server, 'POST', `/api/jobs/${id}/stdin?offset=0`, text('one\ntwo\n'))).body).toEqual({
      bytes: 8,
    });
    expect(await api(server, 'POST', `/api/jobs/${id}/stdin?offset=100`, text('x'))).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    await server.close();
    const again = await startServer({ dataDir });
    expect((await api(again, 'GET', `/api/jobs/${id}`)).body).toMatchObject({ state: 'waiting' });
    expect((await api(again, 'POST', `/api/jobs/${id}/stdin?end=1`, text('three'))).body).toEqual({ bytes: 13 });
    expect(await api(again, 'POST', `/api/jobs/${id}/stdin`, text('more'))).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
  });
});
