/**
 * How the slots of every node were used lately: fed by heartbeats, and by the dispatcher's view of nodes. Pure: time
 * comes in as `now`.
 *
 * Owns: a ring per node, the last report of each rank, and the last state of a node after the dispatcher has forgotten
 * it. Does not own: who is here, and which rank is where.
 *
 *  U1  A millisecond of a slot is accounted once at most: to what its rank says of itself, to `starting`, to `idle`, or
 *      to `silent`.
 *  U2  A node that is not heard for as long as the dispatcher calls it suspect was silent since it was heard last,
 *      whatever it tells of that time later. Of one that is gone nothing is accounted.
 *  U3  A rank is believed if the dispatcher has given it to that node, and for no more than the time that has passed
 *      since it last had news. What it spent before it was first heard of here, or while the node was silent, is not
 *      known.
 *  U4  At most `most` nodes; what has nothing in its ring any more and is not here goes, and so does, when there are
 *      more, who was heard longest ago.
 */
import {
  SLOT_KINDS,
  SPENT,
  type Heartbeat,
  type Incarnation,
  type JobId,
  type NodeId,
  type NodeView,
  type TaskId,
} from '@mayfly/wire';
import { COLUMNS, KINDS, SlotRing, WIDTH_MS } from './slot-ring.ts';

const [STARTING, IDLE, SILENT] = [
  SLOT_KINDS.indexOf('starting'),
  SLOT_KINDS.indexOf('idle'),
  SLOT_KINDS.indexOf('silent'),
];
/**
 * Clocks differ by a few per cent, and a message takes a while: what a rank counts fills the time since it was heard,
 * unless much is missing.
 */
const MUCH = 0.5;
/** What a rank has not told of yet may come later, so much at most. */
const LAG_MS = 5000;
/** A column is told of so long after its end: what belongs to it has been heard by then, unless a node is silent. */
const LATE_MS = 1500;

/** A rank as it was heard last. */
interface Seat {
  job: JobId;
  task: TaskId;
  incarnation: Incarnation;
  started: boolean;
  /**
   * Up to here its time is accounted for, or nobody knows: a node may say the same twice, and twice as much then
   * (LAG_MS).
   */
  upTo: number;
  readonly spent: Float64Array;
  /** Number of the heartbeat that named it last. */
  named: number;
}

interface Node {
  readonly ring: SlotRing;
  /** Up to here its time is accounted for, or nobody knows. */
  upTo: number;
  /** As it was when it was looked at last. */
  state: 'here' | 'silent' | 'away';
  heardAt: number;
  heartbeats: number;
  /** Bytes that its ranks have together, as far as they say so. */
  memory: number;
  readonly seats: Seat[];
  /** As the dispatcher has said last. */
  view: NodeView | undefined;
  /** Of a lesson: no part of the pool. */
  readonly apart: boolean;
}

/** Columns of some nodes. */
export interface SlotColumns {
  from: number;
  columns: number;
  nextMs: number;
  nodes: NodeId[];
  /** By [node][column][kind], hundredths of a slot. */
  slots: Uint16Array;
}

export class SlotUse {
  readonly #nodes = new Map<NodeId, Node>();
  readonly #most: number;
  #ticks = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * A heartbeat. `slots`, `busy`: of the node, as the dispatcher says after it; `isHere`: its word on whether the rank
   * was given to this node and nobody acts for it since. `apart`: a node of a lesson.
   */
  heard(
    id: NodeId,
    tasks: Heartbeat['tasks'],
    slots: number,
    busy: number,
    isHere: (job: JobId, task: TaskId, incarnation: Incarnation) => boolean,
    now: number,
    apart = false,
  ): void {
    const node = this.#nodes.get(id) ?? this.#came(id, now, apart);
    const from = Math.min(node.upTo, now);
    const span = now - from;
    node.heartbeats++;
    let seated = 0;
    let memory = 0;
    for (let i = 0; i < tasks.length; i++) {
      const t = tasks[i]!;
      if (!isHere(t.job, t.task, t.incarnation)) continue;
      const seat = seatOf(node, t, seated, from);
      if (seat.named === node.heartbeats) continue; // named twice
      if (seat.incarnation !== t.incarnation) begin(seat, t.incarnation, from);
      seat.named = node.heartbeats;
      seated++;
      memory += t.memory ?? 0;
      account(node.ring, seat, t, now, node.state === 'here');
    }
    node.memory = memory;
    if (memory > 0) node.ring.level(now, memory);
    // Those that it names no more are over.
    for (let i = node.seats.length - 1; i >= 0; i--)
      if (node.seats[i]!.named !== node.heartbeats) node.seats.splice(i, 1);
    const all = Math.max(slots, busy, seated);
    if (node.state === 'here') node.ring.add(IDLE, from, now, (all - Math.max(busy, seated)) * span);
    else if (node.state === 'silent') node.ring.add(SILENT, from, now, all * span);
    node.upTo = node.heardAt = now;
    node.state = 'here';
  }

  /** Once a second: all nodes that the dispatcher knows. */
  tick(views: readonly NodeView[], now: number): void {
    this.#ticks++;
    for (const view of views) {
      const node = this.#nodes.get(view.id);
      if (!node) continue;
      node.view = view;
      if (view.state === 'here') continue;
      if (view.state === 'suspect')
        node.ring.add(SILENT, node.upTo, now, Math.max(view.slots, view.busy) * (now - node.upTo));
      node.upTo = now;
      node.state = view.state === 'suspect' ? 'silent' : 'away';
    }
    // U4
    if (this.#ticks % 10 !== 0) return;
    for (const [id, node] of this.#nodes) if (now - node.heardAt > COLUMNS * WIDTH_MS) this.#nodes.delete(id);
  }

  #came(id: NodeId, now: number, apart: boolean): Node {
    if (this.#nodes.size >= this.#most) {
      const [oldest] = [...this.#nodes].reduce((a, b) => (b[1].heardAt < a[1].heardAt ? b : a));
      this.#nodes.delete(oldest);
    }
    const node: Node = {
      ring: new SlotRing(),
      upTo: now,
      state: 'here',
      heardAt: now,
      heartbeats: 0,
      memory: 0,
      seats: [],
      view: undefined,
      apart,
    };
    this.#nodes.set(id, node);
    return node;
  }

  /**
   * A node that the dispatcher knows no more, as it was last; undefined: it was never here, or is forgotten here, too.
   */
  gone(id: NodeId): NodeView | undefined {
    const view = this.#nodes.get(id)?.view;
    return view && { ...view, state: 'gone', busy: 0 };
  }

  /** Columns that are over, from this moment on, or all. */
  columns(ids: readonly NodeId[], from: number, now: number): SlotColumns {
    const end = Math.floor((now - LATE_MS) / WIDTH_MS);
    const first = Math.min(end, Math.max(end - COLUMNS + 1, Math.floor(from / WIDTH_MS)));
    const columns = Math.min(end - first, COLUMNS);
    const nodes = ids.filter((id) => this.#nodes.has(id));
    const slots = new Uint16Array(nodes.length * columns * KINDS);
    nodes.forEach((id, n) => this.#nodes.get(id)!.ring.read(first, columns, slots, n * columns * KINDS));
    return { from: first * WIDTH_MS, columns, nextMs: (end + 1) * WIDTH_MS + LATE_MS - now, nodes, slots };
  }

  /** Bytes of memory of all ranks of a node, from its last heartbeat; 0: none reported. */
  memoryNow(id: NodeId): number {
    return this.#nodes.get(id)?.memory ?? 0;
  }

  /** The same in these columns. */
  memory(id: NodeId, { from, columns }: Pick<SlotColumns, 'from' | 'columns'>): (number | null)[] {
    return this.#nodes.get(id)?.ring.levels(from / WIDTH_MS, columns) ?? [];
  }

  /** Nodes that run people's jobs. */
  get pool(): NodeId[] {
    return [...this.#nodes].flatMap(([id, node]) => (node.apart ? [] : [id]));
  }
}

/** Ranks are named in the same order mostly: `near` is where it is looked for first. */
function seatOf(node: Node, t: Heartbeat['tasks'][number], near: number, from: number): Seat {
  const { seats } = node;
  for (let i = 0; i < seats.length; i++) {
    const s = seats[(near + i) % seats.length]!;
    if (s.task === t.task && s.job === t.job) return s;
  }
  const seat: Seat = {
    job: t.job,
    task: t.task,
    incarnation: t.incarnation,
    started: false,
    upTo: from,
    spent: new Float64Array(SPENT.length),
    named: 0,
  };
  seats.push(seat);
  return seat;
}

function begin(seat: Seat, incarnation: Incarnation, from: number): void {
  seat.incarnation = incarnation;
  seat.started = false;
  seat.upTo = from;
  seat.spent.fill(0);
}

/** U3. Not `heard`: the node was silent or away, and only what the rank has spent so far is taken down. */
function account(ring: SlotRing, seat: Seat, t: Heartbeat['tasks'][number], now: number, heard: boolean): void {
  const { spent } = t;
  const from = Math.min(now, Math.max(seat.upTo, now - LAG_MS));
  const span = now - from;
  if (!t.started || !spent) {
    if (heard) ring.add(STARTING, from, now, span);
    seat.upTo = now;
    return;
  }
  let sum = 0;
  for (let k = 0; k < SPENT.length; k++) sum += Math.max(0, (spent[k] ?? 0) - seat.spent[k]!);
  const begins = !seat.started;
  // One that has lived for longer than this was not heard of from its beginning on.
  const known = heard && !(begins && sum > span);
  const fills = sum > span || (!begins && sum >= MUCH * span);
  const to = fills || begins ? now : from + sum;
  for (let k = 0; k < SPENT.length; k++) {
    const all = spent[k] ?? 0;
    if (known) ring.add(k, from, to, Math.max(0, all - seat.spent[k]!) * (fills ? span / sum : 1));
    seat.spent[k] = Math.max(all, seat.spent[k]!);
  }
  if (begins && known) ring.add(STARTING, from, now, span - sum);
  seat.started = true;
  seat.upTo = heard ? to : now;
}
