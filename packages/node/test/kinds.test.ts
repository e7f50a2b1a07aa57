/**
 * A headless node runs programs of WebAssembly only, unless it was started to run TypeScript as well. The server's word
 * decides nothing: here are a real one, which asks in vain, and one that lies.
 */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Server } from 'socket.io';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hashBytes } from '@mayfly/checkpoint';
import type { Assignment, Hello, TaskReport } from '@mayfly/wire';
import { protocols } from '@mayfly/protocols';
import type { FromRank } from '../src/messages.ts';
import { startHeadlessNode, type HeadlessNode } from '../src/headless/index.ts';
import { Bench } from './harness.ts';

describe('on a real server', () => {
  const bench = new Bench();
  beforeAll(() => bench.start());
  afterAll(() => bench.close());

  it('a job in TypeScript waits, says for what, and runs as soon as such a node is there', async () => {
    bench.nodes.push(await startHeadlessNode({ server: bench.server.url, slots: 2, name: 'wasm only' }));
    const id = await bench.submit(`import { COMM_WORLD as comm } from 'mayfly'; console.log('rank', comm.rank);`, 2);
    const waits = await bench.view(id);
    expect(waits).toMatchObject({ state: 'waiting', faults: [] });
    expect(waits.reason).toBe(
      'needs 2 slots for TypeScript; none available; 2 more slots are free, but on volunteers that do not ' +
        'run TypeScript: open the volunteer page in a browser, or start "mayfly volunteer" with ' +
        '--allow-typescript',
    );
    await bench.node(2, 'both');
    const { job, stdout } = await bench.ended(id);
    expect(job).toMatchObject({ state: 'done', faults: [] });
    expect(stdout).toEqual(['rank 0\n', 'rank 1\n']);
  });
});

/** As much of a server as a node needs to be given a rank, and a program that it serves under whatever name. */
class Liar {
  readonly hellos: Hello[] = [];
  readonly reports: TaskReport[] = [];
  readonly #http: HttpServer;
  readonly #io: Server;
  #node: { emit(event: string, message: unknown): void } | undefined;
  #wake: () => void = () => undefined;
  program = '';

  constructor() {
    this.#http = createServer((q, r) => {
      if (q.url?.startsWith('/data/program/')) r.end(this.program);
      else r.writeHead(404).end();
    });
    this.#io = new Server(this.#http);
    this.#io.of('/node').on('connection', (socket) => {
      this.#node = socket;
      socket.on('hello', (hello: Hello, ack: (a: unknown) => void) => {
        this.hellos.push(hello);
        ack({ node: 'a-node-of-the-liar', secret: 's', heartbeatMs: 1000, drop: [] });
      });
      socket.on('report', (r: TaskReport) => {
        this.reports.push(r);
        this.#wake();
      });
      socket.on('goodbye', (_m: unknown, ack?: () => void) => ack?.());
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Has a rank run there, and waits for what the node says of it. */
  async assign(task: number, language: Assignment['program']['language'], program: string): Promise<TaskReport> {
    this.program = program;
    const heard = new Promise<void>((resolve) => (this.#wake = resolve));
    const hash = await hashBytes(Buffer.from(program));
    this.#node!.emit('assign', {
      job: 'job-of-the-liar',
      task,
      incarnation: 0,
      size: 4,
      capability: 'c',
      program: { language, hash, entry: 'main' },
      args: [],
      files: [],
      protocol: 'pessimistic',
      channelMemories: ['/data/cm/0'],
      seed: 1,
      serverTime: Date.now(),
      checkpointMs: 1000,
      graceMs: 1000,
      position: protocols.pessimistic.recovery.start,
      limits: { memoryBytes: 1 << 28, fileBytes: 1 << 20 },
    });
    await heard;
    return this.reports.at(-1)!;
  }

  async close(): Promise<void> {
    await this.#io.close();
    this.#http.closeAllConnections();
  }
}

describe('a server that lies', () => {
  const SCRIPT = `console.log('a script ran')`;
  let liar: Liar;
  let node: HeadlessNode | undefined;
  beforeAll(() => (liar = new Liar()));
  afterEach(async () => {
    await node?.close(0);
    node = undefined;
  });
  afterAll(() => liar.close());

  it('gets a refusal with a code, whatever it calls a script', async () => {
    node = await startHeadlessNode({ server: await liar.start(), slots: 4, name: 'careful' });
    expect(liar.hellos.at(-1)).toMatchObject({ runs: ['wasm'] });
    expect(await liar.assign(0, 'typescript', SCRIPT)).toMatchObject({
      task: 0,
      event: 'refused',
      error: { code: 'PROGRAM_REFUSED' },
    });
    for (const [n, language] of (['wasm', 'c', 'c++', 'no language' as 'c'] as const).entries())
      expect(await liar.assign(1 + n, language, SCRIPT)).toMatchObject({
        task: 1 + n,
        event: 'refused',
        error: { code: 'BAD_MODULE', message: expect.stringContaining('not a WebAssembly module') as string },
      });
    expect(liar.reports.filter((r) => r.event !== 'refused')).toEqual([]);
    await expect.poll(() => node!.snapshot().ranks).toEqual([]);
  });
});

describe('the thread of a rank', () => {
  /** What becomes of a thread that is handed a script. */
  const handed = async (argv: string[]): Promise<string> => {
    const worker = new Worker(fileURLToPath(new URL('../dist/headless/rank.cjs', import.meta.url)), {
      argv,
      env: {},
      stderr: true,
    });
    const { port1, port2 } = new MessageChannel();
    const ended = new Promise<string>((resolve) => {
      worker.once('message', (m: FromRank) => resolve(m.why));
      worker.once('error', (e) => resolve(e.message));
      worker.once('exit', (code) => resolve(`exit ${code}`));
    });
    worker.postMessage({ type: 'init', memory: new SharedArrayBuffer(64), port: port2 }, [port2]);
    port1.postMessage({ type: 'run', program: 'a script', assignment: { args: [] } });
    const how = await ended;
    port1.close();
    await worker.terminate();
    return how;
  };

  it('has no way to run one without permission', async () => {
    expect(await handed([])).toBe('this volunteer runs WebAssembly programs only, and was handed a script');
    // With it, this one comes further, to its broken memory.
    expect(await handed(['--allow-typescript'])).not.toContain('WebAssembly programs only');
  });
});
