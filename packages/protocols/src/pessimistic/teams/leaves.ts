/**
 * What leaves a tab, in the comm worker of a team.
 *
 * Owns: every member's determinants until they are durable (D1, D2 in determinant-store.ts), every member's evidence,
 * reports that have been read and lie beyond the number. Does not own: the reports' memory, the counter, frames.
 *
 *  T5  "Nothing leaves the tab before what it depends on. The comm worker takes a frame (of data or of determinants
 *      only), then reads the counter, then all reports of the team up to this number." "With the frame go the
 *      determinants that no Channel Memory has acknowledged, and the evidence, of every teammate."
 *
 * A host goes through these steps in this order, while ranks go on: {@link takes} when it has taken a frame, {@link
 * reads} for each of {@link unread}, {@link sections}.
 */
import { encodeDeterminants, type Ack, type TaskId, type TeamSection } from '@mayfly/wire';
import { DeterminantStore } from '../determinant-store.ts';
import type { Report } from '../../endpoint.ts';

export class Member {
  readonly store: DeterminantStore;
  /** Its evidence, as its last report has it. In a replay that is less than the store knows. */
  determinants = 0;
  consumed = 0;
  openPolls = 0;
  /** Read, and beyond the number. */
  beyond: Report[] = [];

  constructor(
    readonly task: TaskId,
    channelMemories: number,
  ) {
    this.store = new DeterminantStore(channelMemories);
  }
}

export class TeamLeaves {
  protected readonly members: ReadonlyMap<TaskId, Member>;
  #upTo = 0;
  #unread = new Set<TaskId>();

  constructor(members: readonly TaskId[], channelMemories: number) {
    this.members = new Map(members.map((task) => [task, new Member(task, channelMemories)]));
  }

  /** The incarnation of a member begins: everything before `determinant` is durable. */
  begin(task: TaskId, determinant: number): void {
    this.#member(task).store.begin(determinant);
  }

  /** A frame has been taken, and then the counter has been read. */
  takes(upTo: number): void {
    this.#upTo = upTo;
    this.#unread = new Set(this.members.keys());
  }

  /** Members whose reports are to be read before the frame leaves. */
  get unread(): ReadonlySet<TaskId> {
    return this.#unread;
  }

  /** Reports of a member that have not been read before, in their order. @throws RangeError when some are missing */
  reads(task: TaskId, reports: readonly Report[]): void {
    const m = this.#member(task);
    this.#unread.delete(task);
    const all = m.beyond.length > 0 ? [...m.beyond, ...reports] : reports;
    m.beyond = [];
    for (const r of all)
      if (this.belongs(r, this.#upTo)) learn(m, r);
      else m.beyond.push(r);
  }

  /** What goes with the frame of `src`: its own section is the first. */
  sections(src: TaskId): TeamSection[] {
    if (this.#unread.size > 0) throw new Error('a frame leaves before all reports have been read');
    const others = [...this.members.keys()].filter((task) => task !== src);
    return [src, ...others].map((task) => ({ task, block: this.block(this.#member(task), task === src) }));
  }

  /** No determinant of any member waits to be logged. */
  get allLogged(): boolean {
    return [...this.members.values()].every((m) => m.store.allLogged);
  }

  /** Determinants of all members that wait to be logged. */
  get unlogged(): number {
    let n = 0;
    for (const { store } of this.members.values()) n += store.unlogged;
    return n;
  }

  /** How many determinants of each member are known here: what leaves now depends on them. */
  known(): ReadonlyMap<TaskId, number> {
    return new Map([...this.members].map(([task, { store }]) => [task, store.end]));
  }

  /** So many of each member are durable. */
  durable(known: ReadonlyMap<TaskId, number>): boolean {
    for (const [task, n] of known) if (this.#member(task).store.base < n) return false;
    return true;
  }

  acknowledged(cm: number, task: TaskId, ack: Ack): void {
    const { store } = this.#member(task);
    store.acknowledged(cm, ack.determinantsFirst, ack.determinantsAppended, ack.determinantsSynced);
  }

  /** A Channel Memory is back, with what it holds of a member's determinants. */
  returned(cm: number, task: TaskId, held: readonly (readonly [number, number])[]): void {
    this.#member(task).store.returned(cm, held);
  }

  // ---- rules ----

  protected belongs(report: Report, upTo: number): boolean {
    return report.stamp <= upTo;
  }

  /** Also of a member without anything new: its evidence goes with every frame. */
  protected block(m: Member, _own: boolean): Uint8Array {
    const { store, determinants, consumed, openPolls } = m;
    if (!store.allLogged) return store.block(consumed, openPolls);
    return encodeDeterminants({ first: determinants, consumed, openPolls, entries: [] });
  }

  #member(task: TaskId): Member {
    const m = this.members.get(task);
    if (!m) throw new RangeError(`task ${task} is not in this team`);
    return m;
  }
}

function learn(m: Member, { block }: Report): void {
  const { first, entries, consumed, openPolls } = block;
  m.store.add(first, entries);
  m.determinants = first + entries.length;
  m.consumed = consumed;
  m.openPolls = openPolls;
}
