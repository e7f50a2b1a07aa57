/**
 * Rounds of operation-level checkpoints at one process: the copies that it holds, and when a round is whole. A state
 * machine without effects of its own: {@link Team.step} takes what has happened and answers what to do.
 *
 * The members of a team number their joint steps. For each number every member contributes once, the server decides
 * what they have agreed on (packages/protocols/src/app/membership.ts), and all hear the same: step 0 is the team's
 * beginning, each later one a round, a rollback or an end.
 *
 *  R1 A round is whole when all members have contributed that they hold its copies: then all know it by one number.
 *     (The paper asks whether "the last round" is complete; survivors may mean different ones by it.)
 *  R2 Two buffers: the last whole round is kept until the next one is whole.
 *  R3 A new team begins when everybody has what the plan gives it (plan.ts), the copies of others included. Until then
 *     the old team's buffers stay as they are.
 *  R4 After a loss nothing becomes whole any more. What was contributed stands, as all decide by the same answer.
 *  R5 A round is not whole when a message has crossed it: one that was sent before and received behind it, or the other
 *     way round. Counts of messages tell (the first rounds of a team).
 *  R6 Under a code a holder adds up what its group's members send, and keeps the sum instead of copies. A round is
 *     whole when all sums are, too; a lost member's data come from the sums and the others' data of that one round.
 *
 * Owns: the buffers. Does not own: what is in them, messages, the disk, the arithmetic.
 */
import {
  Gathering,
  Recovered,
  exactFormat,
  keyOf,
  sealed,
  sizeOf,
  type Checksum,
  type Format,
  type SumName,
} from './codes.ts';
import { holdersOf, type Held, type Plan, type Share } from './plan.ts';

import { Word, type Saved, type TeamEffect, type TeamEvent, type TeamOptions } from './team-events.ts';

export { Word, type Saved, type TeamEffect, type TeamEvent, type TeamOptions };

const NONE = new Uint8Array(0);

type Came = Extract<TeamEvent, { type: 'copy' | 'term' | 'share' | 'count' }>;

interface Round extends Omit<Saved, 'sums'> {
  /** Checksums under way. */
  gathers: Gathering[];
  /** Numbers of this process are finite. */
  finite: boolean;
  /** Ranks whose copies are missing; ranks whose counts are. */
  missing: Set<number>;
  uncounted: Set<number>;
  disk: boolean;
  stored: boolean;
  memory: boolean;
  received: readonly number[];
}

export class Team {
  readonly options: TeamOptions;
  /** The last whole round; number 0: none. */
  whole: Saved = { round: 0, own: undefined, copies: new Map(), sums: [] };
  /** Number of the last whole round on disk. */
  stable = 0;
  /** What {@link share} has offered: it stays until the team that it was offered to has begun. */
  #offered: Saved[] = [];
  protected running: Round | undefined;
  /** Copies of rounds that have not begun here. */
  #early: Came[] = [];
  /** Number of the step that is not decided; the newest that a member has skipped. */
  #step = 0;
  #skipped = -1;
  #contributed = false;
  /** Where the beginning of the team is not decided: what is missing. */
  #beginning:
    | {
        missing: Set<number>;
        gathers: Gathering[];
        recovered: Recovered | undefined;
        saved: Saved;
        /** What waits for its own data. */
        then: ((own: Uint8Array) => void)[];
      }
    | undefined;
  state: 'beginning' | 'open' | 'broken' | 'closed' = 'beginning';
  /**
   * What was wrong with the last step: no room in a memory or on the disk, a message that crossed it, members that did
   * different things, numbers that are not finite under a code of numbers.
   */
  problem: 'memory' | 'disk' | 'crossing' | 'mixed' | 'numbers' | undefined;
  /** A message has crossed: the member that sent it, and by how many more it sent than came. */
  crossed: { from: number; more: number } | undefined;
  #out: TeamEffect[] = [];

  constructor(options: TeamOptions) {
    this.options = options;
  }

  /** A round is under way, or another step that is not decided. */
  get waits(): boolean {
    return this.running !== undefined || this.#contributed;
  }
  get nextRound(): number {
    return (this.running ?? this.whole).round + 1;
  }

  /** What it brings into a new team. A round that is not decided counts where all of it is here. */
  share(node: string, folder: string, slot = 1): Share {
    const done = this.running && this.#contributed && this.ready(this.running) ? this.running : undefined;
    this.#offered = [this.whole, ...(done ? [savedOf(done)] : [])].filter((s) => s.round > 0);
    return {
      node,
      team: this.options.id,
      rank: this.options.rank,
      size: this.options.nodes.length,
      round: this.whole.round,
      done: done?.round ?? 0,
      stable: this.stable,
      folder,
      slot,
      held: this.#offered.map((s) => [s.round, [...s.copies.keys()]]),
      sums: this.#offered.map((s) => [s.round, s.sums.map((c) => c.name)]),
    };
  }
  /** What is here of a round that was offered. Not even a decision that has come since takes it away. */
  offered(round: number): Saved | undefined {
    return this.#offered.find((s) => s.round === round);
  }

  step(e: TeamEvent): TeamEffect[] {
    if (e.type === 'begin') this.#begin(e.plan, e.has);
    else if (e.type === 'here') this.here(e);
    else if (isCame(e)) this.#arrive(e);
    else if (e.type === 'skip') this.#skip(e.step);
    else if (e.type === 'rollback') this.#instead(Word.ROLLBACK);
    else if (e.type === 'leave') this.#instead(Word.LEAVE);
    else if (e.type === 'close') this.#close();
    else if (e.type === 'lost') this.#lose();
    else this.#decided(e.word, e.lost);
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** Once for each step. */
  #contribute(word: number): void {
    if (this.#contributed || this.state === 'closed' || this.state === 'broken') return;
    this.#contributed = true;
    this.#out.push({ type: 'contribute', word });
  }

  /** Members that have begun a round wait for what does not come. */
  #instead(word: number): void {
    if (this.#contributed || this.state !== 'open') return;
    for (const to of this.#others()) this.#out.push({ type: 'skip', to, step: this.#step });
    this.#contribute(word);
  }
  #skip(step: number): void {
    this.#skipped = Math.max(this.#skipped, step);
    if (this.running && this.#skipped === this.#step) this.#contribute(Word.NOTHING);
  }
  #others(): number[] {
    return this.options.nodes.map((_, r) => r).filter((r) => r !== this.options.rank);
  }

  // ── the beginning

  #begin(plan: Extract<Plan, { round: number }>, has: Saved | undefined): void {
    const { rank, codes, sums = [] } = this.options;
    const { round } = plan;
    const mine = plan.recoveries.find((r) => r.of === rank);
    const again = plan.sums.filter((h) => h.by === rank);
    const here = new Set(sums.filter((h) => h.by === rank).map((h) => keyOf(h.name)));
    for (const h of again) here.delete(keyOf(h.name));
    const saved: Saved = {
      round,
      own: has?.own,
      copies: new Map(has?.copies),
      sums: has?.sums.filter((c) => here.has(keyOf(c.name))) ?? [],
    };
    const missing = new Set(plan.transfers.filter((t) => t.to === rank).map((t) => t.of));
    this.#beginning = {
      missing,
      gathers: round > 0 ? again.map((h) => new Gathering(h.name, codes!)) : [],
      recovered: mine && new Recovered(mine, codes!, this.#format(mine.name)),
      saved,
      then: [],
    };
    this.stable = plan.stable;
    for (const { from, to, of } of plan.transfers) {
      if (from !== rank) continue;
      const send = (bytes: Uint8Array): void => void this.#out.push({ type: 'copy', to, round, of, bytes });
      const bytes = of === rank ? has?.own : has?.copies.get(of);
      if (bytes) send(bytes);
      else if (of === rank && (mine || missing.has(of))) this.#beginning.then.push(send);
      else throw new Error(`rank ${rank} has no data of rank ${of} in round ${round}`);
    }
    for (const { name, from, of: to } of plan.recoveries)
      for (const [share, by] of from) if (by === rank) this.#share(name, share, to, has!);
    const terms = (own: Uint8Array): void => void this.#terms(plan.sums, round, own);
    if (has?.own) terms(has.own);
    else if (round > 0) this.#beginning.then.push(terms);
    this.#replay();
    this.#begun();
  }

  #format(name: SumName): Format {
    return name.code === 'exact' ? exactFormat : this.options.numbers!;
  }

  /** To the holders of its group. @returns whether all numbers are finite; if not, the round does not count */
  #terms(sums: readonly Held[], round: number, own: Uint8Array): boolean {
    const mine = sums.filter((h) => h.name.ranks.includes(this.options.rank));
    if (mine.length === 0) return true;
    const { head, body, finite } = this.#format(mine[0]!.name).split(own);
    const bytes = sealed(head, finite ? body : NONE);
    for (const { by: to } of mine) this.#out.push({ type: 'term', to, round, of: this.options.rank, bytes });
    return finite;
  }

  #share(name: SumName, share: number, to: number, has: Saved): void {
    const { members } = name;
    const index = share - members;
    const sum = has.sums.find((c) => keyOf(c.name) === keyOf({ ...name, index }));
    const bytes =
      index < 0 ? sealed(NONE, this.#format(name).split(has.own!).body) : sealed(sum!.heads.get(to)!, sum!.body);
    this.#out.push({ type: 'share', to, round: has.round, of: share, bytes });
  }

  #begun(): void {
    const b = this.#beginning;
    if (!b) return;
    if (b.recovered?.broken || b.gathers.some((g) => g.broken)) return this.#contribute(Word.NOTHING);
    if (b.missing.size > 0 || b.recovered || b.gathers.some((g) => !g.whole)) return;
    this.#contribute(Word.READY); // R3
  }

  /** What the plan gives this process. @returns false: it is no part of that */
  #fromPlan(e: Exclude<Came, { type: 'count' }>): boolean {
    const b = this.#beginning;
    if (!b || e.round !== b.saved.round) return false;
    let own: Uint8Array | undefined;
    if (e.type === 'term') {
      if (!b.gathers.some((g) => g.add(e.of, e.bytes))) return false;
    } else if (e.type === 'share') {
      b.recovered?.add(e.of, e.bytes);
      own = b.recovered?.data;
      if (own) b.recovered = undefined;
    } else if (!b.missing.delete(e.of)) return false;
    else if (e.of === this.options.rank) own = e.bytes;
    else b.saved.copies.set(e.of, e.bytes);
    if (own) {
      b.saved.own = own;
      for (const f of b.then.splice(0)) f(own);
    }
    this.#begun();
    return true;
  }

  // ── rounds

  protected here(e: Extract<TeamEvent, { type: 'here' }>): void {
    const { rank, m, checked, codes, sums = [] } = this.options;
    const round = this.nextRound;
    const others = this.#others();
    const holds = e.memory ? others.filter((r) => this.holders(r).includes(rank)) : [];
    const counts = this.#step <= checked;
    this.running = {
      round,
      own: e.own,
      copies: new Map(),
      gathers: e.memory ? sums.filter((h) => h.by === rank).map((h) => new Gathering(h.name, codes!)) : [],
      finite: true,
      missing: new Set(holds),
      uncounted: new Set(counts ? others : []),
      disk: e.disk,
      stored: e.stored,
      memory: e.memory,
      received: e.received,
    };
    this.problem = this.crossed = undefined;
    if (e.memory && m > 0)
      for (const to of this.holders(rank)) this.#out.push({ type: 'copy', to, round, of: rank, bytes: e.own });
    if (e.memory) this.running.finite = this.#terms(sums, round, e.own);
    if (counts) for (const to of others) this.#out.push({ type: 'count', to, round, count: e.sent[to] ?? 0 });
    this.#replay();
    this.#complete();
    this.#skip(this.#skipped);
  }

  protected holders(rank: number): number[] {
    const { holders = holdersOf, nodes, m } = this.options;
    return holders(nodes, rank, m);
  }

  #arrive(e: Came): void {
    if (e.type !== 'count' && this.#fromPlan(e)) return;
    const r = this.running;
    if (r?.round !== e.round) {
      if (this.state === 'beginning' || (this.state === 'open' && e.round >= this.nextRound)) this.#early.push(e);
      return;
    }
    if (e.type === 'copy') {
      if (r.missing.delete(e.of)) r.copies.set(e.of, e.bytes);
    } else if (e.type === 'term') r.gathers.some((g) => g.add(e.of, e.bytes));
    else if (e.type === 'count' && r.uncounted.delete(e.from)) {
      const more = e.count - (r.received[e.from] ?? 0);
      if (more !== 0) this.crossed ??= { from: e.from, more }; // R5
    }
    this.#complete();
  }

  #replay(): void {
    for (const e of this.#early.splice(0)) this.#arrive(e);
  }

  protected ready(r: Round): boolean {
    return r.missing.size === 0 && r.uncounted.size === 0 && r.gathers.every((g) => g.missing.size === 0);
  }

  #complete(): void {
    const r = this.running;
    if (!r || !this.ready(r)) return;
    const straight = this.crossed ? 0 : Word.STRAIGHT;
    const finite = r.finite && !r.gathers.some((g) => g.broken);
    const numbers = this.#numbers && finite ? Word.FINITE : 0;
    this.#contribute(Word.HERE | (this.#fits(r) ? Word.FITS : 0) | (r.stored ? Word.STORED : 0) | straight | numbers);
  }

  /** Checksums are of numbers. */
  get #numbers(): boolean {
    return this.options.sums?.some((h) => h.name.code === 'real') === true;
  }

  #fits(r: Round): boolean {
    const held = [savedOf(r), this.whole];
    const own = held.flatMap((s) => [s.own?.length ?? 0, ...[...s.copies.values()].map((b) => b.length)]);
    const all = [...own, ...held.flatMap((s) => s.sums.map(sizeOf))];
    return all.reduce((n, b) => n + b, 0) <= this.options.memory;
  }

  // ── what is decided

  #decided(word: number, lost: boolean): void {
    const { running } = this;
    this.#contributed = false;
    this.#step++;
    this.running = undefined;
    if (lost) return this.#break();
    if (this.#beginning) {
      if ((word & Word.READY) === 0) return this.#break();
      const { saved, gathers } = this.#beginning;
      this.whole = { ...saved, sums: [...saved.sums, ...wholeOf(gathers)] };
      this.#beginning = undefined;
      this.state = 'open';
    } else if (running) {
      if ((word & Word.HERE) === 0) this.problem = 'mixed';
      else if ((word & Word.STRAIGHT) === 0) this.problem = 'crossing';
      else {
        const finite = !this.#numbers || !running.memory || (word & Word.FINITE) !== 0;
        const fits = (word & Word.FITS) !== 0 && running.memory && finite;
        const stored = (word & Word.STORED) !== 0 && running.disk;
        if (running.disk && !stored) this.problem = 'disk';
        else if (!finite) this.problem = 'numbers';
        else if (running.memory && !fits) this.problem = 'memory';
        if (!fits && !stored) return;
        // R1, R2.
        this.whole = fits ? savedOf(running) : { ...savedOf(running), copies: new Map(), sums: [] };
        if (stored) this.stable = running.round;
      }
    } else this.problem = (word & (Word.ROLLBACK | Word.LEAVE)) === 0 ? 'mixed' : undefined;
  }

  /** R4. The buffers stay for the team that comes next. */
  #break(): void {
    if (this.state !== 'closed') this.state = 'broken';
    this.#early = [];
  }

  #lose(): void {
    // Who has contributed waits for the answer, which is the same for all; who has not says that it never will.
    this.#contribute(Word.NOTHING);
    this.#early = [];
  }

  #close(): void {
    this.#instead(Word.CLOSE);
    this.state = 'closed';
  }
}

const isCame = (e: TeamEvent): e is Came =>
  e.type === 'copy' || e.type === 'term' || e.type === 'share' || e.type === 'count';
const wholeOf = (gathers: readonly Gathering[]): Checksum[] => gathers.flatMap((g) => g.whole ?? []);
export const savedOf = (r: Round): Saved => ({
  round: r.round,
  own: r.own,
  copies: r.copies,
  sums: wholeOf(r.gathers),
});
