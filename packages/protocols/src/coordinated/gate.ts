/**
 * The gate of a Channel Memory: cuts the channels of the tasks whose home it is, so that the images of a wave, together
 * with what the gate records, form a consistent global checkpoint. "Every message a process receives after it has
 * started its checkpoint wave and before having received the marker of the sender is recorded in the receiver image as
 * the channel's state" (blocking-vs-nonblocking, section 3); here the Channel Memory records for all processes.
 *
 * Owns: the cuts of the wave under way, messages that are held back, which arrivals a receiver may still be without,
 * what has been recorded. Does not own: messages and their records (the Channel Memory), when a wave begins and ends
 * (waves.ts), images.
 *
 * A message is *before* its sender's cut if its number is at most the cut's count, or if its sender has not cut yet:
 * CUT comes before everything that the sender sent after it.
 *  G1 A message after its sender's cut is not numbered and not pushed before its receiver has cut. Else the receiver's
 *     image might contain a message that the sender's does not (an orphan).
 *  G2 A message before its sender's cut that the receiver had not consumed at its own cut is recorded, in arrival
 *     order; so are the bodies of consumed arrivals that were still here. Else they would be lost.
 *  G3 A receiver's channels are recorded when everybody has cut, every message before a cut is here, and all records
 *     are durable.
 *  G4 A message after its sender's cut is never recorded: the sender sends it again.
 *  G5 A task may have cut before this Channel Memory hears of the wave: word of it takes a while to one that works at
 *     another server. What the task sends behind its cut waits from then on, and the cut counts when the wave begins
 *     here. A task that the wave takes to be at its start, and that has acted here meanwhile, keeps the wave from being
 *     had.
 *  G6 (`pcl`) Before the images the channels are flushed: a task may take its image when everybody has marked its
 *     channels and every message before a mark has come ("When a process has received the marker of every other
 *     process, it checkpoints"). Until then it receives nothing that was sent after a mark.
 *
 * What is to be recorded is recorded when CUT or the message comes, whichever is later, so a receiver may consume and
 * forget at once. This needs one thing of comm workers (W): CUT comes before the news of what was consumed after it.
 *
 * Each rule is a method of its own, so that a planted bug is a subclass.
 */
import { FILES, WORLD, type Cut, type TaskId } from '@mayfly/wire';
import type { Arrival, Door, Early, GateEffect, GateState, LateMessage } from './gate-state.ts';

/** Senders besides the tasks: the world and the file service. They cut last, together ({@link Gate.mark}). */
const OUTSIDE = 2;
const slot = (src: TaskId): number => (src === WORLD ? 0 : src === FILES ? 1 : src + OUTSIDE);

/** Cuts the channels of the tasks whose home a Channel Memory is. After each call `take` has what is to be done. */
export class Gate {
  readonly state: GateState;
  #out: GateEffect[] = [];

  /** @param home whether this Channel Memory is the home of a task */
  constructor(tasks: number, home: (task: TaskId) => boolean, state?: GateState) {
    this.state = state ?? {
      wave: 0,
      last: 0,
      early: [],
      cuts: [undefined, undefined],
      marks: [],
      seen: [[], []],
      doors: [],
    };
    this.grow(tasks, home);
  }

  /** Tasks up to `tasks`. Those that are added during a wave have cut: at their start. */
  grow(tasks: number, home: (task: TaskId) => boolean): void {
    const { wave, cuts, marks, seen, doors } = this.state;
    for (let t = doors.length; t < tasks; t++) {
      cuts.push(wave > 0 ? [] : undefined);
      marks.push(wave > 0 ? [] : undefined);
      seen.push([]);
      doors.push(
        home(t as TaskId)
          ? {
              cut: wave > 0,
              late: [],
              released: 0,
              arrivals: [],
              consumed: 0,
              records: 0,
              durable: 0,
              recorded: false,
              flushed: false,
              ended: false,
              leaves: false,
            }
          : undefined,
      );
    }
  }

  get wave(): number {
    return this.state.wave;
  }

  takesAll(task: TaskId): boolean {
    return this.state.doors[task]?.ended ?? false;
  }

  hasCut(task: TaskId): boolean {
    return this.state.wave > 0 && this.state.cuts[slot(task)] !== undefined;
  }

  /** CUT of the task is news: of the wave under way, or G5. */
  expects(wave: number, task: TaskId): boolean {
    if (this.belongs(wave)) return !this.hasCut(task);
    const said = this.state.early[task];
    return this.comesEarly(wave, task) && !(said?.wave === wave && said.cut);
  }

  /** G5: the task has neither sent nor consumed anything here. */
  mayStart(task: TaskId): boolean {
    const { doors, seen } = this.state;
    return (doors[task]?.consumed ?? 0) === 0 && !seen[slot(task)]!.some((n) => n > 0);
  }

  mayCut(task: TaskId): boolean {
    return this.state.wave > 0 && (this.state.doors[task]?.flushed ?? false);
  }

  seen(src: TaskId, dst: TaskId): number {
    return this.state.seen[slot(src)]![dst] ?? 0;
  }

  /** Effects since the last call. */
  take(): GateEffect[] {
    const out = this.#out;
    if (out.length > 0) this.#out = [];
    return out;
  }

  // ---- messages ----

  /** Message `channel` of src → dst is here, whole, the next of its channel. True: it waits for `release`. */
  comes(src: TaskId, dst: TaskId, channel: number): boolean {
    const s = this.state;
    s.seen[slot(src)]![dst] = channel;
    const d = s.doors[dst]!;
    if (d.ended || !this.holds(src, dst, channel)) return false;
    d.late.push({ src, channel });
    return true;
  }

  /** Messages up to `channel` have come in the past that a rollback goes back to. */
  counted(src: TaskId, dst: TaskId, channel: number): void {
    this.state.seen[slot(src)]![dst] = channel;
  }

  /** The message has got its arrival number. */
  numbered(dst: TaskId, number: number, src: TaskId, channel: number): void {
    const d = this.state.doors[dst]!;
    if (d.ended) return;
    const arrival = { number, src, channel };
    d.arrivals.push(arrival);
    if (d.released > 0) d.released--;
    this.#flush(dst);
    if (!d.cut) return;
    this.#record(dst, d, arrival);
    this.settle(dst);
  }

  /** The receiver has consumed so far: no image of it will lack these arrivals. */
  consumed(dst: TaskId, upTo: number): void {
    const d = this.state.doors[dst]!;
    const { arrivals } = d;
    d.consumed = Math.max(d.consumed, upTo);
    let gone = 0;
    while (gone < arrivals.length && arrivals[gone]!.number <= upTo) gone++;
    if (gone > 0) arrivals.splice(0, gone);
  }

  // ---- a wave ----

  /** `ended`: tasks that have ended, with everything they sent here. */
  begin(wave: number, ended: Iterable<TaskId>): void {
    const s = this.state;
    s.wave = s.last = wave;
    s.cuts.fill(undefined);
    s.marks.fill(undefined);
    for (const d of s.doors)
      if (d) Object.assign(d, { cut: false, records: 0, durable: 0, recorded: false, flushed: false });
    s.early.forEach((said, task) => {
      if (!said || said.wave > wave) return;
      s.early[task] = undefined;
      if (said.wave < wave) return;
      s.marks[task] = said.line;
      if (said.cut) s.cuts[slot(task as TaskId)] = this.line(task as TaskId, said.line);
    });
    this.#releaseAll();
    for (const task of ended) this.ended(task);
    this.#flushAll();
  }

  /** CUT of a task. It may come again, over a new connection; one of a wave that is over means nothing. */
  cut(wave: number, task: TaskId, cut: Cut): void {
    const s = this.state;
    if (this.comesEarly(wave, task)) return this.#says(task, { wave, line: this.#perTask(cut.sends), cut: true });
    if (!this.belongs(wave)) return;
    s.cuts[slot(task)] ??= this.line(task, this.#perTask(cut.sends));
    const d = s.doors[task];
    if (d && !d.cut) {
      d.cut = true;
      this.#recordBodies(task, cut.held);
      for (const a of [...d.arrivals]) if (a.number > cut.arrivals) this.#record(task, d, a);
      this.#release(task, d);
    }
    this.#settleAll();
  }

  /** (`pcl`) MARK of a task: it has sent so much, and sends nothing more before its image. It may come again. */
  frozen(wave: number, task: TaskId, sends: Cut['sends']): void {
    if (this.comesEarly(wave, task) && this.state.early[task]?.wave !== wave)
      return this.#says(task, { wave, line: this.#perTask(sends), cut: false });
    if (!this.belongs(wave)) return;
    this.state.marks[task] ??= this.#perTask(sends);
    this.#flushAll();
  }

  /** The task has ended, and everything that it sent is here: that is its cut. */
  ended(task: TaskId): void {
    const s = this.state;
    const d = s.doors[task];
    // Its image is part of the wave under way: what it has not consumed there is recorded to the end.
    if (d?.cut) d.leaves = true;
    else if (d) Object.assign(d, { ended: true, late: [], arrivals: [] });
    if (s.wave === 0) return;
    const all = s.seen.length > slot(task) ? [...s.seen[slot(task)]!] : [];
    s.cuts[slot(task)] ??= all;
    s.marks[task] ??= all;
    this.#settleAll();
    this.#flushAll();
  }

  /** The outside has cut, and everything that it sent before is here. */
  mark(wave: number): void {
    const s = this.state;
    if (!this.belongs(wave)) return;
    for (let out = 0; out < OUTSIDE; out++) s.cuts[out] ??= [...s.seen[out]!];
    this.#settleAll();
  }

  /** So many records of the receiver's wave stream are durable. */
  synced(dst: TaskId, wave: number, records: number): void {
    const d = this.state.doors[dst];
    if (!d || !this.belongs(wave)) return;
    d.durable = Math.max(d.durable, records);
    this.settle(dst);
  }

  /** The wave is over, with a commit or without: what it held back goes on. */
  over(wave: number): void {
    const s = this.state;
    if (!this.belongs(wave)) return;
    s.wave = 0;
    s.doors.forEach((d, task) => {
      if (!d) return;
      d.cut = false;
      if (d.leaves) Object.assign(d, { ended: true, leaves: false, arrivals: [] });
      this.#release(task as TaskId, d);
    });
  }

  // ---- rules ----

  protected belongs(wave: number): boolean {
    return wave === this.state.wave && wave > 0;
  }

  /** What the cut of a sender says of its channels. */
  protected line(_task: TaskId, sends: number[]): number[] {
    return sends;
  }

  protected before(src: TaskId, dst: TaskId, channel: number): boolean {
    const cut = this.state.cuts[slot(src)];
    return !cut || channel <= (cut[dst] ?? 0);
  }

  /** G1; with `pcl`, from the mark on. What comes from outside is never held: the outside cuts when everybody has. */
  protected holds(src: TaskId, dst: TaskId, channel: number): boolean {
    const s = this.state;
    if (this.early(src, dst, channel)) return true;
    if (s.wave === 0 || s.doors[dst]!.cut) return false;
    const mark = s.marks[src];
    return !this.before(src, dst, channel) || (!!mark && channel > (mark[dst] ?? 0));
  }

  /** G5. The home of a task hears of a wave before the task does. */
  protected comesEarly(wave: number, task: TaskId): boolean {
    return wave > this.state.last && !this.state.doors[task];
  }

  /** G5. */
  protected early(src: TaskId, dst: TaskId, channel: number): boolean {
    const said = this.state.early[src];
    return !!said && channel > (said.line[dst] ?? 0);
  }

  /** G3, without durability: nothing that belongs to the wave can still come for this receiver. */
  protected complete(dst: TaskId): boolean {
    const { cuts, seen } = this.state;
    return cuts.every((cut, src) => cut && (seen[src]![dst] ?? 0) >= (cut[dst] ?? 0));
  }

  /** G6. What has come is numbered and pushed, or its envelope is, unless it is after a cut. */
  protected flushed(dst: TaskId): boolean {
    const { marks, seen, doors } = this.state;
    return doors.every((_, src) => {
      const mark = marks[src];
      return mark && (seen[src + OUTSIDE]![dst] ?? 0) >= (mark[dst] ?? 0);
    });
  }

  /** G2 of consumed arrivals. */
  protected bodies(held: readonly number[]): readonly number[] {
    return held;
  }

  /** G2, G4. */
  protected records(src: TaskId, dst: TaskId, channel: number): boolean {
    return this.before(src, dst, channel);
  }

  // ---- within ----

  #record(dst: TaskId, d: Door, a: Arrival): void {
    if (d.recorded || !this.records(a.src, dst, a.channel)) return;
    d.records++;
    this.#out.push({ type: 'record', dst, number: a.number, body: false });
  }

  #recordBodies(dst: TaskId, held: readonly number[]): void {
    const d = this.state.doors[dst]!;
    for (const number of this.bodies(held)) {
      d.records++;
      this.#out.push({ type: 'record', dst, number, body: true });
    }
  }

  #says(task: TaskId, said: Early): void {
    this.state.early[task] = said;
    this.#releaseAll();
  }

  /** What nothing holds back any more. */
  #releaseAll(): void {
    this.state.doors.forEach(
      (d, dst) => d && this.#release(dst as TaskId, d, (m) => this.holds(m.src, dst as TaskId, m.channel)),
    );
  }

  #release(dst: TaskId, d: Door, stays = (m: LateMessage): boolean => this.early(m.src, dst, m.channel)): void {
    for (const message of d.late.splice(0))
      if (stays(message)) d.late.push(message);
      else {
        d.released++;
        this.#out.push({ type: 'release', dst, message });
      }
  }

  #perTask(counts: Cut['sends']): number[] {
    const sends: number[] = [];
    for (const [dst, count] of counts) if (dst < this.state.doors.length) sends[dst] = count;
    return sends;
  }

  #flushAll(): void {
    this.state.doors.forEach((d, task) => d && this.#flush(task as TaskId));
  }

  #flush(dst: TaskId): void {
    const s = this.state;
    const d = s.doors[dst]!;
    if (s.wave === 0 || d.flushed || d.ended || d.cut || !this.flushed(dst)) return;
    d.flushed = true;
    this.#out.push({ type: 'flushed', dst, wave: s.wave });
  }

  #settleAll(): void {
    this.state.doors.forEach((d, task) => d && this.settle(task as TaskId));
  }

  /** G3. */
  protected settle(dst: TaskId): void {
    const s = this.state;
    const d = s.doors[dst]!;
    if (s.wave === 0 || d.recorded || (!d.cut && !d.ended)) return;
    if (!d.ended && (!this.complete(dst) || d.released > 0 || d.durable < d.records)) return;
    d.recorded = true;
    this.#out.push({ type: 'recorded', dst, wave: s.wave });
  }
}
