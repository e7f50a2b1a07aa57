/**
 * News of histories to viewers of the dashboard, once a second: what each of them draws, and nothing else.
 *
 * Owns: what each viewer looks at and what it has been sent.
 *  V4  A viewer gets columns of the width that it draws, of the ranks that it shows, when one of them has changed;
 *      cells of the matrix that have changed, in its bins; arrows with an end in its lanes. A viewer that is not
 *      writable is owed the same, later.
 *  V5  Messages are tapped only while somebody asks for arrows.
 */
import { packArrows, type JobId, type Look, type TimelineEvent, type ViewerEvents } from '@mayfly/wire';
import { clock } from '../clock.ts';
import { Arrows } from './arrows.ts';
import { binsOf, cellsOf, columnsOf } from './columns.ts';
import type { History } from './history.ts';
import type { JobHistory } from './job-history.ts';

/** The part of a socket that is needed here. */
export interface Viewer {
  emit<E extends 'timeline' | 'matrix' | 'arrows'>(event: E, ...news: Parameters<ViewerEvents[E]>): unknown;
  readonly writable: boolean;
}

interface Looking {
  look: Look & { job: JobId };
  /** Columns from here on have changed. */
  dirty: number;
  /** Events, faults and changes of teams that it has been told of. */
  told: number;
  faults: number;
  changes: number;
  ended: boolean;
  /** The archive was asked for its history. */
  recalled: boolean;
  turn: number;
  arrows: number;
  cells: Float64Array | undefined;
}

/** So many changed cells go out at once every third second only. */
const MANY_CELLS = 512;

export class HistoryFeed {
  readonly #history: History;
  readonly #viewers = new Map<Viewer, Looking>();
  readonly #arrows = new Map<JobId, Arrows>();
  #turn = 0;

  constructor(history: History) {
    this.#history = history;
    history.onChange = (job, from) => this.#changed(job, from);
  }

  /** After it, news only. */
  look(viewer: Viewer, look: (Look & { job: JobId }) | undefined): void {
    const before = this.#viewers.get(viewer);
    if (!look) this.#viewers.delete(viewer);
    else {
      const h = this.#history.running(look.job);
      const same = before?.look.job === look.job ? before : undefined;
      this.#viewers.set(viewer, {
        look,
        // Columns of another width or of other ranks are read by REST meanwhile; the newest ones may have changed
        // since.
        dirty: Math.min(same?.dirty ?? Infinity, h ? h.until - 3000 : Infinity),
        told: same?.told ?? h?.told ?? 0,
        faults: same?.faults ?? this.#history.faults(look.job).length,
        changes: same?.changes ?? this.#history.teamChanges(look.job).length,
        ended: same?.ended ?? false,
        recalled: false,
        turn: 0,
        arrows: same?.look.timeline?.arrows ? same.arrows : (this.#arrows.get(look.job)?.taken ?? 0),
        cells: undefined,
      });
    }
    for (const job of new Set([before?.look.job, look?.job])) if (job !== undefined) this.#tap(job);
  }

  #changed(job: JobId, from: number): void {
    for (const l of this.#viewers.values()) if (l.look.job === job && from < l.dirty) l.dirty = from;
  }

  /** V5. */
  #tap(job: JobId): void {
    const wanted = [...this.#viewers.values()].some((l) => l.look.job === job && l.look.timeline?.arrows);
    let arrows = this.#arrows.get(job);
    if (wanted && !arrows) this.#arrows.set(job, (arrows = new Arrows(clock)));
    if (!wanted) this.#arrows.delete(job);
    for (const t of this.#history.traffic(job)) t.tap = wanted ? arrows?.add : undefined;
  }

  tick(now = clock()): void {
    this.#turn++;
    // A job that has begun since has new counters.
    for (const job of this.#arrows.keys()) this.#tap(job);
    for (const [viewer, l] of this.#viewers) {
      if (!viewer.writable) continue;
      const h = this.#history.running(l.look.job) ?? (l.ended ? undefined : this.#history.near(l.look.job));
      if (!h) {
        // Of a job that ended before: it is near at the next turn.
        if (!l.ended && !l.recalled) void this.#history.of(l.look.job);
        l.recalled = true;
        continue;
      }
      if (l.look.timeline) this.#sendTimeline(viewer, l, h, l.look.timeline, now);
      if (l.look.matrix && (!l.ended || h.ended)) this.#sendMatrix(viewer, l, h, l.look.matrix);
      l.ended ||= h.ended && this.#history.running(l.look.job) === undefined;
    }
  }

  #sendTimeline(viewer: Viewer, l: Looking, h: JobHistory, t: NonNullable<Look['timeline']>, now: number): void {
    const { job } = l.look;
    // A column of a minute does not change every second as far as anybody can see.
    const due = l.turn++ % Math.max(1, Math.floor(t.widthMs / 2000)) === 0 || h.ended;
    const changes = this.#history.teamChanges(job, l.changes);
    const events: TimelineEvent[] = [
      ...(l.told < h.told ? h.events.slice(l.told - h.told) : []),
      ...this.#history.faults(job, l.faults),
      ...changes,
    ];
    l.told = h.told;
    l.changes += changes.length;
    l.faults += events.filter((e) => e.kind === 'fault').length;
    const moves = due && (l.dirty < Infinity || !h.ended);
    if (moves || events.length > 0) {
      const c = columnsOf(h, {
        from: moves ? Math.min(l.dirty, h.until) : h.until,
        to: h.until,
        first: t.first,
        last: t.last,
        widthMs: t.widthMs,
      });
      if (moves) l.dirty = Infinity;
      viewer.emit('timeline', { job, now, until: h.until, ended: h.ended, ...c, events });
    }
    const arrows = this.#arrows.get(job);
    if (!t.arrows || !arrows) return;
    const some = arrows.since(l.arrows, t.first, t.last);
    l.arrows = arrows.taken;
    if (some.length > 0) viewer.emit('arrows', { job, ...packArrows(some), oneIn: arrows.oneIn });
  }

  #sendMatrix(viewer: Viewer, l: Looking, h: JobHistory, m: NonNullable<Look['matrix']>): void {
    const rows = this.#history.matrixNear(l.look.job);
    if (!rows) return;
    const bins = binsOf([rows], h.size, m);
    const cells = cellsOf(bins, l.cells?.length === bins.cells.length ? l.cells : new Float64Array(bins.cells.length));
    if (cells.length === 0 || (cells.length > MANY_CELLS && l.cells && this.#turn % 3 !== 0)) return;
    l.cells = bins.cells;
    viewer.emit('matrix', {
      job: l.look.job,
      src: bins.src,
      dst: bins.dst,
      binned: bins.binned,
      cells: new Uint8Array(Float64Array.from(cells.flat()).buffer),
    });
  }
}
