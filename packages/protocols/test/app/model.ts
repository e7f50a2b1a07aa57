/**
 * Whole jobs of the membership service at random: tasks that send data to each other, revoke, agree and are lost, and
 * Channel Memories that fence when they come to it. The judge reads only what each task has received; it knows no core.
 */
import type { Contribution, Incarnation, MemberNotice, TaskId } from '@mayfly/wire';
import { Membership } from '../../src/app/membership.ts';
import type { MembershipEffect, MembershipEvent } from '../../src/contract/membership.ts';
import { randomOf } from '../random.ts';

type Arrival =
  /** `knew`: losses that its sender had heard of. */
  { readonly data: TaskId; readonly knew: readonly number[] } | { readonly notice: MemberNotice };

interface Comm {
  readonly context: number;
  readonly members: readonly TaskId[];
}

interface Task {
  state: 'runs' | 'killed' | 'ended';
  readonly arrivals: Arrival[];
  readonly heard: number[];
  /** Contributions by communicator, in order. */
  readonly gave: Contribution[][];
  readonly revokes: Set<number>;
}

const CMS = 2;
const ROUNDS = 3;

export class Model {
  readonly tasks: Task[];
  readonly comms: Comm[];
  readonly #int: (from: number, to: number) => number;
  readonly #core: Membership;
  /** Fences that a Channel Memory has still to see. */
  readonly #fences: { task: TaskId; cm: number; incarnation: Incarnation }[] = [];
  readonly #fenced = new Set<string>();
  readonly #revoked = new Set<number>();
  readonly problems: string[] = [];
  /** What has come of each agreement. */
  readonly #values = new Map<string, string>();

  constructor(seed: number, Core: typeof Membership = Membership) {
    const below = randomOf(seed);
    this.#int = (from, to) => from + below(to - from + 1);
    const size = this.#int(2, 6);
    this.#core = new Core({ tasks: size, channelMemories: CMS, slotMs: 0 });
    this.tasks = Array.from({ length: size }, () => ({
      state: 'runs',
      arrivals: [],
      heard: [],
      gave: [[], []],
      revokes: new Set<number>(),
    }));
    const all = this.tasks.map((_, t) => t as TaskId);
    this.comms = [
      { context: 0, members: all },
      { context: 8, members: all.filter((t) => t !== 0 || size < 3) },
    ];
  }

  run(steps = 120): string[] {
    for (let i = 0; i < steps; i++) this.#act();
    this.#end();
    this.#judge();
    return this.problems;
  }

  // ── what happens ───────────────────────────────────────────────────────────────────────────────────────────────────

  #act(): void {
    const t = this.#int(0, this.tasks.length - 1) as TaskId;
    const task = this.tasks[t]!;
    const what = this.#int(0, 99);
    if (what < 12) this.#fence(this.#int(0, Math.max(0, this.#fences.length - 1)));
    else if (task.state === 'ended') return;
    else if (what < 16) this.#kill(t);
    else if (what < 18) this.#revoke(t, this.#int(0, 1));
    else if (what < 60) this.#send(t, this.#int(0, this.tasks.length - 1) as TaskId);
    else this.#contribute(t, this.#int(0, 1));
  }

  /** Everything that can still happen happens, so that nobody may wait. */
  #end(): void {
    while (this.#fences.length > 0) this.#fence(0);
    for (let round = 0; round < ROUNDS; round++)
      for (const comm of [0, 1])
        this.tasks.forEach((task, t) => {
          if (task.state === 'runs' && task.gave[comm]!.length <= round) this.#contribute(t as TaskId, comm);
        });
  }

  #kill(t: TaskId): void {
    const task = this.tasks[t]!;
    if (task.state !== 'runs' || this.tasks.filter((o) => o.state === 'runs').length < 2) return;
    task.state = 'killed';
    this.#step({ type: 'dead', task: t, above: 1 as Incarnation });
  }

  #fence(i: number): void {
    const f = this.#fences[i];
    if (!f) return;
    this.#fences.splice(i, 1);
    this.#fenced.add(`${f.task}/${f.cm}`);
    this.#step({ type: 'fenced', ...f });
  }

  /** A killed task may still run where nobody reaches it: what it sends gets through until it meets a fence. */
  #passes(src: TaskId, home: TaskId): boolean {
    return !this.#fenced.has(`${src}/${home % CMS}`);
  }

  #send(src: TaskId, dst: TaskId): void {
    if (this.#passes(src, dst)) this.tasks[dst]!.arrivals.push({ data: src, knew: [...this.tasks[src]!.heard] });
  }

  #revoke(t: TaskId, comm: number): void {
    const { context, members } = this.comms[comm]!;
    if (!members.includes(t) || !this.#passes(t, t)) return;
    this.#revoked.add(comm);
    this.#step({ type: 'request', task: t, request: { op: 'revoke', context, members: [...members] } });
  }

  #contribute(t: TaskId, comm: number): void {
    const { context, members } = this.comms[comm]!;
    const task = this.tasks[t]!;
    const number = task.gave[comm]!.length;
    if (!members.includes(t) || number >= ROUNDS || !this.#passes(t, t)) return;
    const request: Contribution = {
      op: 'agree',
      context,
      members: [...members],
      number,
      flag: this.#int(0, 255),
      offer: number * 100 + t,
      acknowledged: task.heard.filter(() => this.#int(0, 1) === 0),
    };
    task.gave[comm]!.push(request);
    this.#step({ type: 'request', task: t, request });
  }

  #step(e: MembershipEvent): void {
    for (const f of this.#core.step(e)) this.#perform(f);
  }

  #perform(f: MembershipEffect): void {
    if (f.type === 'fence')
      for (let cm = 0; cm < CMS; cm++) this.#fences.push({ task: f.task, cm, incarnation: f.incarnation });
    else if (f.type === 'tell') {
      const task = this.tasks[f.task]!;
      const n = task.arrivals.filter((a) => 'notice' in a).length + 1;
      if (f.number !== n) this.problems.push(`notice ${f.number} to ${f.task} is its ${n}th`);
      task.arrivals.push({ notice: f.notice });
      if (f.notice.op === 'lost') task.heard.push(...f.notice.tasks);
      if (f.notice.op === 'agreed') this.#agreed(f.task, f.notice);
    }
  }

  // ── what must hold ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** One value, of all that are not named as lost; and all that are named were heard of. */
  #agreed(t: TaskId, n: Extract<MemberNotice, { op: 'agreed' }>): void {
    const comm = this.comms.findIndex((c) => c.context === n.context);
    const name = `agreement ${n.number} of ${n.context}`;
    const { op: _, ...value } = n;
    const text = JSON.stringify(value);
    const before = this.#values.get(name);
    if (before !== undefined && before !== text) this.problems.push(`${name}: ${before} and ${text}`);
    this.#values.set(name, text);
    for (const l of n.lost)
      if (!this.tasks[t]!.heard.includes(l)) this.problems.push(`${name} names ${l}, of which ${t} has not heard`);
    if (before !== undefined) return;
    let flag = -1;
    let unacknowledged = false;
    for (const m of this.comms[comm]!.members) {
      if (n.lost.includes(m)) continue;
      const c = this.tasks[m]!.gave[comm]![n.number];
      if (!c) return void this.problems.push(`${name} without ${m}, which it does not name as lost`);
      flag &= c.flag;
      unacknowledged ||= n.lost.some((l) => !c.acknowledged.includes(l));
    }
    if (flag !== n.flag) this.problems.push(`${name} is ${n.flag}, not ${flag}`);
    if (unacknowledged !== n.unacknowledged) this.problems.push(`${name} is wrong about what was acknowledged`);
  }

  #judge(): void {
    const orders = this.tasks.map((t) => t.heard.join());
    const killed = this.tasks.flatMap((t, i) => (t.state === 'killed' ? [i] : []));
    this.tasks.forEach((task, t) => {
      const lost = new Set<number>();
      for (const a of task.arrivals) {
        if ('notice' in a) {
          if (a.notice.op === 'lost') for (const l of a.notice.tasks) lost.add(l);
          continue;
        }
        if (lost.has(a.data)) this.problems.push(`${t} hears of ${a.data} behind the notice of its loss`);
        for (const l of a.knew)
          if (task.state === 'runs' && !lost.has(l))
            this.problems.push(`${t} hears from ${a.data}, which knew of ${l}, before the notice`);
      }
      if (task.state !== 'runs') return;
      if ([...task.heard].sort().join() !== killed.join())
        this.problems.push(`${t} has heard of ${orders[t]!}, not of ${killed.join()}`);
      for (const comm of [0, 1]) this.#judgeComm(t as TaskId, comm);
    });
    const living = orders.filter((_, t) => this.tasks[t]!.state === 'runs');
    if (new Set(living).size > 1) this.problems.push(`losses in several orders: ${living.join(' | ')}`);
  }

  #judgeComm(t: TaskId, comm: number): void {
    const { context, members } = this.comms[comm]!;
    if (!members.includes(t)) return;
    const mine = this.tasks[t]!.arrivals.flatMap((a) =>
      'notice' in a && a.notice.op !== 'lost' && a.notice.context === context ? [a.notice] : [],
    );
    const revoked = mine.filter((n) => n.op === 'revoked').length;
    if (revoked !== (this.#revoked.has(comm) ? 1 : 0)) this.problems.push(`${t} hears of ${revoked} revokes`);
    const agreed = mine.flatMap((n) => (n.op === 'agreed' ? [n.number] : []));
    if (agreed.join() !== this.tasks[t]!.gave[comm]!.map((c) => c.number).join())
      this.problems.push(`${t} waits: ${agreed.length} of ${this.tasks[t]!.gave[comm]!.length} answers`);
  }
}
