/**
 * A real server and real nodes for the tests of this package. A test that needs a fault in the middle of a program
 * holds the program there: it ends with {@link HOLD}, which waits for a line of standard input that the test gives once
 * the fault is done.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type MayflyServer, type ServerOptions } from '@mayfly/server';
import { patient, until } from '@mayfly/testing';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import type { JobOptions, JobView } from '@mayfly/wire';
import { startHeadlessNode, type HeadlessNode } from '../src/headless/index.ts';

export const TOKEN = 'token-of-the-node-tests';
export const log = process.env.MAYFLY_LOG !== undefined;

/** For the server: a closed socket means loss soon; silence, which a busy machine produces by itself, does not. */
export const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };
/** Neither does a ping without an answer, which closes a socket. */
const PING_MS = 120_000;

/**
 * For a program that imports `comm` and `stdin`: it waits here, all ranks of it, until {@link Bench.input} gives a
 * line. Submit it with `interactive`.
 */
export const HOLD = `if (comm.rank === 0) stdin.readLine(); comm.barrier();`;

/** A network that breaks WebSockets: HTTP goes through, upgrades do not. */
export async function deafProxy(
  target: string,
): Promise<{ url: string; upgrades: () => number; close(): Promise<void> }> {
  const to = new URL(target);
  let refused = 0;
  const server = createHttpServer((q, r) => {
    const out = request(
      { host: to.hostname, port: to.port, path: q.url, method: q.method, headers: q.headers },
      (a) => {
        r.writeHead(a.statusCode ?? 502, a.headers);
        a.pipe(r);
      },
    );
    out.on('error', () => r.destroy());
    r.on('close', () => out.destroy());
    q.pipe(out);
  });
  server.on('upgrade', (_q, socket) => {
    refused++;
    socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upgrades: () => refused,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const messagesOf = (t: JobView['tasks'][number]): number =>
  t.messagesIn + t.messagesOut + (t.localIn ?? 0) + (t.localOut ?? 0);

export class Bench {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'mayfly-node-'));
  server!: MayflyServer;
  nodes: HeadlessNode[] = [];
  readonly notes: string[] = [];

  constructor(private readonly options: Partial<ServerOptions> = {}) {}

  async start(port = 0, dispatcher: ServerOptions['dispatcher'] = PATIENCE): Promise<void> {
    this.server = await createServer({
      dataDir: this.dataDir,
      port,
      token: TOKEN,
      log: log ? 'debug' : 'silent',
      pingMs: PING_MS,
      dispatcher,
      ...sharedCompiler(),
      ...this.options,
    });
  }

  async node(slots = 2, name = `node ${this.nodes.length + 1}`): Promise<HeadlessNode> {
    const node = await startHeadlessNode({
      server: this.server.url,
      allowTypeScript: true,
      slots,
      name,
      onNote: (text) => {
        this.notes.push(`${name}: ${text}`);
        if (log) console.log(`[${name}] ${text}`);
      },
    });
    this.nodes.push(node);
    return node;
  }

  /** After a test: its nodes go, and a job that it left open does not take the next test's nodes. */
  async clear(patience?: number): Promise<void> {
    await Promise.all(this.nodes.splice(0).map((n) => n.close(patience)));
    const jobs = (await (await this.api('jobs')).json()) as JobView[];
    const open = jobs.filter((j) => j.endedAt === undefined);
    await Promise.all(open.map(({ id }) => this.api(`jobs/${id}/cancel`, { method: 'POST' })));
    this.notes.length = 0;
  }

  async api(path: string, init: { method?: string; body?: string } = {}): Promise<Response> {
    const answer = await fetch(`${this.server.url}/api/${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  async submit(
    source: string,
    size: number,
    more: { args?: string[]; files?: Record<string, string>; stdin?: string; options?: JobOptions } = {},
  ): Promise<string> {
    const body = {
      program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': source } },
      size,
      args: more.args ?? [],
      files: Object.fromEntries(
        Object.entries(more.files ?? {}).map(([k, v]) => [k, Buffer.from(v).toString('base64')]),
      ),
      ...(more.stdin === undefined ? {} : { stdin: Buffer.from(more.stdin).toString('base64') }),
      options: { timeLimitMs: patient(600_000), ...more.options },
    };
    return ((await (await this.api('jobs', { method: 'POST', body: JSON.stringify(body) })).json()) as { id: string })
      .id;
  }

  /** A line of standard input for rank 0. */
  async input(id: string, line = ''): Promise<void> {
    const answer = await fetch(`${this.server.url}/api/jobs/${id}/stdin`, {
      method: 'POST',
      body: `${line}\n`,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
    });
    if (!answer.ok) throw new Error(`stdin: ${answer.status} ${await answer.text()}`);
  }

  async view(id: string): Promise<JobView> {
    return (await (await this.api(`jobs/${id}`)).json()) as JobView;
  }

  /** Until the condition holds. Messages, images and new incarnations are progress. */
  async until(id: string, holds: (job: JobView) => boolean): Promise<JobView> {
    let job = await this.view(id);
    await until(
      () =>
        `the job is ${job.state}: ${job.reason ?? ''} ${JSON.stringify(job.error ?? null)} ${JSON.stringify(job.tasks)}\n${this.notes.join('\n')}`,
      async () => holds((job = await this.view(id))),
      { progress: () => JSON.stringify(job.tasks.map((t) => [t.state, t.incarnation, messagesOf(t), t.images])) },
    );
    return job;
  }

  /** Until every rank has sent or received so many more messages, or rank 0 waits for a line of input. */
  async works(id: string, messages = 40): Promise<void> {
    const { tasks } = await this.view(id);
    await this.until(
      id,
      (j) =>
        j.endedAt !== undefined ||
        j.tasks[0]?.activity?.call === 'stdin' ||
        j.tasks.every((t, i) => messagesOf(t) >= messagesOf(tasks[i]!) + messages),
    );
  }

  /** Until `count` ranks have been lost and every one of them is again where it was. */
  recovered(id: string, count: number): Promise<JobView> {
    return this.until(
      id,
      (j) =>
        j.endedAt !== undefined ||
        (j.faults.length >= count && j.faults.every((f) => f.recoveredAfterMs !== undefined)),
    );
  }

  async ended(id: string): Promise<{ job: JobView; stdout: string[]; stderr: string[] }> {
    const job = await this.until(id, (j) => ['done', 'failed', 'cancelled'].includes(j.state));
    const read = (stream: string): Promise<string[]> =>
      Promise.all(job.tasks.map(async (t) => (await this.api(`jobs/${id}/tasks/${t.task}/${stream}?from=0`)).text()));
    return { job, stdout: await read('stdout'), stderr: await read('stderr') };
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((n) => n.close().catch(() => undefined)));
    await this.server.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
