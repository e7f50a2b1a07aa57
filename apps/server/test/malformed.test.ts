/**
 * Ten thousand malformed inputs against one real server (a process of its own), through every door that it has, while a
 * healthy job computes on a headless node. Afterwards: it answers, it has logged no defect, every refusal had a code of
 * the registry, no connection is left, its memory is bounded, it stops cleanly, and the healthy job ends with its very
 * answer on its first incarnations.
 *
 * MAYFLY_FUZZ_SEED=<n> draws others; the seed stands in every failure.
 */
import fc from 'fast-check';
import { Socket as PollingSocket } from 'engine.io-client';
import { startHeadlessNode } from '@mayfly/node/headless';
import { ERRORS, type JobView } from '@mayfly/wire';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { describe, expect, it } from 'vitest';
import { freshDir, later, program, TOKEN, until } from './harness.ts';
import { Attacker } from './malformed/attacker.ts';
import {
  attach,
  controlMessage,
  firstMessage,
  imageMessage,
  LAST_WORD,
  laterMessage,
  type Holder,
} from './malformed/messages.ts';
import { badArchive, badModule, badSubmission, bomb, oddPaths, requests } from './malformed/requests.ts';
import { Stranger } from './malformed/stranger.ts';
import { startProcess } from './server-process.ts';

const SEED = Number(process.env.MAYFLY_FUZZ_SEED ?? 20_261_121);
const draw = <T>(what: fc.Arbitrary<T>, n: number): T[] => fc.sample(what, { numRuns: n, seed: SEED });
const STRANGERS = 4;

/**
 * Sums go round between the lines of standard input: the job computes while the others do harm, and certainly lives
 * until the last line.
 */
const HEALTHY = `
import { COMM_WORLD as comm, stdin, SUM } from 'mayfly';
const mine = Float64Array.of(comm.rank + 1), all = new Float64Array(1);
const more = Float64Array.of(1);
let total = 0;
while (more[0]) {
  if (comm.rank === 0) more[0] = stdin.readLine() === 'end' ? 0 : 1;
  comm.bcast(more, 0);
  for (let i = 0; i < 40; i++) {
    comm.allreduce(mine, all, SUM);
    mine[0] = (all[0]! % 1000) + comm.rank;
  }
  total += all[0]!;
}
console.log('total', total);
`;
function answer(lines: number): string {
  const mine = [1, 2];
  let total = 0;
  for (let line = 0; line < lines; line++) {
    let all = 0;
    for (let i = 0; i < 40; i++) {
      all = mine[0]! + mine[1]!;
      mine.forEach((_, r) => (mine[r] = (all % 1000) + r));
    }
    total += all;
  }
  return `total ${total}\n`;
}

/** Works on all of a list, some at a time. The failure of one names it and the seed. */
async function each<T>(list: readonly T[], work: (item: T) => Promise<unknown>, width = 12): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < list.length) {
        const i = next++;
        try {
          await work(list[i]!);
        } catch (e) {
          throw new Error(`seed ${SEED}, input ${i}: ${show(list[i])}: ${(e as Error).message}`, { cause: e });
        }
      }
    }),
  );
}
const show = (v: unknown): string =>
  (v instanceof Uint8Array ? Buffer.from(v).toString('hex') : JSON.stringify(v)).slice(0, 1500);

describe('malformed input', () => {
  it('ten thousand of it: refused with stable codes, harmless to a job that runs beside it', async () => {
    // Silence and slow answers are what a busy machine produces by itself: no timer may take the healthy job down.
    const server = await startProcess({
      dataDir: join(await freshDir(), 'data'),
      pingMs: 120_000,
      dispatcher: {
        graceMs: 120_000,
        silentMs: 600_000,
        trustNewcomers: true /* the stranger is to get jobs again, whatever it did */,
      },
      limits: { requestsPerMinute: 1e9, wrongTokensPerMinute: 1e9, submissionBytes: 4 << 20 },
    });
    const attacker = new Attacker(server);
    const call = async <T>(method: string, path: string, body?: object | string): Promise<T> => {
      const r = await fetch(server.url + path, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body === undefined
            ? {}
            : { 'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await r.text();
      if (!r.ok) throw new Error(`${path}: ${text}`);
      return (r.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
    };
    const view = (id: string): Promise<JobView> => call('GET', `/api/jobs/${id}`);
    const metric = async (name: string): Promise<number> =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await call<string>('GET', '/metrics'))![1]);

    const node = await startHeadlessNode({ server: server.url, allowTypeScript: true, slots: 2, name: 'healthy' });
    later(() => node.close(0));
    const { id } = await call<{ id: string }>(
      'POST',
      '/api/jobs',
      program(HEALTHY, 2, { options: { interactive: true } }),
    );
    await until('the healthy job runs', async () => (await view(id)).tasks.every((t) => t.state === 'running'));
    let lines = 0;
    const goOn = async (line = 'more'): Promise<void> => {
      lines++;
      await call('POST', `/api/jobs/${id}/stdin`, `${line}\n`);
    };
    const stranger = new Stranger(server.url);
    await until('the stranger is welcome', () => stranger.here);
    /** A job of incarnations to abuse; a fresh one when the last has ended, as bad output makes it. */
    let victim = '';
    const holders = async (): Promise<Holder[]> => {
      if (victim === '' || ['done', 'failed', 'cancelled'].includes((await view(victim)).state)) {
        victim = (
          await call<{ id: string }>(
            'POST',
            '/api/jobs',
            program('export {};', STRANGERS, { options: { interactive: true } }),
          )
        ).id;
        await until('it is placed', () => stranger.holders.filter((h) => h.job === victim).length >= STRANGERS).catch(
          async (e: Error) => {
            throw new Error(
              `${e.message}: ${JSON.stringify(await view(victim))}, ${JSON.stringify(await call('GET', '/api/nodes'))}`,
            );
          },
        );
      }
      return stranger.holders.filter((h) => h.job === victim);
    };
    await goOn();

    // Data links: first messages, then everything that an attached task may get wrong.
    const first = (await holders())[0]!;
    await each(draw(firstMessage(first), 2500), async (m) => {
      attacker.inputs++;
      await attacker.talk('/data/cm/0', [m, LAST_WORD]);
    });
    await goOn();
    for (let round = 0; round < 20; round++) {
      const all = await holders();
      const list = draw(
        fc
          .integer({ min: 0, max: all.length - 1 })
          .chain((i) =>
            fc.tuple(
              fc.constant(all[i]!),
              fc.boolean(),
              fc.array(laterMessage(all[i]!, STRANGERS), { minLength: 3, maxLength: 3 }),
            ),
          ),
        (round + 1) * 50,
      ).slice(round * 50);
      await each(list, async ([h, resume, messages]) => {
        attacker.inputs += messages.length;
        await attacker.talk('/data/cm/0', [attach(h, { resume }), ...messages, LAST_WORD]);
      });
    }
    await goOn();
    // Stale: the capabilities of jobs that have ended by now, for the link and for /data, for their own job and for
    // another's.
    await call('POST', `/api/jobs/${victim}/cancel`).catch(() => undefined);
    await until('it is over', async () => ['failed', 'cancelled'].includes((await view(victim)).state));
    await each([...stranger.holders], async (h) => {
      attacker.inputs++;
      await attacker.talk('/data/cm/0', [attach(h), LAST_WORD]);
      for (const job of [h.job, id])
        for (const path of [
          `program/${job}`,
          `files/${job}/${'a'.repeat(64)}`,
          `images/${job}/0/${job}-0-0-1`,
          `images/${job}/0/${job}-0-0-1/pages?from=0&count=9`,
        ])
          expect(
            await attacker.rest({
              method: 'GET',
              path: `/data/${path}${path.includes('?') ? '&' : '?'}cap=${h.capability}`,
            }),
            path,
          ).toBe(job === id ? 403 : 404);
    });
    for (const path of ['/data/cm/99', '/data/cm/1'])
      expect(await attacker.talk(path, [attach(first), LAST_WORD])).not.toBe(1000);
    expect([1006, 1009]).toContain(await attacker.talk('/data/cm/0', [new Uint8Array(9 << 20)]));

    // Images.
    const whose = (await holders())[0]!;
    const images = draw(imageMessage(whose), 2000);
    await each(
      Array.from({ length: 250 }, (_, i) => images.slice(i * 8, i * 8 + 8)),
      async (messages) => {
        attacker.inputs += messages.length;
        await attacker.talk(`/data/image?cap=${whose.capability}`, [...messages, '{"type":"enough"}']);
      },
    );
    await goOn();

    // REST.
    const { paths } = await call<{ paths: Record<string, object> }>('GET', '/openapi.json');
    // A backup is a good request of many files; metrics and health take no input.
    const routes = Object.entries(paths)
      .flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => ({ method: verb.toUpperCase(), path })))
      .filter((r) => r.path !== '/api/backup' && r.path !== '/metrics');
    expect(routes.length).toBeGreaterThan(15);
    await each(draw(requests(routes, id), 1500), (r) => attacker.rest(r));
    await each(draw(badSubmission, 400), (body) =>
      attacker.rest({ method: 'POST', path: '/api/jobs', type: 'application/json', body }),
    );
    await each(draw(oddPaths, 500), (r) => attacker.rest(r));
    await each(
      draw(fc.tuple(requests(routes, id), fc.constantFrom('', 'wrong', 'x'.repeat(300), `${TOKEN}x`)), 200),
      ([r, token]) => attacker.rest(r, token),
    );
    await each(
      draw(
        fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 300 }),
          fc
            .constantFrom(
              'GET / HTTP/9\r\n\r\n',
              'POST /api/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
              `GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
              'GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nzzz',
            )
            .map((s) => Buffer.from(s)),
        ),
        200,
      ),
      (b) => attacker.raw(b),
    );
    await goOn();
    await each([...draw(badModule, 150), ...draw(badArchive, 200), bomb()], (r) => attacker.rest(r), 2);

    // Long polling: sessions that are none, and one that is and then says nonsense.
    await each(
      draw(
        fc.tuple(
          fc.constantFrom('GET', 'POST'),
          fc.constantFrom('0', '15', '99', 'x'),
          fc.string({ maxLength: 20 }),
          fc.string({ maxLength: 60 }),
        ),
        200,
      ),
      ([method, index, sid, body]) =>
        attacker.rest({
          method,
          path: `/data/poll/${index}/?EIO=4&transport=polling&sid=${encodeURIComponent(sid)}x`,
          ...(method === 'POST' ? { type: 'text/plain', body } : {}),
        }),
    );
    await each(draw(firstMessage(first), 50), async (m) => {
      attacker.inputs++;
      await new Promise<void>((resolve) => {
        const s = new PollingSocket(server.url, { path: '/data/poll/0/', transports: ['polling'], upgrade: false });
        s.on('open', () => s.send(typeof m === 'string' ? m : (m.slice().buffer as ArrayBuffer)));
        s.on('close', () => resolve());
        s.on('error', () => resolve());
      });
    });

    // Control and dashboard.
    const asked = draw(controlMessage, 1200);
    await each(
      Array.from({ length: 200 }, (_, i) => asked.slice(i * 6, i * 6 + 6)),
      async (messages) => {
        attacker.inputs += messages.length;
        const s = io(`${server.url}/node`, {
          transports: ['websocket'],
          forceNew: true,
          reconnection: false,
        });
        const gone = new Promise((resolve) => s.on('disconnect', resolve));
        s.on('connect', () => {
          for (const { event, body } of messages) s.emit(event, body, ...(event === 'hello' ? [() => undefined] : []));
          s.emit('heartbeat', 'enough');
        });
        await gone;
      },
    );
    const dashboard = io(`${server.url}/dashboard`, {
      transports: ['websocket'],
      forceNew: true,
      auth: { token: TOKEN },
    });
    later(async () => dashboard.disconnect());
    await each(draw(controlMessage, 300), async ({ body }) => {
      attacker.inputs++;
      const r = (await dashboard.emitWithAck('watch', body)) as { ok?: true; error?: { code: string } };
      if (r.error) expect(Object.keys(ERRORS)).toContain(r.error.code);
    });
    dashboard.disconnect();

    expect(attacker.inputs).toBeGreaterThanOrEqual(10_000);
    for (const code of [
      'BAD_FRAME',
      'FORBIDDEN',
      'BAD_REQUEST',
      'NOT_FOUND',
      'UNAUTHORIZED',
      'BAD_ARCHIVE',
      'BAD_MODULE',
      'TOO_LARGE',
      'UNKNOWN_JOB',
      'FORBIDDEN_FLAG',
    ])
      expect([...attacker.codes.keys()]).toContain(code);

    // What is left of it.
    expect(await call<object>('GET', '/healthz')).toEqual({ status: 'ok' });
    await until(
      'only the healthy node is linked',
      async () => (await metric('mayfly_data_links')) === 1 && (await metric('mayfly_image_links')) <= 1,
    );
    await until(
      'two nodes are here',
      async () => (await call<{ state: string }[]>('GET', '/api/nodes')).filter((n) => n.state === 'here').length === 2,
    );
    // Nothing that grows with the number of inputs: 100 KB for each would be 1 GB.
    expect(await metric('process_resident_memory_bytes')).toBeLessThan(800 << 20);
    expect(await metric('nodejs_heap_size_used_bytes')).toBeLessThan(400 << 20);
    await goOn('end');
    await until('the healthy job is done', async () => (await view(id)).state === 'done');
    for (const task of [0, 1])
      expect(await call<string>('GET', `/api/jobs/${id}/tasks/${task}/stdout`)).toBe(answer(lines));
    expect((await view(id)).tasks.map((t) => t.incarnation)).toEqual([0, 0]);
    // The log of level 'error' holds defects only; an unhandled rejection would have ended the process.
    expect(
      server
        .output()
        .split('\n')
        .filter((l) => l.startsWith('{')),
    ).toEqual([]);
    expect(await server.stop()).toBe(0);
  });
});
