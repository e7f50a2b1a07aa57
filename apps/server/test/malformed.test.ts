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
import { CONTROL_VERSION, ERRORS, Kind, readFrames, type Assignment, type JobView } from '@mayfly/wire';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { freshDir, later, program, TOKEN, until } from './harness.ts';
import {
  attach,
  badArchive,
  badModule,
  badSubmission,
  bomb,
  controlMessage,
  firstMessage,
  imageMessage,
  LAST_WORD,
  laterMessage,
  oddPaths,
  requests,
  type Holder,
  type Request,
} from './malformed-inputs.ts';
import { startProcess, type ServerProcess } from './server-process.ts';

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

class Attacker {
  inputs = 0;
  readonly codes = new Map<string, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 12 });
  readonly #url: URL;

  constructor(readonly server: ServerProcess) {
    this.#url = new URL(server.url);
    later(async () => this.#agent.destroy());
  }

  #known(code: unknown): void {
    if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code))
      throw new Error(`'${String(code)}' is no code of the registry`);
    if (code === 'INTERNAL') throw new Error('INTERNAL: a defect of the server');
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  #http(r: Request, token: string, fresh: boolean): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(r.type === undefined ? {} : { 'content-type': r.type }),
        ...(r.body === undefined ? {} : { 'content-length': Buffer.byteLength(r.body) }),
      };
      const out = request(
        {
          host: this.#url.hostname,
          port: this.#url.port,
          method: r.method,
          path: r.path,
          headers,
          agent: fresh ? false : this.#agent,
        },
        (res) => {
          const parts: Buffer[] = [];
          res.on('data', (d: Buffer) => parts.push(d));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
          res.on('error', reject);
        },
      );
      out.on('error', reject);
      out.end(r.body);
    });
  }

  /** One request. An answer of 400 and more must say why, with a code whose status it has. */
  async rest(r: Request, token = TOKEN): Promise<number> {
    this.inputs++;
    // A connection that was kept may close under the request: then once more on one of its own.
    const { status, text } = await this.#http(r, token, false).catch(() => this.#http(r, token, true));
    if (status < 400) return status;
    let code: unknown;
    try {
      code = (JSON.parse(text) as { code?: unknown }).code;
    } catch {
      throw new Error(`${status} without a body of JSON: ${text.slice(0, 200)}`);
    }
    // socket.io and engine.io answer at their own addresses, in their own words.
    if (!/^\/(socket\.io|data\/poll)\//.test(r.path)) this.#known(code);
    return status;
  }

  /** Bytes that are no HTTP. The server may answer, and closes. */
  raw(bytes: Uint8Array): Promise<void> {
    this.inputs++;
    return new Promise((resolve, reject) => {
      const s = connect({ host: this.#url.hostname, port: Number(this.#url.port) });
      let text = '';
      s.on('connect', () => s.end(bytes));
      s.on('data', (d) => (text += d.toString('latin1')));
      s.on('error', () => undefined);
      s.on('close', () => {
        try {
          if (/^HTTP\/1\.1 4/.test(text))
            this.#known((JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { code: unknown }).code);
          resolve();
        } catch (e) {
          reject(new Error(`${(e as Error).message} in ${text.slice(0, 300)}`));
        }
      });
    });
  }

  /**
   * Opens a data or image socket, says all of it, and resolves when the server has closed: each conversation ends with
   * what nobody takes.
   */
  talk(path: string, messages: readonly (Uint8Array | string)[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(this.server.url.replace('http', 'ws') + path, { perMessageDeflate: false });
      let wrong: Error | undefined;
      const check = (code: unknown): void => {
        try {
          this.#known(code);
        } catch (e) {
          wrong = e as Error;
        }
      };
      ws.on('open', () => messages.forEach((m) => ws.send(m)));
      ws.on('message', (d: Buffer, binary: boolean) => {
        if (binary) {
          for (const f of readFrames(d))
            if (f.header.kind === Kind.REFUSED)
              check((JSON.parse(Buffer.from(f.body).toString()) as { code: unknown }).code);
        } else {
          const m = JSON.parse(d.toString()) as { type: string; error?: { code: unknown } };
          if (m.type === 'refused') check(m.error?.code);
        }
      });
      ws.on('error', () => undefined);
      ws.on('close', (code, reason) => {
        const said = /^([A-Z_]+):/.exec(reason.toString())?.[1];
        if (said !== undefined) check(said);
        if (wrong) reject(wrong);
        else resolve(code);
      });
    });
  }
}

/**
 * A node that takes ranks and never runs them: its incarnations are real, and what is said in their name is what the
 * test draws.
 */
class Stranger {
  readonly socket: Socket;
  readonly holders: Holder[] = [];
  readonly #held = new Set<string>();
  here = false;

  constructor(url: string) {
    this.socket = io(`${url}/node`, { transports: ['websocket'], forceNew: true, timeout: 120_000 });
    this.socket.on('connect', () =>
      this.socket.emit(
        'hello',
        { version: CONTROL_VERSION, name: 'stranger', engine: 'none', slots: 64, holds: [], images: [] },
        () => (this.here = true),
      ),
    );
    this.socket.on('assign', (a: Assignment) => {
      this.#held.add(`${a.job}.${a.task}`);
      this.holders.push({
        capability: a.capability,
        job: a.job,
        task: a.task,
        incarnation: a.incarnation,
        nonce: `nonce-${this.holders.length}-drawn`,
      });
    });
    this.socket.on('revoke', (r: { job: string; task: number }) => void this.#held.delete(`${r.job}.${r.task}`));
    // Who says nothing is suspect, and gets no new rank.
    const beat = setInterval(() => {
      const tasks = this.holders
        .filter((h) => this.#held.has(`${h.job}.${h.task}`))
        .map(({ job, task, incarnation }) => ({
          job,
          task,
          incarnation,
          started: false,
          activity: { state: 'computing', arrivals: 0, sends: 0 },
        }));
      if (this.here) this.socket.emit('heartbeat', { tasks });
    }, 300);
    later(async () => {
      clearInterval(beat);
      this.socket.disconnect();
    });
  }
}

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
        await until(
          'it is placed',
          () => stranger.holders.filter((h) => h.job === victim).length >= STRANGERS,
          120_000,
        ).catch(async (e: Error) => {
          throw new Error(
            `${e.message}: ${JSON.stringify(await view(victim))}, ${JSON.stringify(await call('GET', '/api/nodes'))}`,
          );
        });
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
          `pages/${job}/${'a'.repeat(64)}`,
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
    expect(await attacker.talk('/data/cm/0', [new Uint8Array(9 << 20)])).toBe(1009);

    // Images.
    const whose = (await holders())[0]!;
    const images = draw(imageMessage(whose), 2000);
    await each(
      Array.from({ length: 250 }, (_, i) => images.slice(i * 8, i * 8 + 8)),
      async (messages) => {
        attacker.inputs += messages.length;
        await attacker.talk('/data/image', [...messages, '{"type":"enough"}']);
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
          timeout: 120_000,
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
      timeout: 120_000,
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
