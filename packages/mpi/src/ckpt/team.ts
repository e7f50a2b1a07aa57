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
 *
 * Owns: the buffers. Does not own: what is in them, messages, the disk.
 */
import { holdersOf, type Plan, type Share } from './plan.ts';

/** What a member contributes; the bits that all have in common are the answer. */
export const Word = {
  HERE: 1,
  FITS: 2,
  STRAIGHT: 4,
  ROLLBACK: 8,
  CLOSE: 16,
  READY: 32,
  STORED: 64,
  LEAVE: 128,
  NOTHING: 0,
} as const;

/** Data of one round: of the process itself, and by rank of others. */
export interface Saved {
  round: number;
  own: Uint8Array | undefined;
  copies: Map<number, Uint8Array>;
}

export interface TeamOptions {
  /** Of this team among all of the job. */
  id: string;
  rank: number;
  nodes: readonly string[];
  /** Copies of each rank's data. */
  m: number;
  /** Most bytes in both buffers. */
  memory: number;
  /** Rounds in this many first steps are checked for crossing messages. */
  checked: number;
}

export type TeamEvent =
  /** The team begins: what the plan says, and what there is of its round here. */
  | { type: 'begin'; plan: Extract<Plan, { round: number }>; has: Saved | undefined }
  /**
   * MPI_Ckpt_here. `disk`: the round is one of the disk. `stored`: the data are there, where they have to be. `memory`:
   * copies are made. `sent`, `received`: messages of the program so far, by rank.
   */
  | {
      type: 'here';
      own: Uint8Array;
      disk: boolean;
      stored: boolean;
      memory: boolean;
      sent: readonly number[];
      received: readonly number[];
    }
  | { type: 'copy'; round: number; of: number; bytes: Uint8Array }
  /** How many messages a member has sent here before a round. */
  | { type: 'count'; round: number; from: number; count: number }
  /** A member has come to a step with something else than a round: it sends no copies. */
  | { type: 'skip'; step: number }
  | { type: 'rollback' }
  /** For another team. */
  | { type: 'leave' }
  | { type: 'close' }
  | { type: 'lost' }
  | { type: 'decided'; word: number; lost: boolean };

export type TeamEffect =
  | { type: 'copy'; to: number; round: number; of: number; bytes: Uint8Array }
  | { type: 'count'; to: number; round: number; count: number }
  | { type: 'skip'; to: number; step: number }
  /** To the next step that is not decided. */
  | { type: 'contribute'; word: number };

interface Round extends Saved {
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
  whole: Saved = { round: 0, own: undefined, copies: new Map() };
  /** Number of the last whole round on disk. */
  stable = 0;
  /** What {@link share} has offered: it stays until the team that it was offered to has begun. */
  #offered: Saved[] = [];
  protected running: Round | undefined;
  /** Copies of rounds that have not begun here. */
  #early: Extract<TeamEvent, { type: 'copy' | 'count' }>[] = [];
  /** Number of the step that is not decided; the newest that a member has skipped. */
  #step = 0;
  #skipped = -1;
  #contributed = false;
  /** Where the beginning of the team is not decided: what is missing. */
  #beginning: { missing: Set<number>; saved: Saved } | undefined;
  state: 'beginning' | 'open' | 'broken' | 'closed' = 'beginning';
  /**
   * What was wrong with the last step: no room in a memory or on the disk, a message that crossed it, members that did
   * different things.
   */
  problem: 'memory' | 'disk' | 'crossing' | 'mixed' | undefined;
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
    this.#offered = [this.whole, ...(done ? [done] : [])].filter((s) => s.round > 0);
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
    };
  }
  /** What is here of a round that was offered. Not even a decision that has come since takes it away. */
  offered(round: number): Saved | undefined {
    return this.#offered.find((s) => s.round === round);
  }

  step(e: TeamEvent): TeamEffect[] {
    if (e.type === 'begin') this.#begin(e.plan, e.has);
    else if (e.type === 'here') this.here(e);
    else if (e.type === 'copy' || e.type === 'count') this.#arrive(e);
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
    const { rank } = this.options;
    const saved: Saved = { round: plan.round, own: has?.own, copies: new Map(has?.copies) };
    const missing = new Set(plan.transfers.filter((t) => t.to === rank).map((t) => t.of));
    this.#beginning = { missing, saved };
    this.stable = plan.stable;
    for (const { from, to, of } of plan.transfers) {
      if (from !== rank) continue;
      const bytes = of === rank ? has?.own : has?.copies.get(of);
      if (!bytes) throw new Error(`rank ${rank} has no data of rank ${of} in round ${plan.round}`);
      this.#out.push({ type: 'copy', to, round: plan.round, of, bytes });
    }
    this.#replay();
    this.#begun();
  }

  #begun(): void {
    if (this.#beginning && this.#beginning.missing.size === 0) this.#contribute(Word.READY); // R3
  }

  // ── rounds

  protected here(e: Extract<TeamEvent, { type: 'here' }>): void {
    const { rank, m, checked } = this.options;
    const round = this.nextRound;
    const others = this.#others();
    const holds = e.memory ? others.filter((r) => this.holders(r).includes(rank)) : [];
    const counts = this.#step <= checked;
    this.running = {
      round,
      own: e.own,
      copies: new Map(),
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
    if (counts) for (const to of others) this.#out.push({ type: 'count', to, round, count: e.sent[to] ?? 0 });
    this.#replay();
    this.#complete();
    this.#skip(this.#skipped);
  }

  protected holders(rank: number): number[] {
    return holdersOf(this.options.nodes, rank, this.options.m);
  }

  #arrive(e: Extract<TeamEvent, { type: 'copy' | 'count' }>): void {
    const b = this.#beginning;
    if (b && e.type === 'copy' && e.round === b.saved.round && b.missing.delete(e.of)) {
      if (e.of === this.options.rank) b.saved.own = e.bytes;
      else b.saved.copies.set(e.of, e.bytes);
      return this.#begun();
    }
    const r = this.running;
    if (r?.round !== e.round) {
      if (this.state === 'beginning' || (this.state === 'open' && e.round >= this.nextRound)) this.#early.push(e);
      return;
    }
    if (e.type === 'copy') {
      if (r.missing.delete(e.of)) r.copies.set(e.of, e.bytes);
    } else if (r.uncounted.delete(e.from)) {
      const more = e.count - (r.received[e.from] ?? 0);
      if (more !== 0) this.crossed ??= { from: e.from, more }; // R5
    }
    this.#complete();
  }

  #replay(): void {
    for (const e of this.#early.splice(0)) this.#arrive(e);
  }

  protected ready(r: Round): boolean {
    return r.missing.size === 0 && r.uncounted.size === 0;
  }

  #complete(): void {
    const r = this.running;
    if (!r || !this.ready(r)) return;
    const straight = this.crossed ? 0 : Word.STRAIGHT;
    this.#contribute(Word.HERE | (this.#fits(r) ? Word.FITS : 0) | (r.stored ? Word.STORED : 0) | straight);
  }

  #fits(r: Round): boolean {
    const held = [r, this.whole].flatMap((s) => [s.own, ...s.copies.values()]);
    return held.reduce((n, b) => n + (b?.length ?? 0), 0) <= this.options.memory;
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
      this.whole = this.#beginning.saved;
      this.#beginning = undefined;
      this.state = 'open';
    } else if (running) {
      if ((word & Word.HERE) === 0) this.problem = 'mixed';
      else if ((word & Word.STRAIGHT) === 0) this.problem = 'crossing';
      else {
        const fits = (word & Word.FITS) !== 0 && running.memory;
        const stored = (word & Word.STORED) !== 0 && running.disk;
        if (running.disk && !stored) this.problem = 'disk';
        else if (running.memory && !fits) this.problem = 'memory';
        if (!fits && !stored) return;
        // R1, R2.
        this.whole = { round: running.round, own: running.own, copies: fits ? running.copies : new Map() };
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
