/**
 * A whole job in memory: comm cores and ranks on nodes, Channel Memory cores over logs that may lose their un-synced
 * tail, a network of ordered connections that break. Every step is drawn from one seed. The checks know nothing of the
 * cores' insides:
 *   - content: every message that is produced again, suppressed or not, has the bytes that are in the log;
 *   - output: messages of a task to WORLD come out in order, and again only with the same bytes;
 *   - answer: the sum that each task prints equals the one computed without any run.
 */
import {
  Kind,
  WorldMode,
  incarnation,
  imageId,
  readFrame,
  taskId,
  zeroLine,
  type ReplayFrom,
  type TaskId,
} from '@mayfly/wire';
import {
  ChannelMemory,
  Comm,
  coversDeterminants,
  patchFromLog,
  type CmEffect,
  type CmEvent,
  type CommEffect,
  type CommEvent,
  protocols,
  type Range,
  type VProtocol,
} from '../../src/index.ts';
import { expected, type Shape } from './program.ts';
import { random } from './random.ts';
import { Rank, type Image } from './rank.ts';

export interface Options {
  seed: number;
  shape: Shape;
  cms: number;
  durability?: 'behind' | 'strict';
  /** Default: pessimistic. */
  protocol?: VProtocol;
  window?: number;
  /** How many faults of each kind are still to come. */
  faults?: { ranks?: number; kills?: number; powerLosses?: number; links?: number; imagesSpoilt?: number };
  images?: boolean;
  envelopes?: boolean;
  /** Syncs take long: much is lost with the power. */
  slowSync?: boolean;
}

class Log {
  records: (Uint8Array | undefined)[] = [];
  synced = 0;
  read(lsn: number): Uint8Array {
    const r = this.records[lsn];
    if (r === undefined) throw new Error(`record ${lsn} is not in the log`);
    return r;
  }
}

interface CmHost {
  core: ChannelMemory | undefined;
  logs: Map<string, Log>;
  /** Syncs under way. */
  syncs: { ticket: number; upTo: [string, number][] }[];
}

/** One connection between a node's comm core and a CM. */
interface Link {
  conn: number;
  up: Uint8Array[];
  down: Uint8Array[];
}

interface Node {
  comm: Comm;
  links: (Link | undefined)[];
  ranks: Map<TaskId, Rank>;
  early: Map<TaskId, Uint8Array[]>;
}

interface Stored {
  id: string;
  image: Image;
  covered: Map<number, readonly Range[]>;
  complete: boolean;
}

export class Cluster {
  readonly rnd: (n: number) => number;
  readonly tasks: TaskId[];
  cms: CmHost[] = [];
  nodes: Node[] = [];
  where: Node[] = [];
  incarnations: number[];
  chosen: (Image | undefined)[];
  images: Stored[][];
  output: Uint8Array[][];
  done: boolean[];
  contents = new Map<string, string>();
  failed: string | undefined;
  faults: Required<NonNullable<Options['faults']>>;
  stats = { suppressed: 0, appended: 0, restarts: 0, envelopes: 0, resupplied: 0, images: 0, trims: 0, resends: 0 };
  #conns = 0;
  #now = 1000;
  #imageIds = 0;

  constructor(readonly o: Options) {
    this.rnd = random(o.seed);
    this.tasks = Array.from({ length: o.shape.size }, (_, i) => taskId(i));
    this.incarnations = this.tasks.map(() => 0);
    this.chosen = this.tasks.map(() => undefined);
    this.images = this.tasks.map(() => []);
    this.output = this.tasks.map(() => []);
    this.done = this.tasks.map(() => false);
    this.faults = { ranks: 0, kills: 0, powerLosses: 0, links: 0, imagesSpoilt: 0, ...o.faults };
    for (let i = 0; i < o.cms; i++) {
      this.cms.push({ core: undefined, logs: new Map(), syncs: [] });
      this.startCm(i, true);
    }
    const nodes = Math.max(1, Math.ceil(o.shape.size / 2));
    for (let i = 0; i < nodes; i++) this.nodes.push(this.newNode());
    for (const t of this.tasks) this.startTask(t, this.nodes[t % nodes]!);
  }

  get #protocol(): VProtocol {
    return this.o.protocol ?? protocols.pessimistic;
  }

  newNode(): Node {
    return {
      comm: new Comm({
        size: this.o.shape.size,
        channelMemories: this.o.cms,
        policy: this.#protocol.commd,
        window: this.o.window ?? 4096,
        chunkBytes: this.o.shape.chunk,
      }),
      links: this.cms.map(() => undefined),
      ranks: new Map(),
      early: new Map(),
    };
  }

  startCm(i: number, fresh: boolean): void {
    const cm = this.cms[i]!;
    const core = new ChannelMemory(this.#protocol.log, {
      size: this.o.shape.size,
      index: i,
      count: this.o.cms,
      durability: this.o.durability ?? 'behind',
      window: this.o.window ?? 4096,
      chunkBytes: this.o.shape.chunk,
      authorise: (c) => {
        const [task, inc] = c.split('.').map(Number);
        return { task: taskId(task!), incarnation: incarnation(inc!) };
      },
    });
    cm.core = core;
    cm.syncs = [];
    const replay: CmEffect[] = [];
    for (const name of core.streams()) {
      const log = cm.logs.get(name) ?? new Log();
      cm.logs.set(name, log);
      const left = log.records.flatMap((bytes, lsn) => (bytes ? [{ lsn, bytes: bytes.slice() }] : []));
      replay.push(...core.recover(name, left, log.records.length));
    }
    this.perform(i, replay);
    for (const t of this.tasks) {
      this.cm(i, { type: 'fence', task: t, incarnation: incarnation(this.incarnations[t]!) });
      if (this.done[t]) this.cm(i, { type: 'done', task: t });
    }
    this.cm(i, { type: 'recovered', fresh });
    for (const t of this.tasks) for (const im of this.images[t]!) if (!im.complete) this.askCover(i, t, im);
  }

  startTask(t: TaskId, node: Node): void {
    this.where[t] = node;
    const replay = this.replayOf(t);
    const inc = this.incarnations[t]!;
    this.comm(node, {
      type: 'start',
      task: t,
      incarnation: incarnation(inc),
      capability: `${t}.${inc}`,
      nonce: `nonce-${this.#conns++}-${t}-${inc}`,
      replay,
    });
  }

  replayOf(t: TaskId): ReplayFrom {
    return this.chosen[t]?.replay ?? { prologue: zeroLine(), image: zeroLine(), held: [] };
  }

  // ---- hosts ----

  #busy = false;
  #events: [number, CmEvent][] = [];
  /** Effects are performed to the end before the next event (the host's third duty). */
  cm(i: number, e: CmEvent): void {
    this.#events.push([i, e]);
    if (this.#busy) return;
    this.#busy = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) {
      const core = this.cms[next[0]]!.core;
      if (core) this.perform(next[0], core.step(next[1]));
    }
    this.#busy = false;
  }

  perform(i: number, effects: CmEffect[]): void {
    const cm = this.cms[i]!;
    for (const e of effects) {
      if (e.type === 'append') {
        const log = cm.logs.get(e.stream)!;
        expectTrue(log.records.length === e.lsn, `LSN ${e.lsn} of ${e.stream}, the log is at ${log.records.length}`);
        log.records.push(e.bytes.slice());
        this.stats.appended++;
        this.logged(e.bytes);
      } else if (e.type === 'send') this.down(e.conn, i, e.bytes.slice());
      else if (e.type === 'sendRecord') {
        if (e.envelope) this.stats.envelopes++;
        this.down(e.conn, i, patchFromLog(cm.logs.get(e.stream)!.read(e.lsn).slice(), e));
      } else if (e.type === 'sync')
        cm.syncs.push({ ticket: e.ticket, upTo: e.streams.map((s) => [s, cm.logs.get(s)!.records.length]) });
      else if (e.type === 'trim') {
        this.stats.trims++;
        const log = cm.logs.get(e.stream)!;
        for (let l = e.from; l < e.to; l++) if (!e.keep.has(l)) log.records[l] = undefined;
      } else if (e.type === 'world') this.world(e.task, e.channel, e.mode, e.body);
      else if (e.type === 'covered') this.coveredBy(i, e.task, e.image, e.determinants);
      else if (e.type === 'failed') this.failed = e.error.code;
      else if (e.type === 'close') throw new Error(`closed: ${e.error.code} ${e.error.message}`);
    }
  }

  down(conn: number, i: number, bytes: Uint8Array): void {
    for (const n of this.nodes) if (n.links[i]?.conn === conn) n.links[i].down.push(bytes);
    if (bytes[0] === Kind.RESEND) this.stats.resends++;
  }

  comm(node: Node, e: CommEvent): void {
    for (const f of node.comm.step(e)) this.commEffect(node, f);
  }

  commEffect(node: Node, e: CommEffect): void {
    switch (e.type) {
      case 'send':
        if (e.bytes[0] === Kind.RESUPPLY) this.stats.resupplied++;
        node.links[e.cm]?.up.push(e.bytes.slice());
        break;
      case 'deliver':
        node.ranks.get(e.task)!.deliver(e.bytes);
        break;
      case 'ready': {
        const t = e.task;
        const at = this.chosen[t];
        node.ranks.set(
          t,
          new Rank(
            t,
            this.o.shape,
            this.replayOf(t),
            at,
            e.start,
            {
              up: (bytes) => this.comm(node, { type: 'ring', task: t, bytes }),
              now: () => ++this.#now,
              wantsImage: () => this.o.images === true && this.rnd(4) === 0,
              image: (image) => this.offer(t, image),
              produced: (dst, channel, body, suppressed) => this.produced(t, dst, channel, body, suppressed),
            },
            this.#protocol.rank,
          ),
        );
        break;
      }
      case 'finished':
        node.ranks.delete(e.task);
        break;
      case 'refused':
        if (e.error.code === 'LOST_LOG') this.failed = 'LOST_LOG';
        else throw new Error(`task ${e.task} refused: ${e.error.code} ${e.error.message}`);
        break;
      case 'drop':
        throw new Error(`link dropped: ${e.error.code} ${e.error.message}`);
    }
  }

  // ---- checks ----

  logged(bytes: Uint8Array): void {
    const f = readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
    if (f.header.kind !== Kind.ARRIVAL && f.header.kind !== Kind.DATA) return;
    this.same(`${f.header.src}>${f.header.dst}#${f.header.channel}@${f.header.offset}`, f.body, true);
  }

  produced(src: TaskId, dst: TaskId, channel: number, body: Uint8Array, suppressed: boolean): void {
    if (suppressed) this.stats.suppressed++;
    const c = this.o.shape.chunk;
    if (!suppressed) return;
    for (let o = 0; o === 0 || o < body.length; o += c)
      this.same(`${src}>${dst}#${channel}@${o}`, body.subarray(o, o + c), false);
  }

  /** A logged message is remembered until the log loses it; what is produced again must equal it. */
  same(key: string, body: Uint8Array, store: boolean): void {
    const text = Buffer.from(body).toString('base64');
    const known = this.contents.get(key);
    if (store) this.contents.set(key, text);
    if (known !== undefined && known !== text && !(store && this.faultsOfRanks))
      throw new Error(`message ${key} differs after a restart`);
  }
  /** Partial messages of a dead incarnation, and messages lost with the power, may be replaced by others. */
  faultsOfRanks = false;

  world(t: TaskId, channel: number, mode: number, body: Uint8Array): void {
    const out = this.output[t]!;
    expectTrue(channel <= out.length + 1, `output ${channel} of task ${t} after ${out.length}`);
    if (channel <= out.length) {
      if (Buffer.compare(out[channel - 1]!, body) === 0) return;
      throw new Error(`output ${channel} of task ${t} changed`);
    } else out.push(body.slice());
    if (mode === WorldMode.EXIT && !this.done[t]) {
      this.done[t] = true;
      for (let i = 0; i < this.cms.length; i++) this.cm(i, { type: 'done', task: t });
    }
  }

  // ---- images ----

  offer(t: TaskId, image: Image): void {
    const s: Stored = { id: `image-${this.#imageIds++}`, image, covered: new Map(), complete: false };
    this.images[t]!.push(s);
    for (let i = 0; i < this.cms.length; i++) this.askCover(i, t, s);
  }

  askCover(i: number, t: TaskId, s: Stored): void {
    this.cm(i, { type: 'cover', task: t, image: imageId(s.id), line: s.image.replay.image });
  }

  coveredBy(i: number, t: TaskId, id: string, ranges: readonly Range[]): void {
    const list = this.images[t]!;
    const s = list.find((x) => x.id === id);
    if (!s || s.complete) return;
    s.covered.set(i, ranges);
    const oldest = list.find((x) => x.complete)?.image.replay.image.determinants ?? 0;
    if (
      s.covered.size < this.o.cms ||
      !coversDeterminants(s.covered.values(), oldest, s.image.replay.image.determinants)
    )
      return;
    s.complete = true;
    this.stats.images++;
    const complete = list.filter((x) => x.complete).sort((a, b) => a.image.data.round - b.image.data.round);
    const kept = complete.slice(-2);
    this.images[t] = [...kept, ...list.filter((x) => !x.complete)];
    const held = [...new Set(kept.flatMap((x) => x.image.replay.held))];
    for (let c = 0; c < this.o.cms; c++) {
      this.cm(c, { type: 'uncover', task: t, image: imageId(id) });
      if (kept.length === 2) this.cm(c, { type: 'trim', task: t, replay: { ...kept[0]!.image.replay, held } });
    }
  }

  // ---- faults ----

  killTask(t: TaskId): void {
    this.faultsOfRanks = true;
    this.stats.restarts++;
    const old = this.where[t]!;
    // The whole node dies: every task on it moves.
    this.nodes = this.nodes.filter((n) => n !== old);
    old.links.forEach((l, i) => l && this.cm(i, { type: 'closed', conn: l.conn }));
    const node = this.newNode();
    this.nodes.push(node);
    for (const task of this.tasks) {
      if (this.where[task] !== old || this.done[task]) continue;
      const inc = ++this.incarnations[task]!;
      for (let i = 0; i < this.o.cms; i++) this.cm(i, { type: 'fence', task, incarnation: incarnation(inc) });
      this.images[task] = this.images[task]!.filter((x) => x.complete);
      const kept = this.images[task]!;
      const newest = kept.length - 1;
      const spoilt = kept.length === 2 && this.faults.imagesSpoilt > 0 && this.rnd(2) === 0;
      if (spoilt) this.faults.imagesSpoilt--;
      this.chosen[task] = spoilt ? kept[0]!.image : kept[newest]?.image;
      if (spoilt) this.images[task] = [kept[0]!];
      this.startTask(task, node);
    }
  }

  killCm(i: number, power: boolean): void {
    const cm = this.cms[i]!;
    cm.core = undefined;
    cm.syncs = [];
    for (const n of this.nodes) if (n.links[i]) this.breakLink(n, i);
    if (!power) return;
    this.faultsOfRanks = true;
    for (const log of cm.logs.values()) {
      const keep = log.synced + this.rnd(log.records.length - log.synced + 1);
      log.records.length = keep;
    }
  }

  breakLink(n: Node, i: number): void {
    const l = n.links[i];
    if (!l) return;
    n.links[i] = undefined;
    this.comm(n, { type: 'disconnected', cm: i });
    this.cm(i, { type: 'closed', conn: l.conn });
  }

  connect(n: Node, i: number): void {
    n.links[i] = { conn: ++this.#conns, up: [], down: [] };
    this.comm(n, { type: 'connected', cm: i });
  }

  // ---- the run ----

  step(): void {
    const { rnd } = this;
    const node = this.nodes[rnd(this.nodes.length)]!;
    const i = rnd(this.o.cms);
    const link = node.links[i];
    const cm = this.cms[i]!;
    switch (rnd(8)) {
      case 0:
        if (link === undefined && cm.core) this.connect(node, i);
        else if (link && link.up.length > 0) this.deliverUp(i, link);
        break;
      case 1:
      case 2:
        if (link && link.up.length > 0) this.deliverUp(i, link);
        break;
      case 3:
        if (link && link.down.length > 0) this.comm(node, { type: 'received', cm: i, bytes: link.down.shift()! });
        break;
      case 4:
        for (const [t, r] of node.ranks) {
          for (let k = rnd(4); k > 0 && r.step(); k--);
          this.comm(node, {
            type: 'consumed',
            task: t,
            arrivals: r.endpoint.consumed,
            envelopeOnly: this.o.envelopes === true && rnd(6) === 0,
          });
          if (r.exitSuppressed) {
            node.ranks.delete(t);
            this.comm(node, { type: 'stop', task: t });
          }
        }
        break;
      case 5:
        if (!cm.core) this.startCm(i, false);
        else if (rnd(3) === 0) this.cm(i, { type: 'tick' });
        else if (rnd(9) === 0 && link) this.cm(i, { type: 'congested', conn: link.conn, congested: rnd(2) === 0 });
        break;
      case 6:
        if (cm.syncs.length > 0 && cm.core && (!this.o.slowSync || rnd(25) === 0)) this.finishSync(i);
        break;
      case 7:
        this.fault(node, i);
        break;
    }
  }

  deliverUp(i: number, link: Link): void {
    // One socket message may hold several frames.
    const parts = link.up.splice(0, 1 + this.rnd(3));
    // As ws gives it: a Buffer, whose slice() is a view.
    const bytes = Buffer.alloc(parts.reduce((n, p) => n + p.length, 0));
    let o = 0;
    for (const p of parts) {
      bytes.set(p, o);
      o += p.length;
    }
    this.cm(i, { type: 'frames', conn: link.conn, bytes });
    if (this.rnd(3) > 0) this.cm(i, { type: 'flush' });
  }

  finishSync(i: number): void {
    const cm = this.cms[i]!;
    const s = cm.syncs.shift()!;
    for (const [name, upTo] of s.upTo) {
      const log = cm.logs.get(name)!;
      log.synced = Math.max(log.synced, upTo);
    }
    this.cm(i, { type: 'synced', ticket: s.ticket });
  }

  fault(node: Node, i: number): void {
    if (this.rnd(40) > 0) return;
    const f = this.faults;
    const kind = this.rnd(4);
    if (kind === 0 && f.ranks > 0) {
      const t = this.tasks[this.rnd(this.tasks.length)]!;
      if (this.done[t]) return;
      f.ranks--;
      this.killTask(t);
    } else if (kind === 1 && f.links > 0 && node.links[i]) {
      f.links--;
      this.breakLink(node, i);
    } else if (kind === 2 && f.kills > 0 && this.cms[i]!.core) {
      f.kills--;
      this.killCm(i, false);
    } else if (kind === 3 && f.powerLosses > 0 && this.cms[i]!.core) {
      f.powerLosses--;
      this.killCm(i, true);
    }
  }

  /** Runs to the end. Returns how it ended. */
  run(limit = 400_000): 'done' | string {
    for (let n = 0; n < limit; n++) {
      this.step();
      if (this.failed) return this.failed;
      if (this.done.every(Boolean)) {
        this.check();
        return 'done';
      }
      // Nothing may stay congested for ever.
      if (n % 500 === 0)
        for (const node of this.nodes)
          node.links.forEach((l, i) => l && this.cm(i, { type: 'congested', conn: l.conn, congested: false }));
    }
    throw new Error(`seed ${this.o.seed}: not done after ${limit} steps: ${this.why()}`);
  }

  check(): void {
    for (const t of this.tasks) {
      const last = Buffer.from(this.output[t]!.at(-2)!).toString();
      expectTrue(
        last === `sum ${expected(this.o.shape, t).sum}\n`,
        `task ${t} printed ${last.trim()}, the answer is ${expected(this.o.shape, t).sum}`,
      );
      expectTrue(
        this.output[t]!.length === this.o.shape.rounds + 3,
        `task ${t} wrote ${this.output[t]!.length} messages`,
      );
    }
  }

  why(): string {
    return this.tasks
      .map((t) => {
        const r = this.where[t]!.ranks.get(t);
        return `${t}:${
          this.done[t]
            ? 'done'
            : r
              ? `at ${JSON.stringify(r.endpoint.line())} ${r.endpoint.replaying ? 'replaying' : 'live'} ready ` +
                `${r.waiting}`
              : 'not ready'
        }`;
      })
      .join(' | ');
  }
}

function expectTrue(ok: boolean, message: string): void {
  if (!ok) throw new Error(message);
}
