/**
 * The checkpoint scheduler of a job: "The goal of checkpoint scheduler is to manage the checkpoint waves"
 * (blocking-vs-nonblocking, section 4.1). It decides when a wave begins, when it counts, and what a loss goes back to.
 *
 * Owns: the committed waves that are kept, the commit and the rollback under way, the epoch. Does not own: who has
 * answered in the wave under way (units/unit.ts), channels (gate.ts), images (Checkpoint Server), output and files (the
 * outside), incarnations and slots (dispatcher). Each of them performs an effect and answers with an event.
 *
 * Durable: `wave/<job>/<number>`, one record for each committed wave; `line/<job>`, the epoch and the wave that it
 * began from, in one commit with new incarnations of all tasks.
 *
 *  W1 Numbers of waves rise, and none is used twice within an epoch.
 *  W2 A wave counts when its record is durable. Before that commit everything that it needs is durable: all images, the
 *     wave streams, the mark of the outside.
 *  W3 Two waves are kept; the start of the program is the first of them. What the outside has seen is before the older
 *     one (`release`): falling back to it undoes nothing that was shown.
 *  W5 A loss ends the wave under way, but waits for the outcome of a commit.
 *  W6 All tasks go back together, to the newest wave that is sound: a new epoch and new incarnations are durable before
 *     anybody is fenced; everybody has gone back before any task is assigned. Another loss begins again at the choice.
 *  W7 The time to the next wave counts from the end of a wave.
 *  W8 An exit is final when all tasks have ended and a last wave, which has no images, is durable.
 *  W9 Of a job with parity, only a wave whose number `wholeEvery` divides has all its images at the server. Those of
 *     another wave may be with the nodes (level 1): it is *near*. One of `wholeEvery` is whole, and so is one that
 *     somebody asks for. A near wave is kept beside the two whole ones, while it is the newest: it releases nothing and
 *     lets no whole one go. A rollback to it first brings all its images to the server; from then on it is whole. If
 *     that cannot be had, the rollback goes to the newest whole wave.
 */
import { taskId, type TaskId } from '@mayfly/wire';
import {
  lineKey,
  waveKey,
  type Due,
  type LineRecord,
  type TaskOfWave,
  type WaveEffect,
  type WaveEvent,
  type WaveOptions,
  type WaveRecord,
} from '../contract/waves.ts';
import type { WaveUnderWay } from '../units/under-way.ts';
import { Unit } from '../units/unit.ts';
import { Levels, stay, withStart } from './levels.ts';

type Rolling =
  | { readonly step: 'check'; readonly wave: number }
  | { readonly step: 'line'; readonly line: LineRecord }
  | {
      readonly step: 'back';
      readonly epoch: number;
      readonly to: WaveRecord | undefined;
      readonly waiting: Set<string>;
    };

/** The first tasks of a job. */
const first = (tasks: number): TaskId[] => Array.from({ length: tasks }, (_, t) => taskId(t));

/** Where every job begins. */
const startOfProgram: LineRecord = { epoch: 0, wave: 0 };

export class Waves {
  readonly #o: WaveOptions;
  /** W3: oldest first; undefined is the start of the program. */
  #kept: (WaveRecord | undefined)[] = [undefined];
  #line: LineRecord = startOfProgram;
  #next = 1;
  readonly #unit: Unit;
  /** Of the wave under way: its commit is, too. */
  #record: WaveRecord | undefined;
  #rolling: Rolling | undefined;
  /** Their records go with the next line: what they were part of is no longer the history of the job. */
  readonly #damaged = new Set<number>();
  /** A task was lost while a commit was under way. */
  #lost = false;
  #finished = false;
  #due: (Due & { readonly at: number }) | undefined;
  #asked = false;
  /** W9. */
  readonly #levels: Levels;
  #now = 0;
  #out: WaveEffect[] = [];

  constructor(options: WaveOptions) {
    this.#o = options;
    this.#unit = this.unit(first(options.tasks), options.settings, {
      nameOf: (wave) => `wave ${wave}`,
      begins: (wave) => this.#out.push({ type: 'begin', ...wave }),
      mark: (wave) => this.#out.push({ type: 'mark', wave }),
      durable: (tasks, w) => this.durable(tasks, w.recorded, w.mark !== undefined),
      completes: (w, tasks) => this.#commit(w, tasks),
      abandoned: (wave, reason, { level, message }) => this.#abandoned(wave, reason, level, message),
      error: (message) => this.#log('error', message),
    });
    this.#levels = new Levels(options.settings.wholeEvery);
  }

  /** The epoch whose incarnations act. */
  get epoch(): number {
    return this.#line.epoch;
  }

  /** Committed waves that are kept, oldest first; 0: the start of the program. */
  get kept(): number[] {
    return this.#kept.map((w) => w?.wave ?? 0);
  }

  /** The wave under way. */
  get underWay(): number | undefined {
    return this.#unit.wave?.number;
  }

  get due(): Due | undefined {
    return this.#due && { ...this.#due, ...((this.#unit.wave || this.#rolling) && { at: undefined }) };
  }

  /**
   * The server was restarted: what was under way is gone, so everybody goes back. `waves` and `line` as the registry
   * has them.
   */
  recover(waves: readonly WaveRecord[], line: LineRecord | undefined, now: number): WaveEffect[] {
    this.#now = now;
    this.#line = line ?? startOfProgram;
    const kept = [...waves].sort((a, b) => a.wave - b.wave);
    this.#kept = [...withStart(kept, line?.alone && line.wave)];
    this.#next = (kept.at(-1)?.wave ?? 0) + 1;
    this.#adopt(kept.at(-1));
    const stable = this.stable(this.#kept);
    if (stable) this.#out.push({ type: 'release', wave: stable.wave });
    this.#choose();
    return this.#take();
  }

  step(e: WaveEvent): WaveEffect[] {
    this.#now = e.now;
    if (!this.#finished) this.#handle(e);
    return this.#take();
  }

  #take(): WaveEffect[] {
    const out = this.#out;
    if (out.length > 0) this.#out = [];
    return out;
  }

  #handle(e: WaveEvent): void {
    const unit = this.#unit;
    switch (e.type) {
      case 'tick':
        unit.tick(this.#now);
        return this.#maybeBegin();
      case 'ask':
        this.#asked = true;
        this.#levels.ask();
        return this.#maybeBegin();
      case 'began':
        if (e.epoch === this.epoch) unit.begins(e.task);
        return;
      case 'ended':
        if (e.epoch !== this.epoch) return;
        unit.ends(e.task);
        return this.#maybeBegin();
      case 'grow':
        return this.#grow(e.tasks);
      case 'cut':
      case 'stored':
      case 'recorded':
      case 'marked':
      case 'cannot':
        return unit.answer(e);
      case 'committed':
        if (this.#record?.wave === e.wave) this.#committed(this.#record);
        return;
      case 'commitFailed':
        if (this.#record?.wave === e.wave) unit.abandon(`the registry cannot write it: ${e.error.message}`);
        return;
      case 'lost':
        return this.#loses();
      case 'checked':
        if (this.#rolling?.step === 'check' && this.#rolling.wave === e.wave) this.#chosen(e.wave, e.sound, e.reason);
        return;
      case 'lineDurable':
        if (this.#rolling?.step === 'line' && this.#rolling.line.epoch === e.epoch) this.#fence(this.#rolling.line);
        return;
      case 'wentBack':
        return this.#wentBack(e.epoch, e.who);
    }
  }

  // ---- a wave ----

  /** Who takes part, and when a wave is complete. */
  protected unit(...of: ConstructorParameters<typeof Unit>): Unit {
    return new Unit(...of);
  }

  /** W1: of a wave that begins. */
  protected number(next: number): number {
    return next;
  }

  #grow(tasks: number): void {
    if (tasks > this.#unit.tasks.length) this.#unit.grow(first(tasks));
  }

  #maybeBegin(): void {
    const unit = this.#unit;
    if (unit.wave || this.#rolling || (unit.began.size === 0 && !unit.allEnded)) return;
    if (this.#due === undefined) this.#rest();
    if (!this.#asked && this.#now < this.#due!.at && !unit.allEnded) return;
    if (!unit.mayBegin) return;
    this.#asked = false;
    const number = this.number(this.#levels.number(this.#next));
    this.#next = number + 1;
    unit.begin(number, this.#now);
  }

  /** The next wave is due in a period from now. */
  #rest(): void {
    const { period } = this.#unit;
    const periodMs = period.ms(this.#now);
    this.#due = { at: this.#now + periodMs, periodMs, ...period.raisedFrom };
  }

  /** W2. */
  #commit(w: WaveUnderWay, tasks: readonly TaskOfWave[]): void {
    const near = tasks.some((t) => t.state === 'image' && w.near.has(t.task)) && ({ near: true } as const);
    const record = { wave: w.number, epoch: this.epoch, at: this.#now, tasks, mark: w.mark?.value, ...near };
    this.#record = record;
    const { job } = this.#o;
    const changes: (readonly [string, unknown])[] = [[waveKey(job, w.number), record]];
    for (const old of this.#surplus(record)) if (old) changes.push([waveKey(job, old.wave), undefined]);
    this.#out.push({ type: 'commit', wave: w.number, changes });
  }

  /** W3, W9: those that go when this one counts. */
  #surplus(record: WaveRecord): (WaveRecord | undefined)[] {
    const stays = this.stay([...this.#kept, record]);
    return this.#kept.filter((w) => !stays.includes(w));
  }

  /** W3, W9. */
  protected stay(kept: readonly (WaveRecord | undefined)[]): (WaveRecord | undefined)[] {
    return stay(kept);
  }

  /** W2, besides the images. */
  protected durable(tasks: readonly TaskOfWave[], recorded: ReadonlySet<TaskId>, marked: boolean): boolean {
    return marked && tasks.every(({ task }) => recorded.has(task));
  }

  /** W3: of the waves that are kept, the one up to which everything may be shown. */
  protected stable(kept: readonly (WaveRecord | undefined)[]): WaveRecord | undefined {
    return kept[0];
  }

  #committed(record: WaveRecord): void {
    const old = this.#surplus(record);
    this.#kept = this.stay([...this.#kept, record]);
    const near = record.near ?? false;
    this.#levels.committed(record, this.#asked);
    this.#record = undefined;
    this.#unit.committed(this.#now);
    this.#rest(); // W7
    this.#out.push({ type: 'over', wave: record.wave, committed: true, ...(near && { near }) });
    for (const o of old) if (o) this.#out.push({ type: 'forget', wave: o.wave });
    if (this.#lost) return this.#choose(); // W5
    const final = record.tasks.every((t) => t.state === 'ended');
    if (final) {
      this.#finished = true; // W8
      this.#out.push({ type: 'finished' });
    } else {
      const stable = this.stable(this.#kept);
      if (stable) this.#out.push({ type: 'release', wave: stable.wave });
      this.#maybeBegin();
    }
  }

  #abandoned(wave: number, reason: string, level: 'info' | 'warn', message: string): void {
    this.#record = undefined;
    this.#rest(); // W7
    this.#out.push({ type: 'over', wave, committed: false, reason });
    this.#log(level, message);
    if (this.#lost) this.#choose();
  }

  // ---- a loss ----

  #loses(): void {
    this.#unit.period.lost();
    this.#lost = true;
    if (this.#record && this.waits()) return;
    if (this.#rolling?.step === 'line') return; // its outcome first, then again
    if (this.#unit.wave) return this.#unit.abandon('a rank was lost');
    this.#choose();
  }

  /** W5. */
  protected waits(): boolean {
    return true;
  }

  /** W6: the newest wave that is sound. */
  #choose(): void {
    this.#lost = false;
    const newest = this.#kept.at(-1);
    if (newest === undefined) return this.#writeLine(0);
    this.#rolling = { step: 'check', wave: newest.wave };
    this.#out.push({ type: 'check', wave: newest.wave });
  }

  #chosen(wave: number, sound: boolean, reason: string | undefined): void {
    if (sound) return this.#writeLine(wave);
    const why = reason === undefined ? 'is damaged' : `cannot be had (${reason})`;
    this.#log('warn', `an image of wave ${wave} ${why}: back to the wave before`);
    this.#damaged.add(wave);
    this.#kept = this.#kept.slice(0, -1);
    if (this.#kept.length > 0) return this.#choose();
    this.#finished = true;
    const message = 'The images of both waves that are kept are damaged: the job has no checkpoint to go back to.';
    this.#out.push({ type: 'failed', error: { code: 'LOST_CHECKPOINTS', message } });
  }

  #writeLine(wave: number): void {
    const alone = wave > 0 && this.#kept.length === 1;
    const line: LineRecord = { epoch: this.epoch + 1, wave, ...(alone ? { alone } : {}) };
    this.#rolling = { step: 'line', line };
    const { job } = this.#o;
    const gone = [...this.#damaged].map((w) => [waveKey(job, w), undefined] as const);
    const newest = this.#kept.at(-1);
    const whole = newest?.near && this.#levels.madeWhole(newest); // W9
    if (whole) this.#kept.splice(-1, 1, whole);
    const made = whole ? [[waveKey(job, wave), whole] as const] : [];
    this.#out.push({ type: 'line', line, changes: [[lineKey(job), line], ...made, ...gone] });
  }

  #fence(line: LineRecord): void {
    this.#line = line;
    const to = this.#kept.find((w) => (w?.wave ?? 0) === line.wave);
    for (const gone of this.#damaged) this.#out.push({ type: 'forget', wave: gone });
    this.#damaged.clear();
    this.#rolling = { step: 'back', epoch: line.epoch, to, waiting: new Set(this.#o.participants) };
    if (this.#lost) return this.#choose();
    this.#out.push({ type: 'goBack', epoch: line.epoch, to });
  }

  #wentBack(epoch: number, who: string): void {
    const r = this.#rolling;
    if (r?.step !== 'back' || r.epoch !== epoch) return;
    r.waiting.delete(who);
    if (!this.allBack(r.waiting.size)) return;
    this.#rolling = undefined;
    this.#adopt(r.to);
    this.#rest();
    this.#out.push({ type: 'assign', epoch, to: r.to });
    this.#maybeBegin();
  }

  /** W6. */
  protected allBack(waiting: number): boolean {
    return waiting === 0;
  }

  /** Where the tasks are that begin from there. */
  #adopt(from: WaveRecord | undefined): void {
    const tasks = from?.tasks ?? [];
    this.#unit.goesBack(tasks);
    this.#grow(tasks.length);
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#out.push({ type: 'log', level, message });
  }
}
