/** A single Channel Memory on a table: frames in, effects out, logs in arrays. */
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  incarnation,
  readFrame,
  taskId,
  type DeterminantBlock,
  type Header,
  type ProtocolName,
  type TaskId,
} from '@mayfly/wire';
import {
  ChannelMemory,
  asArrival,
  fromTheStart,
  patchFromLog,
  positionOf,
  protocols,
  type ChannelMemoryOptions,
  type CmEffect,
  type CmEvent,
  type Line,
  type LogPolicy,
  type ReplayFrom,
} from '../../src/index.ts';

export const T = taskId;
export const fresh = fromTheStart();
const text = new TextEncoder();
const read = new TextDecoder();

export interface Seen {
  conn: number;
  header: Header;
  body: Uint8Array;
  json: () => any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export class Bench {
  core!: ChannelMemory;
  logs = new Map<string, (Uint8Array | undefined)[]>();
  sent: Seen[] = [];
  effects: CmEffect[] = [];
  tickets: number[] = [];
  /** Syncs end by themselves. */
  autoSync = true;

  constructor(
    readonly options: Partial<ChannelMemoryOptions> = {},
    readonly protocol: ProtocolName | LogPolicy = 'pessimistic',
  ) {
    this.start(true);
  }

  /** A new core over what the logs have. */
  start(isFresh: boolean): void {
    const policy = typeof this.protocol === 'string' ? protocols[this.protocol].log : this.protocol;
    this.core = new ChannelMemory(policy, {
      size: 4,
      index: 0,
      count: 1,
      durability: 'behind',
      chunkBytes: 64,
      window: 1024,
      authorise: (c) =>
        c === 'forged'
          ? undefined
          : { task: T(Number(c.split('.')[0])), incarnation: incarnation(Number(c.split('.')[1])) },
      ...this.options,
    });
    for (const name of this.core.streams()) {
      const log = this.logs.get(name) ?? [];
      this.logs.set(name, log);
      this.perform(
        this.core.recover(
          name,
          log.flatMap((bytes, lsn) => (bytes ? [{ lsn, bytes: bytes.slice() }] : [])),
          log.length,
        ),
      );
    }
    this.step({ type: 'recovered', fresh: isFresh });
  }

  step(e: CmEvent): CmEffect[] {
    const out = this.core.step(e);
    this.perform(out);
    return out;
  }

  perform(out: CmEffect[]): void {
    this.effects.push(...out);
    for (const e of out) {
      if (e.type === 'append') {
        const log = this.logs.get(e.stream)!;
        if (log.length !== e.lsn) throw new Error(`LSN ${e.lsn}, the log of ${e.stream} is at ${log.length}`);
        log.push(e.bytes.slice());
      } else if (e.type === 'copy') {
        const [from, to] = [this.logs.get(e.from)!, this.logs.get(e.to)!];
        if (to.length !== e.lsn) throw new Error(`LSN ${e.lsn}, the log of ${e.to} is at ${to.length}`);
        e.lsns.forEach((lsn, i) => {
          const record = from[lsn]!;
          const last = i === e.lsns.length - 1;
          to.push(e.arrival === undefined ? record.slice() : asArrival(record, last ? e.arrival : 0));
        });
      } else if (e.type === 'send') this.see(e.conn, e.bytes.slice());
      else if (e.type === 'sendRecord') this.see(e.conn, patchFromLog(this.logs.get(e.stream)![e.lsn]!.slice(), e));
      else if (e.type === 'trim') {
        const log = this.logs.get(e.stream)!;
        for (let l = e.from; l < e.to; l++) if (!e.keep.has(l)) log[l] = undefined;
      } else if (e.type === 'sync') this.tickets.push(e.ticket);
    }
    while (this.autoSync && this.tickets.length > 0) this.step({ type: 'synced', ticket: this.tickets.shift()! });
  }

  see(conn: number, bytes: Uint8Array): void {
    const f = readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
    this.sent.push({ conn, header: f.header, body: f.body, json: () => JSON.parse(read.decode(f.body)) });
  }

  /** Frames sent since the last call, of one kind. */
  take(kind: number, conn?: number): Seen[] {
    const out = this.sent.filter((s) => s.header.kind === kind && (conn === undefined || s.conn === conn));
    this.sent = this.sent.filter((s) => !out.includes(s));
    return out;
  }

  frame(conn: number, bytes: Uint8Array): CmEffect[] {
    // As ws gives it: a Buffer within a larger pool, whose slice() is a view.
    const pool = Buffer.alloc(bytes.length + 32, 0xee);
    pool.set(bytes, 16);
    return this.step({ type: 'frames', conn, bytes: pool.subarray(16, 16 + bytes.length) });
  }

  attach(
    conn: number,
    task: number,
    over: Partial<{
      inc: number;
      epoch: number;
      nonce: string;
      received: number;
      resume: boolean;
      replay: ReplayFrom;
      position: unknown;
      capability: string;
    }> = {},
  ): void {
    const inc = over.inc ?? 0;
    const h = emptyHeader(Kind.ATTACH);
    h.src = h.dst = T(task);
    h.incarnation = incarnation(inc);
    h.epoch = over.epoch ?? 0;
    const body = {
      capability: over.capability ?? `${task}.${inc}`,
      nonce: over.nonce ?? `nonce-${task}-${inc}`,
      position: over.position ?? positionOf(over.replay ?? fresh),
      received: over.received ?? 0,
      resume: over.resume ?? false,
    };
    this.frame(conn, encodeFrame(h, text.encode(JSON.stringify(body))));
    this.step({ type: 'flush' });
  }

  /** Chunks of one message, by the sender's numbers. */
  chunks(
    src: number,
    dst: number,
    channel: number,
    size: number,
    o: { inc?: number; epoch?: number; mode?: number; det?: Partial<DeterminantBlock>; fill?: number } = {},
  ): Uint8Array[] {
    const out: Uint8Array[] = [];
    for (let at = 0; at === 0 || at < size; at += 64) {
      const bytes = Math.min(64, size - at);
      const h = emptyHeader(Kind.DATA);
      h.src = T(src);
      h.dst = dst < 0 ? WORLD : T(dst);
      h.incarnation = incarnation(o.inc ?? 0);
      h.epoch = o.epoch ?? 0;
      h.channel = channel;
      h.mode = o.mode ?? (dst < 0 ? WorldMode.STDOUT : 0);
      h.offset = at;
      h.size = size;
      h.flags = at + bytes === size ? Flag.LAST : 0;
      const det = o.det ? encodeDeterminants({ first: 0, consumed: 0, openPolls: 0, entries: [], ...o.det }) : EMPTY;
      out.push(encodeFrame(h, new Uint8Array(bytes).fill(o.fill ?? channel), det));
    }
    return out;
  }

  send(
    conn: number,
    src: number,
    dst: number,
    channel: number,
    size = 8,
    o: Parameters<Bench['chunks']>[4] = {},
  ): void {
    for (const c of this.chunks(src, dst, channel, size, o)) this.frame(conn, c);
    this.step({ type: 'flush' });
  }

  control(conn: number, kind: number, task: number, over: Partial<Header> = {}): CmEffect[] {
    const h = { ...emptyHeader(kind), src: T(task) as TaskId, dst: T(task) as TaskId, ...over };
    return this.frame(conn, encodeFrame(h));
  }
}

export const arrivals = (b: Bench, conn?: number): number[] =>
  b
    .take(Kind.ARRIVAL, conn)
    .filter((s) => s.header.flags & Flag.LAST)
    .map((s) => s.header.arrival);
export const codes = (b: Bench): string[] => b.take(Kind.REFUSED).map((s) => s.json().code as string);
export const line = (over: Partial<Line>): Line => ({ arrivals: 0, determinants: 0, openPolls: 0, sends: [], ...over });
export const closed = (b: Bench): boolean => b.effects.some((e) => e.type === 'close');

/** Tasks 0 and 1 attached on connections 10 and 11. */
export function pair(options: ConstructorParameters<typeof Bench>[0] = {}, protocol?: ProtocolName): Bench {
  const b = new Bench(options, protocol);
  for (const t of [0, 1, 2, 3]) b.attach(10 + t, t);
  b.take(Kind.ATTACHED);
  b.take(Kind.ACK);
  return b;
}
