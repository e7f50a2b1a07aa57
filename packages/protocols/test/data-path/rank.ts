/**
 * A rank of the random test: the program over an endpoint, fed by queues in place of rings. Written as the endpoint's
 * head says.
 */
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  readFrame,
  type ReplayFrom,
  type TaskId,
} from '@mayfly/wire';
import { LIVE, type Endpoint, type EndpointSnapshot, type EndpointStart, type RankPolicy } from '../../src/index.ts';
import { program, type Data, type Got, type Request, type Shape } from './program.ts';

export interface Image {
  replay: ReplayFrom;
  data: Data;
  endpoint: EndpointSnapshot;
}

export interface RankHost {
  up(bytes: Uint8Array): void;
  now(): number;
  wantsImage(): boolean;
  image(image: Image): void;
  /** A message was produced; suppressed ones too. */
  produced(dst: TaskId, channel: number, body: Uint8Array, suppressed: boolean): void;
}

export class Rank {
  readonly endpoint: Endpoint;
  readonly #program: Generator<Request, void, unknown>;
  #request: Request | undefined;
  #sent = new Map<TaskId, number>();
  #polled: Got[] | undefined;
  #poll = LIVE;
  /** Chunks of messages that are not whole, by sender. */
  #parts = new Map<number, Uint8Array[]>();
  #ready: Got[] = [];
  #pulled = new Map<number, Uint8Array[]>();
  #asked = new Set<number>();
  over = false;
  exitSuppressed = false;

  constructor(
    readonly task: TaskId,
    readonly shape: Shape,
    readonly replay: ReplayFrom,
    readonly from: Image | undefined,
    start: EndpointStart,
    readonly host: RankHost,
    endpoint: RankPolicy,
  ) {
    this.endpoint = endpoint(task, shape.size, replay, start);
    this.#program = program(shape, task);
    this.#request = this.#program.next().value as Request;
  }

  deliver(bytes: Uint8Array): void {
    const f = readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
    const h = f.header;
    if (h.kind === Kind.BODY) {
      const parts = this.#pulled.get(h.arrival) ?? [];
      parts.push(f.body);
      this.#pulled.set(h.arrival, parts);
      return;
    }
    const parts = (h.offset > 0 ? this.#parts.get(h.src) : undefined) ?? [];
    parts.push(f.body);
    this.#parts.set(h.src, parts);
    if ((h.flags & Flag.LAST) === 0) return;
    const body = (h.flags & Flag.NO_BODY) !== 0 && h.size > 0 ? undefined : join(parts, h.size);
    this.#parts.delete(h.src);
    this.#ready.push({ number: h.arrival, src: h.src, size: h.size, body });
  }

  get waiting(): number {
    return this.#ready.length;
  }

  /** One action; false when it has to wait. */
  step(): boolean {
    const r = this.#request;
    if (r === undefined) return false;
    const answer = this.#perform(r);
    if (answer === BLOCKED) return false;
    const next = this.#program.next(answer);
    this.#request = next.done ? undefined : next.value;
    this.over = next.done === true;
    return true;
  }

  #consume(): Got {
    const g = this.#ready.shift()!;
    this.endpoint.consume(g.number);
    return g;
  }

  #perform(r: Request): unknown {
    const ep = this.endpoint;
    switch (r.type) {
      case 'send':
        this.#send(r.dst, r.mode, r.body);
        return undefined;
      case 'wait':
        return this.#ready.length > 0 ? this.#consume() : BLOCKED;
      case 'poll': {
        if (this.#polled === undefined) {
          this.#poll = ep.pollBegin();
          this.#polled = [];
        }
        const got = this.#polled;
        if (this.#poll === LIVE) while (got.length < r.most && this.#ready.length > 0) got.push(this.#consume());
        else
          while (got.length < this.#poll) {
            if (this.#ready.length === 0) return BLOCKED;
            got.push(this.#consume());
          }
        ep.pollEnd();
        this.#polled = undefined;
        return got;
      }
      case 'clock':
        return ep.clock(() => this.host.now());
      case 'place':
        return ep.place(() => `node${this.host.now() % 7 === 0 ? '' : 'x'}`);
      case 'pull': {
        if (!this.#asked.has(r.arrival)) {
          this.#asked.add(r.arrival);
          const h = emptyHeader(Kind.PULL);
          h.src = h.dst = this.task;
          h.incarnation = ep.incarnation;
          h.arrival = r.arrival;
          h.size = r.size;
          this.host.up(encodeFrame(h));
        }
        const parts = this.#pulled.get(r.arrival) ?? [];
        if (parts.reduce((n, p) => n + p.length, 0) < r.size) return BLOCKED;
        return join(parts, r.size);
      }
      case 'open':
        if (ep.inPrologue) {
          ep.jump(this.from!.endpoint);
          return this.from!.data;
        }
        ep.openPrologue();
        return undefined;
      case 'here':
        if (!ep.replaying && this.host.wantsImage()) {
          if (ep.pending > 0) {
            const b = ep.block();
            this.host.up(encodeFrame({ ...ep.determinantsHeader(b) }, EMPTY, b));
            ep.framed();
          }
          const data = structuredClone(r.image);
          this.host.image({
            replay: { prologue: ep.prologue, image: ep.line(), held: data.held.map((x) => x.number) },
            data,
            endpoint: ep.snapshot(),
          });
        }
        return undefined;
    }
  }

  #send(dst: TaskId, mode: number, body: Uint8Array): void {
    const ep = this.endpoint;
    const n = ep.beginSend(dst);
    const count = ep.line().sends.find(([d]) => d === dst)![1];
    this.host.produced(dst, count, body, n === 0);
    if (n === 0) {
      if (dst === WORLD && mode === WorldMode.EXIT) this.exitSuppressed = true;
      return;
    }
    const chunk = this.shape.chunk;
    for (let o = 0; o === 0 || o < body.length; o += chunk) {
      const part = body.subarray(o, o + chunk);
      const b = ep.block();
      this.host.up(encodeFrame(ep.dataHeader(dst, n, mode, 0, 0, 0, body.length, o, part.length, b), part, b));
      ep.framed();
    }
  }
}

const BLOCKED = Symbol('blocked');

export function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const out = new Uint8Array(size);
  let o = 0;
  for (const p of parts) {
    out.set(p, o);
    o += p.length;
  }
  if (o !== size) throw new Error(`${o} bytes instead of ${size}`);
  return out;
}
