/**
 * What people want to know of the waves of a job: how long each took, what it cost, and what each rollback undid. Pure;
 * nothing that a job does depends on it.
 *
 * Owns: figures of the newest waves and rollbacks, sums of all; how much each task has worked. Does not own: what a
 * wave is (unit.ts).
 *
 *  B1 The *position* of a task is how long it has worked on its way from its start, without what was undone. A cut
 *     notes it; a rollback sets it back to the cut that it goes back to, and the difference is what was lost.
 *  B2 A task repeats work while its position is below the furthest that it has ever had.
 *  B3 Bounded: {@link LISTED_WAVES} waves and rollbacks; positions of the waves that are kept.
 */
import { LISTED_WAVES, type RollbackView, type TaskId, type WaveView, type WavesView } from '@mayfly/wire';
import type { GateCounts, WaveRecord } from '../contract/waves.ts';
import type { WaveNews } from '../service/part.ts';

interface Work {
  /** Its position when it began to act, or now, if it does not. */
  base: number;
  /** Since when it acts. */
  since: number | undefined;
  furthest: number;
}

interface Figures {
  readonly view: WaveView;
  /** ms, by task. */
  readonly stalls: Map<TaskId, number>;
  /** B1. */
  readonly positions: Map<TaskId, number>;
}

export class WaveStatistics {
  readonly #work = new Map<TaskId, Work>();
  /** B1, by wave. */
  readonly #positions = new Map<number, ReadonlyMap<TaskId, number>>();
  readonly #recent: Figures[] = [];
  readonly #rolledBack: RollbackView[] = [];
  /** The wave of a task's last cut. */
  readonly #lastCut = new Map<TaskId, Figures>();
  #loss: { at: number; cause: string; ranks: Set<TaskId> } | undefined;
  #sums = { committed: 0, abandoned: 0, rollbacks: 0, lostMs: 0 };

  // ---- what happens ----

  began(task: TaskId, now: number): void {
    const w = this.#workOf(task);
    w.since ??= now;
  }

  /** Its program has run since then: before, it loaded its image. */
  ran(task: TaskId, since: number): void {
    const w = this.#work.get(task);
    if (w?.since !== undefined) w.since = Math.max(w.since, since);
  }

  ended(task: TaskId, now: number): void {
    this.#rest(this.#workOf(task), now);
  }

  waveBegins(wave: number, now: number, forced = false): void {
    const view: WaveView = {
      wave,
      ...(forced && { forced: true as const }),
      at: now,
      state: 'underWay',
      images: 0,
      imageBytes: 0,
      sentBytes: 0,
      recorded: 0,
      recordedBytes: 0,
      held: 0,
      heldBytes: 0,
    };
    this.#recent.push({ view, stalls: new Map(), positions: new Map() });
    if (this.#recent.length > LISTED_WAVES) this.#recent.shift();
  }

  cut(wave: number, task: TaskId, now: number): void {
    const f = this.#find(wave);
    if (!f) return;
    f.positions.set(task, positionOf(this.#workOf(task), now));
    this.#lastCut.set(task, f);
  }

  stored(wave: number, bytes: number, sentBytes: number): void {
    const view = this.#find(wave)?.view;
    if (!view) return;
    view.images++;
    view.imageBytes += bytes;
    view.sentBytes += sentBytes;
  }

  /** `near`: of its images some are with the nodes only. */
  waveOver(
    wave: number,
    now: number,
    reason: string | undefined,
    counts: readonly GateCounts[],
    near = false,
  ): WaveNews | undefined {
    const f = this.#find(wave);
    if (!f) return undefined;
    const { view } = f;
    view.ms = Math.max(0, now - view.at);
    for (const c of counts) {
      view.recorded += c.recorded;
      view.recordedBytes += c.recordedBytes;
      view.held += c.held;
      view.heldBytes += c.heldBytes;
    }
    if (reason !== undefined) {
      Object.assign(view, { state: 'abandoned', reason });
      this.#sums.abandoned++;
      return undefined;
    }
    view.state = 'committed';
    this.#sums.committed++;
    for (const [task, w] of this.#work)
      if (!f.positions.has(task)) f.positions.set(task, w.since === undefined ? w.base : 0);
    if (near) view.near = true;
    this.#positions.set(wave, f.positions);
    return { kind: 'wave', at: now, wave, ms: view.ms };
  }

  /** All its images are at the server by now. */
  madeWhole(wave: number): void {
    for (const { view } of this.#recent) if (view.wave === wave) delete view.near;
  }

  forget(wave: number): void {
    this.#positions.delete(wave);
  }

  /** Tasks stop; several losses before the next line are one rollback. `ranks`: who was lost. */
  lost(cause: string, ranks: readonly TaskId[], now: number): void {
    const loss = (this.#loss ??= { at: now, cause, ranks: new Set() });
    for (const r of ranks) loss.ranks.add(r);
    for (const w of this.#work.values()) this.#rest(w, now);
  }

  /** They go back because others do, unless one of them was lost. @returns whether they do */
  depends(cause: string, now: number): boolean {
    const depends = !this.#loss;
    if (depends) this.lost(cause, [], now);
    return depends;
  }

  /**
   * After a restart of the server, before the first line: tasks have worked since their last wave until the server was
   * last there.
   */
  restarted(
    last: WaveRecord | undefined,
    tasks: Iterable<TaskId>,
    worked: { readonly since: number; readonly until: number },
    now: number,
  ): void {
    for (const task of tasks) {
      const ended = last?.tasks.find((t) => t.task === task)?.state === 'ended';
      const ms = ended ? 0 : Math.max(0, worked.until - (last?.at ?? worked.since));
      this.#work.set(task, { base: ms, since: undefined, furthest: ms });
    }
    this.#loss = { at: now, cause: 'server', ranks: new Set() };
  }

  /**
   * Everybody goes back (B1). A line that another loss makes void undoes nothing more. `alertedBy`: because these other
   * clusters do.
   */
  goesBack(epoch: number, to: WaveRecord | undefined, now: number, alertedBy?: number[]): WaveNews {
    const loss = this.#loss ?? { at: now, cause: 'server', ranks: new Set<TaskId>() };
    this.#loss = undefined;
    const positions = to && this.#positions.get(to.wave);
    let [lostMs, mostMs] = [0, 0];
    for (const [task, w] of this.#work) {
      this.#rest(w, now);
      const back = Math.min(w.base, positions?.get(task) ?? 0);
      lostMs += w.base - back;
      mostMs = Math.max(mostMs, w.base - back);
      w.base = back;
    }
    const wave = to?.wave ?? 0;
    const rounded = { lostMs: Math.round(lostMs), mostMs: Math.round(mostMs) };
    const alerted = alertedBy && { alertedBy };
    const { at, cause, ranks } = loss;
    this.#rolledBack.push({ at, epoch, wave, cause, ranks: [...ranks], ...alerted, ...rounded });
    if (this.#rolledBack.length > LISTED_WAVES) this.#rolledBack.shift();
    this.#sums.rollbacks++;
    this.#sums.lostMs += rounded.lostMs;
    return { kind: 'rollback', at, wave, ms: rounded.lostMs, cause, ...alerted };
  }

  /** A task has stood still for an image, for so long. */
  stalled(task: TaskId, ms: number): void {
    const stalls = this.#lastCut.get(task)?.stalls;
    stalls?.set(task, (stalls.get(task) ?? 0) + ms);
  }

  // ---- what is known ----

  /** B2: until when the task repeats work; undefined: it does not act. */
  repeatsUntil(task: TaskId): number | undefined {
    const w = this.#work.get(task);
    return w?.since === undefined ? undefined : w.since + (w.furthest - w.base);
  }

  /** How long the task stood still for its newest image, ms. */
  stallOf(task: TaskId): number | undefined {
    return this.#lastCut.get(task)?.stalls.get(task);
  }

  view(next: Pick<WavesView, 'periodMs' | 'askedMs' | 'chosen' | 'nextAt'>): WavesView {
    return {
      ...next,
      ...this.#sums,
      recent: this.#recent.map(({ view, stalls }) => {
        const all = [...stalls.values()];
        if (all.length === 0) return { ...view };
        const sum = all.reduce((n, ms) => n + ms, 0);
        return { ...view, stallMs: { mean: tenths(sum / all.length), most: tenths(Math.max(...all)) } };
      }),
      rolledBack: this.#rolledBack.map((r) => ({ ...r })),
    };
  }

  // ---- within ----

  #find(wave: number): Figures | undefined {
    const f = this.#recent.at(-1);
    return f?.view.wave === wave && f.view.state === 'underWay' ? f : undefined;
  }

  #workOf(task: TaskId): Work {
    let w = this.#work.get(task);
    if (!w) this.#work.set(task, (w = { base: 0, since: undefined, furthest: 0 }));
    return w;
  }

  #rest(w: Work, now: number): void {
    w.base = positionOf(w, now);
    w.since = undefined;
    w.furthest = Math.max(w.furthest, w.base);
  }
}

const positionOf = (w: Work, now: number): number => w.base + (w.since === undefined ? 0 : Math.max(0, now - w.since));

const tenths = (ms: number): number => Math.round(10 * ms) / 10;
