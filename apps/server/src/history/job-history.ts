/**
 * The history of one job: what each rank's time went to, and what happened. Pure: time comes in as `now`.
 *
 * Owns: the lanes of the time line and the gauges of the charts (losable: written down at times, see store.ts), the
 * events that nobody else remembers. Does not own: faults, which the dispatcher keeps durably.
 *
 *  L1  A millisecond of a rank is accounted once: to what the rank says of itself, or to what the server knows
 *      (starting, dead, paused). What neither knows (a node fell silent; the server was away) is accounted to nothing.
 *  L2  Only the acting incarnation on its own node is believed, and never more than the time that has passed since it
 *      was heard last.
 *  L3  The end of the job is the end of its history: what ranks say afterwards belongs to the time up to it.
 *  L4  Memory: B2 of Buckets (9.4 MB at most), MOST_EVENTS events; assignments and images are thinned out, every second
 *      of the older half.
 */
import { Buckets, type BucketsRecord } from '@mayfly/protocols';
import { LANE_KINDS, SPENT, type Incarnation, type TaskId, type TimelineEvent, type WavesView } from '@mayfly/wire';
import { Gauges } from './gauges.ts';

const MOST_EVENTS = 4096;
/** A rank that begins is heard within this time; until then nobody knows whether it still starts. */
const UNSURE_MS = 2500;
/** The last seconds, of which {@link JobHistory.computed} speaks. */
const LATELY_MS = 10_000;
/** Events that are never thinned out. */
const KEPT = new Set<TimelineEvent['kind']>(['server', 'paused', 'resumed', 'rollback', 'rebuilt', 'fellBack']);
const kindAt = (kind: (typeof LANE_KINDS)[number]): number => LANE_KINDS.indexOf(kind);
const [COMPUTING, STARTING, DEAD, PAUSED] = [kindAt('computing'), kindAt('starting'), kindAt('dead'), kindAt('paused')];

interface Lane {
  /** 'new': it has never had a node. */
  state: 'new' | 'starting' | 'running' | 'dead' | 'done';
  incarnation: number;
  node: string | undefined;
  /** Up to here its time is accounted for, or nobody knows. */
  upTo: number;
  doneAt: number;
  spent: number[];
}

const newLane = (now: number): Lane => ({
  state: 'new',
  incarnation: -1,
  node: undefined,
  upTo: now,
  doneAt: 0,
  spent: [],
});

export interface HistoryRecord {
  buckets: BucketsRecord;
  gauges?: BucketsRecord;
  events: TimelineEvent[];
  leftOut: number;
  /** Under coordinated checkpointing. */
  waves?: WavesView | undefined;
}

export class JobHistory {
  readonly buckets: Buckets;
  readonly gauges: Gauges;
  /** What was known of its waves when the history was written. */
  readonly wavesBefore: WavesView | undefined;
  #size: number;
  /** When the job ended (L3). */
  #end: number | undefined;
  /** A moment whose columns have changed. */
  onChange: (from: number) => void = () => undefined;
  #events: TimelineEvent[] = [];
  #leftOut = 0;
  /** Events that there have been, for whoever asks what is new. */
  #told = 0;
  readonly #lanes: Lane[];
  #paused = false;
  #now: number;

  constructor(size: number, now: number, record?: HistoryRecord) {
    this.#size = size;
    // Written before the last of the tasks were spawned: they have no past.
    const restored =
      record && record.buckets.rows <= size && record.buckets.kinds === LANE_KINDS.length ? record : undefined;
    this.buckets = restored
      ? Buckets.of(restored.buckets)
      : new Buckets({ rows: size, kinds: LANE_KINDS.length, origin: now });
    this.buckets.grow(size);
    this.gauges = new Gauges(this.buckets.origin, restored?.gauges);
    this.wavesBefore = restored?.waves;
    this.#now = now;
    this.#lanes = Array.from({ length: size }, () => newLane(now));
    if (!restored) return;
    this.#events = restored.events;
    this.#told = restored.events.length;
    this.#leftOut = restored.leftOut;
  }

  get size(): number {
    return this.#size;
  }
  /** Tasks were spawned. */
  grow(size: number, now: number): void {
    for (; this.#size < size; this.#size++) this.#lanes.push(newLane(now));
    this.buckets.grow(size);
  }
  get since(): number {
    return this.buckets.origin;
  }
  get ended(): boolean {
    return this.#end !== undefined;
  }
  /** The end of its axis; the newest bucket may reach beyond it. */
  get until(): number {
    return this.#end ?? this.#now;
  }
  get events(): readonly TimelineEvent[] {
    return this.#events;
  }
  get leftOut(): number {
    return this.#leftOut;
  }
  get told(): number {
    return this.#told;
  }
  record(): HistoryRecord {
    return {
      buckets: this.buckets.record(),
      gauges: this.gauges.record(),
      events: this.#events,
      leftOut: this.#leftOut,
    };
  }

  note(event: TimelineEvent): void {
    this.#events.push({ ...event, at: Math.min(event.at, this.#end ?? event.at) });
    this.#told++;
    if (this.#events.length <= MOST_EVENTS) return;
    const half = this.#events.length >> 1;
    const kept = this.#events.filter((e, i) => i >= half || i % 2 === 0 || KEPT.has(e.kind));
    this.#leftOut += this.#events.length - kept.length;
    this.#events = kept.slice(-MOST_EVENTS);
  }

  // What the server knows

  assigned(task: TaskId, incarnation: Incarnation, node: string, now: number): void {
    const lane = this.#lanes[task];
    if (!lane || lane.state === 'done') return;
    this.#settleLane(task, lane, now, true);
    Object.assign(lane, {
      state: 'starting',
      incarnation,
      node,
      spent: [],
      upTo: Math.max(lane.upTo, now),
    } satisfies Partial<Lane>);
    this.note({ at: now, kind: 'assigned', task, incarnation });
  }
  /** An incarnation is lost: since `at` nobody acts for the task. */
  lost(task: TaskId, incarnation: Incarnation, at: number): void {
    const lane = this.#lanes[task];
    if (!lane || lane.state === 'done' || incarnation < lane.incarnation) return;
    this.#settleLane(task, lane, at, true);
    lane.state = 'dead';
    lane.upTo = Math.max(lane.upTo, at);
  }
  /** The server has started and finds the incarnation at work. */
  found(task: TaskId, incarnation: Incarnation, node: string | undefined, now: number): void {
    const lane = this.#lanes[task];
    if (lane?.state === 'new')
      Object.assign(lane, { state: 'running', incarnation, node, upTo: now } satisfies Partial<Lane>);
  }
  image(task: TaskId, kind: 'image' | 'imageBegun', now: number): void {
    const incarnation = this.#lanes[task]?.incarnation ?? -1;
    this.note({ at: now, kind, task, ...(incarnation < 0 ? {} : { incarnation: incarnation as Incarnation }) });
  }
  done(task: TaskId, now: number): void {
    const lane = this.#lanes[task];
    if (!lane || lane.state === 'done') return;
    if (lane.state === 'dead') this.#settleLane(task, lane, now);
    Object.assign(lane, { state: 'done', doneAt: now } satisfies Partial<Lane>);
    this.note({ at: now, kind: 'done', task });
  }
  pause(on: boolean, now: number): void {
    if (on === this.#paused) return;
    this.settle(now);
    this.#paused = on;
    for (const lane of this.#lanes) if (lane.state === 'new') lane.upTo = now;
    this.note({ at: now, kind: on ? 'paused' : 'resumed' });
  }

  /** What the rank says of itself (L2): `spent` so far, by SPENT. A rank that is done may have said it last. */
  heard(task: TaskId, incarnation: Incarnation, node: string, spent: readonly number[], now: number): void {
    const lane = this.#lanes[task];
    if (
      !lane ||
      lane.incarnation !== incarnation ||
      lane.node !== node ||
      lane.state === 'dead' ||
      lane.state === 'new'
    )
      return;
    const news = SPENT.map((_, k) => Math.max(0, (spent[k] ?? 0) - (lane.spent[k] ?? 0)));
    const sum = news.reduce((n, ms) => n + ms, 0);
    if (sum === 0) return;
    this.#now = Math.max(this.#now, now);
    // Its clock and ours differ by a few per cent: what it counts fills the time since it was heard, unless much is
    // missing.
    const first = lane.spent.length === 0;
    const end = Math.min(lane.state === 'done' ? lane.doneAt : now, this.#end ?? now);
    const from = first ? Math.max(lane.upTo, end - sum) : lane.upTo;
    const fill = Math.max(0, Math.round(sum >= 0.5 * (end - from) ? end - from : sum));
    if (first && from > lane.upTo) this.#add(task, STARTING, lane.upTo, from);
    let given = 0;
    let so = 0;
    news.forEach((ms, k) => {
      so += ms;
      const upTo = Math.round((fill * so) / sum);
      if (upTo > given) this.#credit(task, k, from, from + fill, upTo - given);
      given = upTo;
    });
    lane.spent = SPENT.map((_, k) => Math.max(spent[k] ?? 0, lane.spent[k] ?? 0));
    lane.upTo = Math.max(lane.upTo, end);
    if (lane.state === 'starting') lane.state = 'running';
  }

  /** What part of the known time of the last seconds the ranks computed, 0 to 1; undefined: none is known. */
  computed(now: number): number | undefined {
    if (this.#paused || this.#end !== undefined) return undefined;
    const { sums } = this.buckets.read(now - LATELY_MS, LATELY_MS, 1);
    let [computing, all] = [0, 0];
    sums.forEach((ms, i) => {
      all += ms;
      if (i % LANE_KINDS.length === COMPUTING) computing += ms;
    });
    return all === 0 ? undefined : computing / all;
  }

  /** Accounts for what the server knows, up to now. */
  settle(now: number): void {
    this.#now = Math.max(this.#now, now);
    if (this.#end !== undefined) return;
    this.#lanes.forEach((lane, task) => this.#settleLane(task as TaskId, lane, this.#now));
  }
  /**
   * Nothing happens after `at`; what was seen of it since is dated back. Ranks may have to say what they did before.
   */
  end(at: number): void {
    this.settle(at);
    for (const lane of this.#lanes)
      if (lane.state === 'dead' || lane.state === 'new')
        Object.assign(lane, { state: 'done', doneAt: at } satisfies Partial<Lane>);
    this.#events = this.#events.map((e) => (e.at > at ? { ...e, at } : e));
    this.#end = Math.max(at, this.since);
  }

  /** Nobody says anything any more: who has said nothing never got beyond starting. */
  close(): void {
    const end = this.until;
    this.#lanes.forEach((lane, task) => {
      this.#settleLane(task as TaskId, lane, end, true);
      if (lane.state === 'starting') Object.assign(lane, { state: 'done', doneAt: end } satisfies Partial<Lane>);
    });
  }

  #settleLane(task: TaskId, lane: Lane, now: number, turns = false): void {
    const kind =
      lane.state === 'starting'
        ? STARTING
        : lane.state === 'dead' || (lane.state === 'new' && this.#paused)
          ? this.#paused
            ? PAUSED
            : DEAD
          : -1;
    if (kind < 0) return;
    const to = lane.state === 'starting' && !turns ? now - UNSURE_MS : now;
    if (to <= lane.upTo) return;
    this.#add(task, kind, lane.upTo, to);
    lane.upTo = to;
  }

  #add(task: TaskId, kind: number, from: number, to: number): void {
    this.#credit(task, kind, from, to, Math.round(to - from));
  }
  #credit(task: TaskId, kind: number, from: number, to: number, ms: number): void {
    this.buckets.add(task, kind, from, to, ms);
    this.onChange(from);
  }
}
