/** What requests of strangers and viewers may use up: guesses of codes (C1, C2), tickets (T1, T2), open files. */
import Fastify from 'fastify';
import { fewOpenFiles } from '@mayfly/storage';
import type { MayflyError } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { archiveRoutes } from '../src/rest/archive.ts';
import { boardRoute } from '../src/rest/board.ts';
import { installErrors } from '../src/serve/errors.ts';
import { RoomCodes } from '../src/serve/room-codes.ts';
import { later } from './harness.ts';

/** Waiting answers leave when the test says so. */
function bench(own: string | undefined) {
  let due: (() => void)[] = [];
  const codes = new RoomCodes(own, { has: (code) => code === 'RIGHT2' }, (_ms, run) => {
    due.push(run);
    return () => undefined;
  });
  const pass = (): void => {
    const runs = due;
    due = [];
    for (const run of runs) run();
  };
  return { codes, pass, waiting: () => due.length };
}

it('C1, C2: guesses by the board route are slowed, side by side and for the whole network; the right code passes', async () => {
  const { codes, pass, waiting } = bench(undefined);
  const app = Fastify({ trustProxy: true });
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  installErrors(app);
  later(() => app.close());
  boardRoute(app, {
    nodeSockets: { codes },
    chronicle: { board: { view: () => ({ entries: [], teams: [], names: 0 }) } },
  } as never);
  const ask = async (code: string, from: string): Promise<number> =>
    (await app.inject({ url: `/api/rooms/${code}/board`, headers: { 'x-forwarded-for': from } })).statusCode;
  const of = (n: number): string => `2001:db8:0:1::${n.toString(16)}`;
  for (let n = 0; n < 60; n++) expect(await ask('WRONG2', of(n))).toBe(401);
  // A thousand side by side: ten wait for their answers, the others are not looked at.
  const answers = Array.from({ length: 1000 }, (_, n) => ask('WRONG2', of(n)));
  await expect.poll(waiting).toBe(10);
  expect(await ask('RIGHT2', of(1))).toBe(429);
  // Nobody else waits for them.
  expect(await ask('RIGHT2', '2001:db8:0:2::1')).toBe(200);
  expect(await ask('-', '192.0.2.1')).toBe(200);
  pass();
  const told = await Promise.all(answers);
  expect(told.filter((s) => s === 401)).toHaveLength(10);
  expect(told.filter((s) => s === 429)).toHaveLength(990);
  expect(await ask('RIGHT2', of(1))).toBe(200);
});

it('C1: a node with the right code passes while wrong ones of its network wait', async () => {
  const { codes, pass, waiting } = bench('own code');
  for (let n = 0; n < 60; n++) await expect(codes.admit('', 'a')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const slow = Array.from({ length: 50 }, () => codes.admit('WRONG2', 'a').catch((e: MayflyError) => e.code));
  await expect.poll(waiting).toBe(50);
  expect(await codes.admit('own code', 'a')).toBeUndefined();
  expect(await codes.admit('right2', 'a')).toBe('RIGHT2');
  pass();
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['UNAUTHORIZED']));
});

it('T1: tickets of one token, however many, drop none of another', async () => {
  const app = Fastify();
  installErrors(app);
  later(() => app.close());
  app.decorateRequest('principal', null);
  app.addHook('onRequest', async (request) => {
    request.principal = { id: String(request.headers['x-token']), name: 'n', role: 'viewer' } as never;
  });
  const runtime = {
    need: (id: string) => ({ id, name: 'job', size: 1, tasks: [], outputs: [] }),
    world: { outputs: { files: async () => [] } },
  };
  archiveRoutes(app, runtime as never, () => 0);
  const ticket = async (token: string): Promise<{ status: number; url: string }> => {
    const r = await app.inject({
      method: 'POST',
      url: '/api/jobs/abcdefghijkl/archive',
      headers: { 'x-token': token },
    });
    return { status: r.statusCode, url: (r.json() as { url: string }).url };
  };
  const mine = await ticket('mine');
  const first = await ticket('greedy');
  for (let n = 0; n < 25; n++) expect((await ticket('greedy')).status).toBe(201);
  const last = await ticket('greedy');
  expect((await app.inject(mine.url)).statusCode).toBe(200);
  expect((await app.inject(mine.url)).statusCode).toBe(404);
  expect((await app.inject(first.url)).statusCode).toBe(404);
  expect((await app.inject(last.url)).statusCode).toBe(200);
});

it('a process that may open few files says so, and what helps', () => {
  const limits = (n: string): string =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${n}    ${n}   files\n`;
  expect(fewOpenFiles(limits('200'))).toMatch(/only 200 files and connections open: .*ulimit -n 65536.*LimitNOFILE/);
  expect(fewOpenFiles(limits('65536'))).toBeUndefined();
  expect(fewOpenFiles(limits('unlimited'))).toBeUndefined();
  expect(fewOpenFiles('')).toBeUndefined();
});
