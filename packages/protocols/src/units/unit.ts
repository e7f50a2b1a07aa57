/**
 * A unit of recovery whose tasks take their checkpoints together: all tasks of a job (`vcl`, `pcl`), or those of a
 * cluster (`hc3i`). One checkpoint of a unit is a wave. This core decides who takes part in a wave and when the wave is
 * complete.
 *
 * Owns: which tasks have begun and ended; the wave under way and who has answered; how long a wave may take. Does not
 * own: when a wave is wanted, which waves are kept, what a loss goes back to (coordinated/waves.ts,
 * hc3i/federation.ts); channels, images, output.
 *
 *  unit.1 One wave at a time. An answer counts for the wave that it names, until that one is complete.
 *  unit.2 A task that is on its way back to an image can neither take part nor be left out: the wave waits for it.
 *  unit.3 The outside cuts last: its mark is asked for when every task has cut.
 *  unit.4 A wave is complete when everything that it needs is durable: all images, and what its owner names
 *         ({@link UnitOwner.durable}). Its cut is consistent, or the wave is abandoned.
 *  unit.5 The image of a task goes with the task: if the task ends after its cut, and the image is not here, the wave
 *         is abandoned.
 *  unit.6 A wave ends after {@link WaveSettings.waveMs} at the latest. A rank answers at its next MPI call, and may
 *         compute for longer than that: after a wave that took too long, the next one may take twice as long, up to
 *         {@link MOST_PATIENCE}.
 *
 * Worked example, three tasks of which task 2 has ended:
 *
 *     begin 5      task 0: cut ── image        task 1: cut ─────────── image
 *     members 0, 1          both have cut: mark ──▶ outside
 *                                              marked, both recorded, both images: complete
 *
 * If task 1 ends between its cut and its image, nobody can hand in that image: wave 5 is abandoned, and wave 6 has task
 * 1 among those that have ended.
 */
import type { TaskId } from '@mayfly/wire';
import type { TaskAnswer, TaskOfWave, WaveSettings } from '../contract/waves.ts';
import { contradiction } from './cut.ts';
import { Period } from './period.ts';
import { WaveUnderWay } from './under-way.ts';

/** unit.6, ms. */
const MOST_PATIENCE = 3_600_000;
/** A wave that cannot be had so often in a row is shown to people. */
const WARN_AFTER = 3;

/** An answer to the wave that it names. */
export type WaveAnswer = TaskAnswer | { readonly type: 'marked'; readonly wave: number; readonly mark: unknown };

export interface WaveBegins {
  readonly wave: number;
  /** They have ended: everything that they sent is here. */
  readonly ended: readonly TaskId[];
  /** They have not begun: their cut is their start. */
  readonly starting: readonly TaskId[];
}

/** Whoever wants the waves of a unit. Each method is called within a step of the unit. */
export interface UnitOwner {
  /** As people read it: `wave 3`, `CLC 3 of cluster 1`. */
  nameOf(wave: number): string;
  begins(wave: WaveBegins): void;
  /** unit.3. */
  mark(wave: number): void;
  /** unit.4, besides the images. */
  durable(tasks: readonly TaskOfWave[], wave: WaveUnderWay): boolean;
  completes(wave: WaveUnderWay, tasks: readonly TaskOfWave[]): void;
  /** The wave is gone. `log` says so to people. */
  abandoned(wave: number, reason: string, log: { readonly level: 'info' | 'warn'; readonly message: string }): void;
  /** A defect. */
  error(message: string): void;
}

export class Unit {
  readonly period: Period;
  readonly began = new Set<TaskId>();
  readonly ended = new Set<TaskId>();
  /** They go on from an image, and have not begun yet. */
  readonly #returning = new Set<TaskId>();
  readonly #owner: UnitOwner;
  #tasks: readonly TaskId[];
  #wave: WaveUnderWay | undefined;
  /** unit.6, ms. */
  #patience: number;
  /** Waves in a row. */
  #abandoned = 0;

  constructor(tasks: readonly TaskId[], { waveMs, periodMs }: WaveSettings, owner: UnitOwner) {
    this.#tasks = tasks;
    this.#patience = waveMs;
    this.period = new Period(periodMs);
    this.#owner = owner;
  }

  get tasks(): readonly TaskId[] {
    return this.#tasks;
  }

  get wave(): WaveUnderWay | undefined {
    return this.#wave;
  }

  get allEnded(): boolean {
    return this.#tasks.every((t) => this.ended.has(t));
  }

  grow(tasks: readonly TaskId[]): void {
    this.#tasks = tasks;
  }

  // ---- what tasks do ----

  begins(task: TaskId): void {
    this.began.add(task);
    this.#returning.delete(task);
  }

  ends(task: TaskId): void {
    const w = this.#wave;
    this.ended.add(task);
    if (w && !w.complete && w.cuts.has(task) && !w.images.has(task))
      this.abandon(`rank ${task} ended before its image was here`); // unit.5
    else this.maybeComplete();
  }

  /** The tasks begin there; no wave is under way. */
  goesBack(to: readonly TaskOfWave[]): void {
    this.#wave = undefined;
    for (const of of [this.began, this.ended, this.#returning]) of.clear();
    for (const { task, state } of to)
      if (state === 'ended') this.ended.add(task);
      else if (state === 'image') this.#returning.add(task);
  }

  // ---- a wave ----

  /** unit.1, unit.2. */
  get mayBegin(): boolean {
    if (this.#wave || (this.began.size === 0 && !this.allEnded)) return false;
    return this.#tasks.every((t) => this.ended.has(t) || !this.#returning.has(t));
  }

  /** Only if {@link mayBegin}. */
  begin(wave: number, now: number): void {
    const members = new Set(this.#tasks.filter((t) => !this.ended.has(t) && this.began.has(t)));
    this.#wave = new WaveUnderWay({ number: wave, since: now, members, ended: this.ended });
    this.#owner.begins(this.underWay!);
    this.maybeComplete();
  }

  /** What a Channel Memory has to know of the wave under way. */
  get underWay(): WaveBegins | undefined {
    const w = this.#wave;
    return w && { wave: w.number, ended: [...this.ended], starting: w.startingOf(this.#tasks) };
  }

  answer(e: WaveAnswer): void {
    const w = this.#wave;
    if (!w || w.complete || !this.counts(e.wave)) return;
    switch (e.type) {
      case 'cut':
        if (w.members.has(e.task)) w.cuts.set(e.task, e.cut);
        break;
      case 'stored':
        if (!w.members.has(e.task)) return;
        w.images.set(e.task, e.image);
        if (e.near) w.near.add(e.task);
        break;
      case 'recorded':
        w.recorded.add(e.task);
        break;
      case 'marked':
        w.mark ??= { value: e.mark };
        break;
      case 'cannot':
        return this.abandon(`rank ${e.task} cannot take an image now: ${e.reason}`);
    }
    this.maybeComplete();
  }

  /** unit.1. */
  protected counts(wave: number): boolean {
    return this.#wave?.number === wave;
  }

  /** unit.6. */
  tick(now: number): void {
    const w = this.#wave;
    if (!w || w.complete || now - w.since <= this.#patience) return;
    const missing = w.missing(this.ended);
    const why = missing === undefined ? 'its images' : `rank ${missing}, whose next MPI call has not come,`;
    this.#patience = Math.min(MOST_PATIENCE, 2 * this.#patience);
    this.abandon(`${why} took too long; the next one may take ${Math.round(this.#patience / 1000)} s`);
  }

  /** The wave under way is durable. */
  committed(now: number): void {
    if (this.#wave) this.period.took(now - this.#wave.since);
    this.#wave = undefined;
    this.#abandoned = 0;
  }

  /** The wave under way cannot be had. */
  abandon(reason: string): void {
    const w = this.#wave;
    if (!w) return;
    this.#wave = undefined;
    this.#abandoned++;
    const message = `${this.#owner.nameOf(w.number)} is abandoned: ${reason}`;
    this.#owner.abandoned(w.number, reason, { level: this.#abandoned >= WARN_AFTER ? 'warn' : 'info', message });
  }

  /** The wave under way ends with what it belongs to, and nobody hears of it. */
  drop(): void {
    this.#wave = undefined;
  }

  /** unit.4. The owner calls it when something has come that it names in {@link UnitOwner.durable}. */
  maybeComplete(): void {
    const w = this.#wave;
    if (!w || w.complete || w.missing(this.ended) !== undefined) return;
    if (!w.markAsked) {
      w.markAsked = true;
      this.#owner.mark(w.number); // unit.3
    }
    const tasks = w.tasks(this.#tasks, this.ended);
    if (!tasks || !this.#owner.durable(tasks, w)) return;
    const wrong = contradiction(w.cutsOf(tasks));
    if (wrong) {
      const name = this.#owner.nameOf(w.number);
      this.#owner.error(`${name}: rank ${wrong.dst} has consumed what rank ${wrong.src} has not sent`);
      return this.abandon('its cut is not consistent (INCONSISTENT_WAVE)');
    }
    w.complete = true;
    this.#owner.completes(w, tasks);
  }
}
