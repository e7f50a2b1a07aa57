/**
 * Whole jobs of the membership service under FT-MPI's modes, at random: tasks work until they hear of a loss, ask for
 * the recovery and wait for it; some are killed at any time, replacements start when it comes to them. The judge reads
 * only what each task has received; it knows no core.
 */
import { HOLE, type FtModes, type Incarnation, type MemberNotice, type TaskId } from '@mayfly/wire';
import { Membership } from '../../src/app/membership.ts';
import type { MembershipEffect, MembershipEvent } from '../../src/contract/membership.ts';
import { randomOf } from '../random.ts';

type Recovered = Extract<MemberNotice, { op: 'recovered' }>;

interface Task {
  state: 'runs' | 'killed' | 'ended';
  /** It has heard of a loss, or replaces a lost task, and has not recovered. */
  broken: boolean;
  asks: boolean;
  /** Only a task with a slot runs. */
  slot: boolean;
  /** Of a replacement: whether it had a slot, by tick. */
  readonly ticks?: { at: number; slot: boolean }[];
  readonly heard: Set<number>;
  readonly recovered: Recovered[];
}

const CMS = 2;

export class RecoveryModel {
  readonly tasks: Task[];
  readonly problems: string[] = [];
  readonly #size: number;
  readonly #int: (from: number, to: number) => number;
  readonly #core: Membership;
  readonly #fences: { task: TaskId; cm: number; incarnation: Incarnation }[] = [];
  /** Lost tasks whose replacements have not started. */
  readonly #toStart: TaskId[] = [];
  /** What has come of each epoch. */
  readonly #epochs = new Map<number, string>();
  readonly #contexts = new Set<number>();
  /** Ranks of the newest world, with those that have come in. */
  #world: number[];
  #offers = 0;
  readonly #slotMs: number;
  #now = 0;
  /** The job has ended, because a replacement had no slot. */
  failed = false;

  constructor(
    seed: number,
    readonly mode: Exclude<FtModes['communicators'], 'abort'>,
    Core: typeof Membership = Membership,
  ) {
    const below = randomOf(seed);
    this.#int = (from, to) => from + below(to - from + 1);
    this.#size = this.#int(2, 5);
    const ft: FtModes = { communicators: mode, messages: 'reset' };
    this.#slotMs = this.#int(0, 2) * 1000;
    this.#core = new Core({ tasks: this.#size, channelMemories: CMS, ft, slotMs: this.#slotMs });
    this.tasks = Array.from({ length: this.#size }, () => this.#begins(false));
    this.#world = this.tasks.map((_, t) => t);
  }

  #begins(broken: boolean): Task {
    const task = { state: 'runs' as const, broken, asks: false, heard: new Set<number>(), recovered: [] };
    return broken ? { ...task, slot: this.#int(0, 2) > 0, ticks: [] } : { ...task, slot: true };
  }

  run(steps = 100): string[] {
    for (let i = 0; i < steps && !this.failed; i++) this.#act();
    if (this.failed) return this.problems;
    for (const task of this.tasks) task.slot = true;
    // Everything that can still happen happens, so that nobody may wait.
    for (let left = 200; left > 0 && this.#goOn(); left--);
    this.tasks.forEach((t, n) => {
      if (t.state === 'runs' && t.broken) this.problems.push(`${n} waits for the recovery for ever`);
    });
    return this.problems;
  }

  #goOn(): boolean {
    if (this.#fences.length > 0) this.#fence(0);
    else if (this.#toStart.length > 0) this.#start();
    else {
      const t = this.tasks.findIndex((o) => o.state === 'runs' && o.broken && !o.asks);
      if (t < 0) return false;
      this.#ask(t as TaskId);
    }
    return true;
  }

  #act(): void {
    const t = this.#int(0, this.tasks.length - 1) as TaskId;
    const task = this.tasks[t]!;
    const what = this.#int(0, 139);
    if (what >= 100) return this.#wait(task);
    if (what < 30) this.#fence(this.#int(0, Math.max(0, this.#fences.length - 1)));
    else if (what < 45) this.#start();
    else if (task.state !== 'runs' || !task.slot) return;
    else if (what < 55) this.#kill(t);
    else if (what < 57 && !task.broken) this.#exit(t);
    else if (task.broken && !task.asks) this.#ask(t);
  }

  /** Time passes; a replacement gets a slot now and then, or its node declines it. */
  #wait(task: Task): void {
    if (task.ticks && !task.asks && this.#int(0, 4) === 0) task.slot = !task.slot;
    this.#now += this.#int(50, 500);
    for (const o of this.tasks) o.ticks?.push({ at: this.#now, slot: o.slot || o.state !== 'runs' });
    const idle = this.tasks.flatMap((o, n) => (o.slot || o.state !== 'runs' ? [] : [n as TaskId]));
    this.#step({ type: 'tick', now: this.#now, idle });
    const late = this.tasks.some(({ ticks = [] }) => {
      const first = ticks.slice(ticks.findLastIndex((k) => k.slot) + 1)[0];
      return first !== undefined && this.#now - first.at >= this.#slotMs;
    });
    const ends = this.#slotMs > 0 && late;
    if (ends !== this.failed) this.problems.push(`the job ${ends ? 'goes on' : 'ends'} at ${this.#now}`);
    this.failed ||= ends;
  }

  #exit(t: TaskId): void {
    this.tasks[t]!.state = 'ended';
    this.#step({ type: 'ended', task: t });
  }

  #kill(t: TaskId): void {
    if (this.tasks.filter((o) => o.state === 'runs').length < 2) return;
    this.tasks[t]!.state = 'killed';
    this.#step({ type: 'dead', task: t, above: 1 as Incarnation });
  }

  #fence(i: number): void {
    const f = this.#fences[i];
    if (!f) return;
    this.#fences.splice(i, 1);
    this.#step({ type: 'fenced', ...f });
  }

  #start(): void {
    const replaces = this.#toStart.shift();
    if (replaces === undefined) return;
    this.tasks.push(this.#begins(true));
    const rank = this.#world.indexOf(replaces);
    if (rank < 0) this.problems.push(`${replaces} is replaced, and has no rank`);
    else this.#world[rank] = this.tasks.length - 1;
    this.#step({ type: 'grow', tasks: this.tasks.length, replaces });
  }

  #ask(t: TaskId): void {
    this.tasks[t]!.asks = true;
    this.#step({ type: 'request', task: t, request: { op: 'recover', offer: 100 * ++this.#offers + t } });
  }

  #step(e: MembershipEvent): void {
    for (const f of this.#core.step(e)) this.#perform(f);
  }

  #perform(f: MembershipEffect): void {
    if (f.type === 'fence')
      for (let cm = 0; cm < CMS; cm++) this.#fences.push({ task: f.task, cm, incarnation: f.incarnation });
    else if (f.type === 'replace') this.#toStart.push(f.task);
    else if (f.type === 'failed') this.failed = true;
    else if (f.type === 'tell') this.#hears(f.task, f.notice);
  }

  #hears(t: TaskId, n: MemberNotice): void {
    const task = this.tasks[t]!;
    if (n.op === 'lost') {
      for (const l of n.tasks) task.heard.add(l);
      task.broken = true;
    } else if (n.op === 'recovered' && task.state === 'runs') this.#recovered(t, task, n);
  }

  // ── what must hold (Q16) ───────────────────────────────────────────────────────────────────────────────────────────

  #recovered(t: TaskId, task: Task, n: Recovered): void {
    const wrong = (what: string): number => this.problems.push(`epoch ${n.epoch} at ${t}: ${what}`);
    if (!task.asks) wrong('it has not asked');
    task.asks = task.broken = false;
    if (task.recovered.some((e) => e.epoch >= n.epoch)) wrong('epochs do not rise');
    task.recovered.push(n);
    if (n.ranks.indexOf(t) < 0) wrong('it has no rank');
    for (const r of n.ranks) if (task.heard.has(r)) wrong(`${r} has a rank, and it was told that ${r} is lost`);
    for (const f of n.failed) if (f < 0 || f >= this.#size) wrong(`rank ${f} is none`);
    const before = this.#epochs.get(n.epoch);
    const text = JSON.stringify(n);
    if (before !== undefined && before !== text) wrong(`${before} and ${text}`);
    if (before !== undefined) return;
    this.#epochs.set(n.epoch, text);
    if (this.#contexts.has(n.context)) wrong('a context of before');
    this.#contexts.add(n.context);
    this.#judgeWorld(n, task.heard, wrong);
  }

  #judgeWorld(n: Recovered, heard: ReadonlySet<number>, wrong: (what: string) => number): void {
    const blank = this.#world.map((t) => (heard.has(t) ? HOLE : t));
    const expected = this.mode === 'shrink' ? blank.filter((t) => t !== HOLE) : blank;
    if (n.ranks.join() !== expected.join()) wrong(`ranks ${n.ranks.join()}, not ${expected.join()}`);
    if (this.mode === 'rebuild' && n.ranks.includes(HOLE)) wrong('a hole');
    if (n.failed.length === 0) wrong('nobody has failed');
    this.#world = [...n.ranks];
  }
}
