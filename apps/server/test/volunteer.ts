/**
 * A volunteer for tests of the server: real control socket, real data sockets, the real comm core and endpoint; its
 * "programs" are async functions of the test in place of rank workers. Speaks frames as packages/node does, and can
 * misbehave.
 */
import { Comm, protocols, type CommEffect, type Endpoint, type EndpointStart } from '@mayfly/protocols';
import {
  CONTROL_VERSION,
  Flag,
  WORLD,
  WorldMode,
  encodeFrame,
  readFrames,
  taskId,
  type Assignment,
  type ErrorBody,
  type Hold,
  type JobId,
  type TaskId,
  type Welcome,
} from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { later } from './harness.ts';

const CHUNK = 64 * 1024;
const text = new TextEncoder();

export interface TestRank {
  readonly task: TaskId;
  readonly size: number;
  readonly incarnation: number;
  readonly args: readonly string[];
  send(dst: number, body: Uint8Array | string, tag?: number): Promise<void>;
  /** Next arrival of the world (standard input) or of a rank, in arrival order; others are dropped. */
  recv(world?: boolean): Promise<{ src: number; tag: number; mode: number; body: Uint8Array; text: string }>;
  print(line: string): void;
  stderr(line: string): void;
  file(path: string, offset: number, bytes: Uint8Array): void;
  world(mode: number, body: Uint8Array): void;
  exit(code?: number, abort?: { code: string; message: string; stack?: string }): void;
}
export type TestProgram = (rank: TestRank) => Promise<void>;

class Gone extends Error {}

interface Running {
  a: Assignment;
  endpoint: Endpoint | undefined;
  started: boolean;
  finished: boolean;
  stopped: boolean;
  parts: Uint8Array[];
  arrivals: { number: number; src: number; tag: number; mode: number; body: Uint8Array }[];
  wake: (() => void) | undefined;
  /** Waits for standard input. */
  stdin: boolean;
  /** ms at work and waiting, up to the last heartbeat. */
  spent: [number, number];
}

interface JobPart {
  comm: Comm;
  urls: string[];
  sockets: (WebSocket | undefined)[];
  ranks: Map<TaskId, Running>;
}

export class Volunteer {
  readonly control: Socket;
  readonly jobs = new Map<JobId, JobPart>();
  readonly refused: ErrorBody[] = [];
  readonly revoked: string[] = [];
  readonly checkpoints: TaskId[] = [];
  readonly assigned: Assignment[] = [];
  welcome: Welcome | { error: ErrorBody } | undefined;
  alive = true;
  readonly #url: string;
  readonly #program: TestProgram;
  readonly #session = `session-${Math.floor(Math.random() * 1e9)}`;
  #beat: NodeJS.Timeout | undefined;
  #beatAt = performance.now();

  constructor(
    url: string,
    slots: number,
    program: TestProgram,
    more: { name?: string; room?: string; version?: number } = {},
  ) {
    this.#url = url;
    this.#program = program;
    this.control = io(`${url}/node`, {
      transports: ['websocket'],
      reconnectionDelay: 50,
      reconnectionDelayMax: 200,
      forceNew: true,
      rejectUnauthorized: false,
    });
    this.control.on('connect', () => {
      const known =
        this.welcome && 'node' in this.welcome ? { node: this.welcome.node, secret: this.welcome.secret } : {};
      const holds: Hold[] = [...this.jobs.values()].flatMap((j) =>
        [...j.ranks.values()]
          .filter((r) => !r.finished && !r.stopped)
          .map((r) => ({ job: r.a.job, task: r.a.task, incarnation: r.a.incarnation })),
      );
      this.control.emit(
        'hello',
        {
          version: more.version ?? CONTROL_VERSION,
          name: more.name ?? 'test',
          engine: 'vitest',
          slots,
          session: this.#session,
          holds,
          images: [],
          ...known,
          ...(more.room === undefined ? {} : { room: more.room }),
        },
        (w: Welcome | { error: ErrorBody }) => {
          this.welcome = w;
          if ('drop' in w) for (const h of w.drop) this.#stop(h.job, h.task);
        },
      );
    });
    this.control.on('assign', (a: Assignment) => this.#assign(a));
    this.control.on('revoke', (r: { job: JobId; task: TaskId; incarnation: number; code: string }) => {
      this.revoked.push(r.code);
      if (this.jobs.get(r.job)?.ranks.get(r.task)?.a.incarnation === r.incarnation) this.#stop(r.job, r.task);
    });
    this.control.on('checkpoint', (c: { task: TaskId }) => this.checkpoints.push(c.task));
    this.#beat = setInterval(() => this.#heartbeat(), 200);
    later(async () => this.kill());
  }

  #heartbeat(): void {
    const passed = performance.now() - this.#beatAt;
    this.#beatAt += passed;
    for (const j of this.jobs.values())
      for (const r of j.ranks.values()) if (r.started) r.spent[r.wake ? 1 : 0] += passed;
    if (!this.control.connected || !this.welcome || 'error' in this.welcome) return;
    const tasks = [...this.jobs.values()].flatMap((j) =>
      [...j.ranks.values()]
        .filter((r) => !r.finished && !r.stopped)
        .map((r) => ({
          job: r.a.job,
          task: r.a.task,
          incarnation: r.a.incarnation,
          started: r.started,
          spent: r.spent,
          activity: {
            state: r.wake ? 'waiting' : 'computing',
            ...(r.wake ? (r.stdin ? { call: 'stdin', peer: WORLD } : { call: 'MPI_Recv' }) : {}),
            arrivals: r.endpoint?.consumed ?? 0,
            sends: (r.endpoint?.sent() ?? []).reduce((n, [, c]) => n + c, 0),
          },
        })),
    );
    this.control.emit('heartbeat', { tasks });
  }

  #assign(a: Assignment): void {
    this.assigned.push(a);
    let job = this.jobs.get(a.job);
    if (!job) {
      job = {
        comm: new Comm({
          size: a.size,
          channelMemories: a.channelMemories.length,
          policy: protocols[a.protocol].commd,
        }),
        urls: a.channelMemories,
        sockets: [],
        ranks: new Map(),
      };
      this.jobs.set(a.job, job);
      for (let cm = 0; cm < a.channelMemories.length; cm++) this.#connect(job, cm);
    }
    const old = job.ranks.get(a.task);
    if (old) this.#stop(a.job, a.task);
    job.ranks.set(a.task, {
      a,
      endpoint: undefined,
      started: false,
      finished: false,
      stopped: false,
      parts: [],
      arrivals: [],
      wake: undefined,
      stdin: false,
      spent: [0, 0],
    });
    this.#perform(
      job,
      job.comm.step({
        type: 'start',
        task: a.task,
        incarnation: a.incarnation,
        capability: a.capability,
        nonce: `nonce-${Math.floor(Math.random() * 1e12)}`,
        position: a.position,
      }),
    );
  }

  #connect(job: JobPart, cm: number): void {
    if (!this.alive) return;
    const ws = new WebSocket(this.#url.replace(/^http/, 'ws') + job.urls[cm]!, {
      perMessageDeflate: false,
      rejectUnauthorized: false,
    });
    ws.binaryType = 'nodebuffer';
    ws.on('open', () => {
      job.sockets[cm] = ws;
      this.#perform(job, job.comm.step({ type: 'connected', cm }));
    });
    ws.on('message', (data: Buffer) => {
      if (job.sockets[cm] === ws)
        this.#perform(
          job,
          job.comm.step({ type: 'received', cm, bytes: new Uint8Array(data.buffer, data.byteOffset, data.length) }),
        );
    });
    ws.on('error', () => undefined);
    ws.on('close', () => {
      if (job.sockets[cm] === ws) {
        job.sockets[cm] = undefined;
        this.#perform(job, job.comm.step({ type: 'disconnected', cm }));
      }
      if (this.alive) setTimeout(() => this.#connect(job, cm), 50);
    });
  }

  #perform(job: JobPart, effects: CommEffect[]): void {
    for (const e of effects) {
      if (e.type === 'send') job.sockets[e.cm]?.send(e.bytes);
      else if (e.type === 'deliver') this.#deliver(job.ranks.get(e.task), e.bytes);
      else if (e.type === 'ready') this.#begin(job, job.ranks.get(e.task)!, e.start);
      else if (e.type === 'refused') {
        this.refused.push(e.error);
        const r = job.ranks.get(e.task);
        if (r) {
          r.stopped = true;
          r.wake?.();
          this.control.emit('report', {
            job: r.a.job,
            task: e.task,
            incarnation: r.a.incarnation,
            event: 'refused',
            error: e.error,
          });
        }
      } else if (e.type === 'finished') {
        const r = job.ranks.get(e.task);
        if (r) r.finished = true;
      } else if (e.type === 'drop') job.sockets[e.cm]?.close();
    }
  }

  #deliver(r: Running | undefined, bytes: Uint8Array): void {
    if (!r) return;
    for (const f of readFrames(bytes)) {
      r.parts.push(f.body.slice());
      if ((f.header.flags & Flag.LAST) === 0) continue;
      r.arrivals.push({
        number: f.header.arrival,
        src: f.header.src,
        tag: f.header.tag,
        mode: f.header.mode,
        body: new Uint8Array(Buffer.concat(r.parts)),
      });
      r.parts = [];
    }
    r.wake?.();
  }

  #begin(job: JobPart, r: Running, start: EndpointStart): void {
    const { a } = r;
    const endpoint = protocols[a.protocol].rank(a.task, a.size, a.position, start);
    r.endpoint = endpoint;
    r.started = true;
    this.control.emit('report', { job: a.job, task: a.task, incarnation: a.incarnation, event: 'started' });
    const up = (dst: TaskId, mode: number, tag: number, body: Uint8Array): void => {
      if (r.stopped || !this.alive) throw new Gone();
      const n = endpoint.beginSend(dst);
      if (n === 0) return;
      let offset = 0;
      do {
        const part = body.subarray(offset, offset + CHUNK);
        const block = endpoint.block();
        const header = endpoint.dataHeader(dst, n, mode, 0, tag, 0, body.length, offset, part.length, block);
        const frame = encodeFrame({ ...header }, part, block);
        endpoint.framed();
        this.#perform(job, job.comm.step({ type: 'ring', task: a.task, bytes: frame }));
        offset += part.length;
      } while (offset < body.length);
    };
    const rank: TestRank = {
      task: a.task,
      size: a.size,
      incarnation: a.incarnation,
      args: a.args,
      send: async (dst, body, tag = 0) => {
        up(taskId(dst), 0, tag, typeof body === 'string' ? text.encode(body) : body);
        await new Promise((resolve) => setImmediate(resolve));
      },
      recv: async (world = false) => {
        r.stdin = world;
        for (;;) {
          while (r.arrivals.length === 0) {
            if (r.stopped || !this.alive) throw new Gone();
            await new Promise<void>((resolve) => (r.wake = resolve));
            r.wake = undefined;
          }
          if (r.stopped || !this.alive) throw new Gone();
          const m = r.arrivals.shift()!;
          endpoint.consume(m.number, taskId(m.src));
          this.#perform(
            job,
            job.comm.step({ type: 'consumed', task: a.task, arrivals: m.number, envelopeOnly: false }),
          );
          if ((m.mode === WorldMode.STDIN) === world) return { ...m, text: new TextDecoder().decode(m.body) };
        }
      },
      print: (line) => up(WORLD, WorldMode.STDOUT, 0, text.encode(line + '\n')),
      stderr: (line) => up(WORLD, WorldMode.STDERR, 0, text.encode(line + '\n')),
      file: (path, offset, bytes) => {
        const name = text.encode(path);
        const body = new Uint8Array(10 + name.length + bytes.length);
        const v = new DataView(body.buffer);
        v.setUint16(0, name.length, true);
        body.set(name, 2);
        v.setUint32(2 + name.length, offset >>> 0, true);
        v.setUint32(6 + name.length, Math.floor(offset / 4294967296), true);
        body.set(bytes, 10 + name.length);
        up(WORLD, WorldMode.FILE, 0, body);
      },
      world: (mode, body) => up(WORLD, mode, 0, body),
      exit: (code = 0, abort) =>
        up(WORLD, WorldMode.EXIT, 0, text.encode(JSON.stringify({ code, ...(abort ? { abort } : {}) }))),
    };
    void this.#program(rank).catch((error: unknown) => {
      if (!(error instanceof Gone))
        this.control.emit('report', {
          job: a.job,
          task: a.task,
          incarnation: a.incarnation,
          event: 'crashed',
          error: { code: 'INTERNAL', message: String(error) },
        });
    });
  }

  #stop(jobId: JobId, task: TaskId): void {
    const job = this.jobs.get(jobId);
    const r = job?.ranks.get(task);
    if (!job || !r || r.stopped) return;
    r.stopped = true;
    r.wake?.();
    this.#perform(job, job.comm.step({ type: 'stop', task }));
  }

  /** The tab is gone: no goodbye, every socket torn. */
  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    clearInterval(this.#beat);
    this.control.io.engine?.close();
    this.control.disconnect();
    for (const job of this.jobs.values()) {
      for (const r of job.ranks.values()) r.wake?.();
      for (const ws of job.sockets) ws?.terminate();
    }
  }

  /** Tears the data sockets; they come back by themselves. */
  breakData(): void {
    for (const job of this.jobs.values()) for (const ws of job.sockets) ws?.terminate();
  }

  goodbye(): Promise<void> {
    return new Promise((resolve) => this.control.emit('goodbye', { reason: 'test' }, () => resolve()));
  }
}
