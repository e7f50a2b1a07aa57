/**
 * A node whose ranks follow a script, for benchmarks of what watches a job: real control and data sockets, the real
 * comm core and endpoint, real heartbeats with what the ranks spend their time on; no workers and no program. A rank
 * sends when it is told to and consumes what comes.
 */
import { Comm, protocols, type CommEffect, type Endpoint, type EndpointStart } from '@mayfly/protocols';
import {
  CONTROL_VERSION,
  Flag,
  SPENT,
  encodeFrame,
  readFrames,
  type Assignment,
  type Heartbeat,
  taskId,
  type TaskId,
} from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';

interface Rank {
  a: Assignment;
  endpoint: Endpoint | undefined;
  spent: number[];
  /** What it does until `until`. */
  doing: number;
  until: number;
  began: number;
}

const BODY = new Uint8Array(256);

export class ScriptedNode {
  readonly #control: Socket;
  readonly #url: string;
  readonly #ranks = new Map<TaskId, Rank>();
  #comm: Comm | undefined;
  readonly #sockets: (WebSocket | undefined)[] = [];
  readonly #beat: NodeJS.Timeout;
  readonly #random: () => number;
  #accounted = performance.now();
  #closed = false;
  sent = 0;

  constructor(url: string, slots: number, name: string, random: () => number) {
    this.#url = url;
    this.#random = random;
    this.#control = io(`${url}/node`, { transports: ['websocket'], forceNew: true });
    this.#control.on('connect', () =>
      this.#control.emit(
        'hello',
        { version: CONTROL_VERSION, name, engine: 'scripted', slots, session: name, holds: [], images: [] },
        () => undefined,
      ),
    );
    this.#control.on('assign', (a: Assignment) => this.#assign(a));
    this.#control.on('revoke', (r: { task: TaskId }) => this.#stop(r.task));
    this.#beat = setInterval(() => this.#heartbeat(), 1000);
  }

  get ranks(): TaskId[] {
    return [...this.#ranks].filter(([, r]) => r.endpoint).map(([t]) => t);
  }

  /** One message of 256 bytes. */
  send(src: TaskId, dst: TaskId, tag: number): void {
    const endpoint = this.#ranks.get(src)?.endpoint;
    if (!endpoint || !this.#comm) return;
    const n = endpoint.beginSend(dst);
    if (n === 0) return;
    const block = endpoint.block();
    const header = endpoint.dataHeader(dst, n, 0, 0, tag, 0, BODY.length, 0, BODY.length, block);
    const bytes = encodeFrame({ ...header }, BODY, block);
    endpoint.framed();
    this.sent++;
    this.#perform(this.#comm.step({ type: 'ring', task: src, bytes }));
  }

  /** The rank's worker dies: the server gives the task out again. */
  crash(task: TaskId): void {
    const r = this.#ranks.get(task);
    if (!r) return;
    this.#stop(task);
    this.#control.emit('report', {
      job: r.a.job,
      task,
      incarnation: r.a.incarnation,
      event: 'crashed',
      error: { code: 'INTERNAL', message: 'the script says so' },
    });
  }

  #account(): void {
    const now = performance.now();
    const passed = now - this.#accounted;
    this.#accounted = now;
    for (const r of this.#ranks.values()) {
      if (!r.endpoint) continue;
      if (now > r.until) {
        // Mostly at work and waiting, sometimes an image; a new incarnation replays first.
        const x = this.#random();
        r.doing =
          now - r.began < 2000 && r.a.incarnation > 0
            ? SPENT.indexOf('replaying')
            : x < 0.55
              ? 0
              : x < 0.9
                ? 1
                : x < 0.95
                  ? 2
                  : 3;
        r.until = now + 100 + 2000 * this.#random();
      }
      r.spent[r.doing]! += passed;
    }
  }

  #heartbeat(): void {
    this.#account();
    const tasks: Heartbeat['tasks'] = [...this.#ranks.values()].map((r) => {
      const activity = {
        state: SPENT[r.doing]!,
        arrivals: r.endpoint?.consumed ?? 0,
        sends: (r.endpoint?.sent() ?? []).reduce((n, [, c]) => n + c, 0),
        ...(r.doing === 1 ? { call: 'MPI_Recv' } : {}),
      };
      return {
        job: r.a.job,
        task: r.a.task,
        incarnation: r.a.incarnation,
        started: r.endpoint !== undefined,
        activity,
        spent: r.spent,
      };
    });
    this.#control.emit('heartbeat', { tasks } satisfies Heartbeat);
  }

  #assign(a: Assignment): void {
    if (!this.#comm) {
      this.#comm = new Comm({
        size: a.size,
        channelMemories: a.channelMemories.length,
        policy: protocols[a.protocol].commd,
      });
      a.channelMemories.forEach((path, cm) => this.#connect(path, cm));
    }
    this.#ranks.set(a.task, {
      a,
      endpoint: undefined,
      spent: SPENT.map(() => 0),
      doing: 0,
      until: 0,
      began: performance.now(),
    });
    this.#perform(
      this.#comm.step({
        type: 'start',
        task: a.task,
        incarnation: a.incarnation,
        capability: a.capability,
        nonce: `scripted-${a.task}-${a.incarnation}`,
        position: a.position,
      }),
    );
  }

  #connect(path: string, cm: number): void {
    const ws = new WebSocket(this.#url.replace(/^http/, 'ws') + path, { perMessageDeflate: false });
    ws.binaryType = 'nodebuffer';
    ws.on('open', () => {
      this.#sockets[cm] = ws;
      this.#perform(this.#comm!.step({ type: 'connected', cm }));
    });
    ws.on('message', (data: Buffer) =>
      this.#perform(
        this.#comm!.step({ type: 'received', cm, bytes: new Uint8Array(data.buffer, data.byteOffset, data.length) }),
      ),
    );
    ws.on('error', () => undefined);
    ws.on('close', () => {
      if (this.#sockets[cm] !== ws) return;
      this.#sockets[cm] = undefined;
      this.#perform(this.#comm!.step({ type: 'disconnected', cm }));
      if (!this.#closed) setTimeout(() => this.#connect(path, cm), 100);
    });
  }

  #perform(effects: readonly CommEffect[]): void {
    for (const e of effects)
      if (e.type === 'send') this.#sockets[e.cm]?.send(e.bytes);
      else if (e.type === 'ready') this.#begin(e.task, e.start);
      else if (e.type === 'deliver') this.#deliver(e.task, e.bytes);
      else if (e.type === 'drop') this.#sockets[e.cm]?.close();
  }

  #begin(task: TaskId, start: EndpointStart): void {
    const r = this.#ranks.get(task);
    if (!r) return;
    this.#account();
    r.endpoint = protocols[r.a.protocol].rank(task, r.a.size, r.a.position, start);
    for (const event of ['started', 'recovered'] as const)
      this.#control.emit('report', { job: r.a.job, task, incarnation: r.a.incarnation, event });
  }

  #deliver(task: TaskId, bytes: Uint8Array): void {
    const r = this.#ranks.get(task);
    for (const f of readFrames(bytes)) {
      if ((f.header.flags & Flag.LAST) === 0) continue;
      r?.endpoint?.consume(f.header.arrival, taskId(f.header.src));
      this.#perform(this.#comm!.step({ type: 'consumed', task, arrivals: f.header.arrival, envelopeOnly: false }));
    }
  }

  #stop(task: TaskId): void {
    if (!this.#ranks.delete(task)) return;
    this.#perform(this.#comm!.step({ type: 'stop', task }));
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#beat);
    this.#control.disconnect();
    for (const ws of this.#sockets) ws?.terminate();
  }
}
