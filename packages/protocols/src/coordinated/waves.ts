/**
 * The checkpoint scheduler of a job: "The goal of checkpoint scheduler is to manage the checkpoint waves"
 * (blocking-vs-nonblocking, section 4.1). It decides when a wave begins, when it counts, and what a loss goes back to.
 *
 * Owns: the number of the wave under way and who has answered, the committed waves that are kept, the epoch. Does not
 * own: channels (gate.ts), images (Checkpoint Server), output and files (the outside), incarnations and slots
 * (dispatcher). Each of them performs an effect and answers with an event.
 *
 * Durable: `wave/<job>/<number>`, one record for each committed wave; `line/<job>`, the epoch and the wave that it
 * began from, in one commit with new incarnations of all tasks.
 *
 *  W1 One wave at a time. Numbers rise, and none is used twice within an epoch. An answer counts for the wave that it
 *     names, while that one is under way.
 *  W2 A wave counts when its record is durable. Before that commit everything that it needs is durable: all images, the
 *     wave streams, the mark of the outside. Its cut is consistent, or the wave is abandoned.
 *  W3 Two waves are kept; the start of the program is the first of them. What the outside has seen is before the older
 *     one (`release`): falling back to it undoes nothing that was shown.
 *  W4 The outside cuts last: its mark is asked for when every task has cut.
 *  W5 A loss ends the wave under way, but waits for the outcome of a commit. So does the end of a task that has cut
 *     and whose image is not here: the image goes with the task.
 *  W6 All tasks go back together, to the newest wave that is sound: a new epoch and new incarnations are durable before
 *     anybody is fenced; everybody has gone back before any task is assigned. Another loss begins again at the choice.
 *  W7 A wave ends after {@link WaveSettings.waveMs} at the latest. The time to the next one counts from its end. A rank
 *     answers at its next MPI call, and may compute for longer than that: after a wave that took too long, the next one
 *     may take twice as long, up to {@link MOST_PATIENCE}.
 *  W8 An exit is final when all tasks have ended and a last wave, which has no images, is durable.
 *  W9 Of a job with parity, only a wave whose number `wholeEvery` divides has all its images at the server. Those of
 *     another wave may be with the nodes (level 1): it is *near*. One of `wholeEvery` is whole, and so is one that
 *     somebody asks for. A near wave is kept beside the two whole ones, while it is the newest: it releases nothing and
 *     lets no whole one go. A rollback to it first brings all its images to the server; from then on it is whole. If
 *     that cannot be had, the rollback goes to the newest whole wave.
 */
import type { TaskId } from '@mayfly/wire';
import { contradiction } from './cut.ts';
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
import { Levels, stay, withStart } from './levels.ts';
import { Period } from './period.ts';
import { WaveUnderWay } from './under-way.ts';

interface Wave extends WaveUnderWay {
  /** Its commit is under way. */
  record?: WaveRecord;
}

type Rolling =
  | { readonly step: 'check'; readonly wave: number }
  | { readonly step: 'line'; readonly line: LineRecord }
  | {
      readonly step: 'back';
      readonly epoch: number;
      readonly to: WaveRecord | undefined;
      readonly waiting: Set<string>;
    };

/** A wave that cannot be had so often in a row is shown to people. */
const WARN_AFTER = 3;
/** W7, ms. */
const MOST_PATIENCE = 3_600_000;

/** Where every job begins. */
const startOfProgram: LineRecord = { epoch: 0, wave: 0 };

export class Waves {
  readonly #o: WaveOptions;
  /** W3: oldest first; undefined is the start of the program. */
  #kept: (WaveRecord | undefined)[] = [undefined];
  #line: LineRecord = startOfProgram;
  #next = 1;
  #wave: Wave | undefined;
  #rolling: Rolling | undefined;
  /** Their records go with the next line: what they were part of is no longer the history of the job. */
  readonly #damaged = new Set<number>();
  /** A task was lost while a commit was under way. */
  #lost = false;
  #tasks: number;
  readonly #began = new Set<TaskId>();
  /** They go on from an image, and have not begun yet. */
  readonly #returning = new Set<TaskId>();
  readonly #ended = new Set<TaskId>();
  #finished = false;
  #due: (Due & { readonly at: number }) | undefined;
  #asked = false;
  readonly #period: Period;
  /** W9. */
  readonly #levels: Levels;
  #abandoned = 0;
  /** W7, ms. */
  #patience: number;
  #now = 0;
  #out: WaveEffect[] = [];

  constructor(options: WaveOptions) {
    this.#o = options;
    this.#tasks = options.tasks;
    this.#patience = options.settings.waveMs;
    this.#period = new Period(options.settings.periodMs);
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
    return this.#wave?.number;
  }

  get due(): Due | undefined {
    return this.#due && { ...this.#due, ...((this.#wave || this.#rolling) && { at: undefined }) };
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
    const w = this.#wave;
    switch (e.type) {
      case 'tick':
        if (w && !w.record && this.#now - w.since > this.#patience) this.#tookTooLong(w);
        return this.#maybeBegin();
      case 'ask':
        this.#asked = true;
        this.#levels.ask();
        return this.#maybeBegin();
      case 'began':
        if (e.epoch !== this.epoch) return;
        this.#began.add(e.task);
        this.#returning.delete(e.task);
        return;
      case 'ended':
        if (e.epoch !== this.epoch) return;
        this.#ended.add(e.task);
        if (w && !w.record && w.cuts.has(e.task) && !w.images.has(e.task))
          this.#abandon(`rank ${e.task} ended before its image was here`); // W5
        return this.#wave ? this.#maybeCommit() : this.#maybeBegin();
      case 'grow':
        this.#tasks = Math.max(this.#tasks, e.tasks);
        return;
      case 'cut':
        if (this.counts(e.wave) && w?.members.has(e.task)) w.cuts.set(e.task, e.cut);
        return this.#maybeCommit();
      case 'stored':
        if (this.counts(e.wave) && w?.members.has(e.task)) {
          w.images.set(e.task, e.image);
          if (e.near) w.near.add(e.task);
        }
        return this.#maybeCommit();
      case 'recorded':
        if (this.counts(e.wave)) w?.recorded.add(e.task);
        return this.#maybeCommit();
      case 'marked':
        if (this.counts(e.wave) && w) w.mark ??= { value: e.mark };
        return this.#maybeCommit();
      case 'cannot':
        if (this.counts(e.wave)) this.#abandon(`rank ${e.task} cannot take an image now: ${e.reason}`);
        return;
      case 'committed':
        if (w?.record && w.number === e.wave) this.#committed(w, w.record);
        return;
      case 'commitFailed':
        if (w?.record && w.number === e.wave) this.#abandon(`the registry cannot write it: ${e.error.message}`);
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

  /** W1: of a wave that begins. */
  protected number(next: number): number {
    return next;
  }

  /** W1: an answer for this wave counts. */
  protected counts(wave: number): boolean {
    return this.#wave?.number === wave && !this.#wave.record;
  }

  get #all(): TaskId[] {
    return Array.from({ length: this.#tasks }, (_, t) => t as TaskId);
  }

  get #allEnded(): boolean {
    return this.#ended.size >= this.#tasks;
  }

  #maybeBegin(): void {
    if (this.#wave || this.#rolling) return;
    if (this.#began.size === 0 && !this.#allEnded) return;
    if (this.#due === undefined) this.#rest();
    if (!this.#asked && this.#now < this.#due!.at && !this.#allEnded) return;
    const living = this.#all.filter((t) => !this.#ended.has(t));
    // On its way back to an image, a task can neither take part nor be left out.
    if (living.some((t) => this.#returning.has(t))) return;
    this.#asked = false;
    const members = new Set(living.filter((t) => this.#began.has(t)));
    const number = this.number(this.#levels.number(this.#next));
    this.#next = number + 1;
    const wave: Wave = new WaveUnderWay({ number, since: this.#now, members, ended: this.#ended });
    this.#wave = wave;
    const starting = living.filter((t) => !this.#began.has(t));
    this.#out.push({ type: 'begin', wave: wave.number, ended: [...this.#ended], starting });
    this.#maybeCommit();
  }

  /** The next wave is due in a period from now. */
  #rest(): void {
    const periodMs = this.#period.ms(this.#now);
    this.#due = { at: this.#now + periodMs, periodMs, ...this.#period.raisedFrom };
  }

  #maybeCommit(): void {
    const w = this.#wave;
    if (!w || w.record) return;
    if (w.missing(this.#ended) !== undefined) return;
    if (!w.markAsked) {
      w.markAsked = true;
      this.#out.push({ type: 'mark', wave: w.number }); // W4
    }
    const tasks = w.tasks(this.#all, this.#ended);
    if (!tasks || !this.durable(tasks, w.recorded, w.mark !== undefined)) return;
    const wrong = contradiction(w.cutsOf(tasks));
    if (wrong) {
      this.#log('error', `wave ${w.number}: rank ${wrong.dst} has consumed what rank ${wrong.src} has not sent`);
      return this.#abandon('its cut is not consistent (INCONSISTENT_WAVE)');
    }
    const near = tasks.some((t) => t.state === 'image' && w.near.has(t.task)) && ({ near: true } as const);
    w.record = { wave: w.number, epoch: this.epoch, at: this.#now, tasks, mark: w.mark?.value, ...near };
    const { job } = this.#o;
    const changes: (readonly [string, unknown])[] = [[waveKey(job, w.number), w.record]];
    for (const old of this.#surplus(w.record)) if (old) changes.push([waveKey(job, old.wave), undefined]);
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

  #committed(w: Wave, record: WaveRecord): void {
    const old = this.#surplus(record);
    this.#kept = this.stay([...this.#kept, record]);
    const near = record.near ?? false;
    this.#levels.committed(record, this.#asked);
    this.#wave = undefined;
    this.#period.took(this.#now - w.since);
    this.#abandoned = 0;
    this.#rest(); // W7
    this.#out.push({ type: 'over', wave: w.number, committed: true, ...(near && { near }) });
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

  /** W7. */
  #tookTooLong(w: Wave): void {
    const missing = w.missing(this.#ended);
    const why = missing === undefined ? 'its images' : `rank ${missing}, whose next MPI call has not come,`;
    this.#patience = Math.min(MOST_PATIENCE, 2 * this.#patience);
    this.#abandon(`${why} took too long; the next wave may take ${Math.round(this.#patience / 1000)} s`);
  }

  #abandon(why: string): void {
    const w = this.#wave;
    if (!w) return;
    this.#wave = undefined;
    this.#abandoned++;
    this.#rest();
    this.#out.push({ type: 'over', wave: w.number, committed: false, reason: why });
    this.#log(this.#abandoned >= WARN_AFTER ? 'warn' : 'info', `wave ${w.number} is abandoned: ${why}`);
    if (this.#lost) this.#choose();
  }

  // ---- a loss ----

  #loses(): void {
    this.#period.lost();
    this.#lost = true;
    if (this.#wave?.record && this.waits()) return;
    if (this.#rolling?.step === 'line') return; // its outcome first, then again
    if (this.#wave) return this.#abandon('a rank was lost');
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
    this.#began.clear();
    this.#ended.clear();
    this.#returning.clear();
    for (const t of from?.tasks ?? [])
      if (t.state === 'ended') this.#ended.add(t.task);
      else if (t.state === 'image') this.#returning.add(t.task);
    this.#tasks = Math.max(this.#tasks, from?.tasks.length ?? 0);
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#out.push({ type: 'log', level, message });
  }
}
