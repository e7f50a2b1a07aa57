/**
 * A Device over shared memory: every rank's inbox is an append-only log in a SharedArrayBuffer, which is also its
 * Channel Memory. A receiver reads its log in order, pulls bodies out of it, and a second incarnation reads it from the
 * start. Test code; one mutex per inbox.
 *
 * Inbox: i32 lock | i32 bytes used | i32 messages | … 64 bytes; then records: i32 src, mode, context, tag, word, size,
 * 0, 0; body, padded to 8.
 */
import { WORLD, taskId, type TaskId } from '@mayfly/wire';
import type { Arrival, Device, WaitReason } from '../../src/device.ts';

const HEAD = 64;
const RECORD = 32;
const pad8 = (n: number): number => (n + 7) & ~7;

export const makeInbox = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(HEAD + bytes);

export interface Output {
  mode: number;
  word: number;
  body: Uint8Array;
}

/** How far an incarnation is in everything that is logged of it. */
export interface Line {
  arrivals: number;
  polls: number;
  clocks: number;
  sends: [number, number][];
}

/** What is logged of a rank besides its inbox: enough for another incarnation. */
export interface RankLog {
  polls: number[];
  clocks: number[];
  sends: [number, number][];
  outputs: Output[];
}

export interface DeviceOptions {
  unexpectedBytes?: number;
  /** Chance that a body stays in the log. */
  bodiless?: number;
  /** Draws for `bodiless` and for delays before sends. */
  seed?: number;
  /** Longest delay before a send, in turns of an empty loop: shuffles the arrival orders. */
  delay?: number;
  /** Longest wait, ms. */
  patience?: number;
  /** Tasks that exchange messages in memory: which algorithms of collectives are chosen. */
  teams?: readonly (readonly TaskId[])[];
}

export function append(
  inbox: SharedArrayBuffer,
  src: number,
  mode: number,
  context: number,
  tag: number,
  word: number,
  body: Uint8Array,
): void {
  const head = new Int32Array(inbox, 0, HEAD / 4);
  while (Atomics.compareExchange(head, 0, 0, 1) !== 0) Atomics.wait(head, 0, 1, 1);
  const at = HEAD + Atomics.load(head, 1);
  if (at + RECORD + pad8(body.length) > inbox.byteLength) throw new Error('the inbox of the test fabric is full');
  new Int32Array(inbox, at, 8).set([src, mode, context, tag, word, body.length, 0, 0]);
  new Uint8Array(inbox, at + RECORD, body.length).set(body);
  Atomics.store(head, 1, at - HEAD + RECORD + pad8(body.length));
  Atomics.add(head, 2, 1);
  Atomics.store(head, 0, 0);
  Atomics.notify(head, 0);
  Atomics.notify(head, 2);
}

export class LogDevice implements Device {
  readonly task: TaskId;
  readonly unexpectedBytes: number;
  readonly teams?: NonNullable<Device['teams']>;
  readonly log: RankLog;
  readonly line: Line = { arrivals: 0, polls: 0, clocks: 0, sends: [] };
  /** Told of every message to the world that is sent, not of suppressed ones. */
  onWorld: (n: number, mode: number, body: Uint8Array) => void = () => undefined;
  /** Most that the layer said it stores. */
  mostUnexpected = 0;
  private readonly head: Int32Array;
  private at = HEAD;
  private readonly offsets: number[] = [];
  private readonly sends = new Map<number, number>();
  private readonly limits: Map<number, number>;
  private random: number;
  private polling = false;

  constructor(
    task: number,
    readonly size: number,
    private readonly inboxes: readonly SharedArrayBuffer[],
    private readonly options: DeviceOptions = {},
    /** Log of the incarnation before: its sends are suppressed, its polls and clocks repeated. */
    private readonly before?: RankLog,
  ) {
    this.task = taskId(task);
    this.head = new Int32Array(inboxes[task]!, 0, HEAD / 4);
    this.unexpectedBytes = options.unexpectedBytes ?? 1 << 26;
    if (options.teams) this.teams = options.teams;
    this.limits = new Map(before?.sends);
    this.log = before ? structuredClone(before) : { polls: [], clocks: [], sends: [], outputs: [] };
    this.random = (options.seed ?? 1) * 7919 + task;
  }

  private draw(): number {
    this.random = (Math.imul(this.random, 1103515245) + 12345) >>> 0;
    return (this.random >>> 8) / 16777216;
  }

  private outside(): void {
    if (this.polling) throw new Error('the layer called the device inside a poll (P2)');
  }

  send(dst: TaskId, mode: number, context: number, tag: number, word: number, body: Uint8Array): void {
    this.outside();
    const n = (this.sends.get(dst) ?? 0) + 1;
    this.sends.set(dst, n);
    this.line.sends = [...this.sends];
    if (n <= (this.limits.get(dst) ?? 0)) return;
    for (let i = (this.options.delay ?? 0) * this.draw(); i > 0; i--) Atomics.load(this.head, 0);
    if (dst === WORLD) {
      this.log.outputs.push({ mode, word, body: body.slice() });
      this.onWorld(n, mode, this.log.outputs.at(-1)!.body);
    } else append(this.inboxes[dst]!, this.task, mode, context, tag, word, body);
    this.log.sends = [...this.sends];
  }

  private available(): boolean {
    return Atomics.load(this.head, 2) > this.line.arrivals;
  }

  private next(): Arrival {
    const [src, mode, context, tag, word, size] = new Int32Array(this.inboxes[this.task]!, this.at, 6) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const number = ++this.line.arrivals;
    this.offsets[number] = this.at;
    const kept = size > 0 && this.draw() < (this.options.bodiless ?? 0);
    const body = kept ? undefined : new Uint8Array(this.inboxes[this.task]!, this.at + RECORD, size);
    this.at += RECORD + pad8(size);
    return { number, src: taskId(src >>> 0), mode, context, tag, word: word >>> 0, size, body };
  }

  private block(why: string): void {
    while (!this.available()) {
      const seen = Atomics.load(this.head, 2);
      if (seen > this.line.arrivals) return;
      if (Atomics.wait(this.head, 2, seen, this.options.patience ?? 60_000) === 'timed-out')
        throw new Error(`rank ${this.task} waits for ever in ${why}`);
    }
  }

  wait(reason: WaitReason): Arrival {
    this.outside();
    this.block(`${reason.call} (peer ${reason.peer ?? 'any'}, tag ${reason.tag ?? 'any'})`);
    return this.next();
  }

  poll(consume: (arrival: Arrival) => boolean): void {
    this.outside();
    const logged = this.before?.polls[this.line.polls];
    let n = 0;
    this.polling = true;
    try {
      if (logged !== undefined) {
        let stop = false;
        for (; n < logged; n++) {
          if (stop) throw new Error('a replayed poll stopped before its logged outcome (P3)');
          this.block('a replayed poll');
          stop = consume(this.next());
        }
      } else {
        // A moment's rest where nothing is there, so that a loop of polls leaves the processors to others.
        if (!this.available()) Atomics.wait(this.head, 2, this.line.arrivals, 1);
        while (this.available() && (n++, !consume(this.next())));
      }
    } finally {
      this.polling = false;
    }
    if (logged === undefined) this.log.polls.push(n);
    this.line.polls++;
  }

  pull(arrival: number, into: Uint8Array): void {
    this.outside();
    const at = this.offsets[arrival]!;
    const size = new Int32Array(this.inboxes[this.task]!, at, 6)[5]!;
    into.set(new Uint8Array(this.inboxes[this.task]!, at + RECORD, size));
  }

  unexpected(bytes: number): void {
    this.outside();
    this.mostUnexpected = Math.max(this.mostUnexpected, bytes);
  }

  clock(): number {
    const ms = this.log.clocks[this.line.clocks] ?? Date.now();
    this.log.clocks[this.line.clocks++] = ms;
    return ms;
  }

  place(read: () => string): string {
    return read();
  }

  snapshotLine(): Line {
    return structuredClone(this.line);
  }

  /** The endpoint's jump to an image's line. */
  jump(to: Line): void {
    while (this.line.arrivals < to.arrivals) this.next();
    Object.assign(this.line, structuredClone(to));
    this.sends.clear();
    for (const [dst, n] of to.sends) this.sends.set(dst, n);
  }
}
