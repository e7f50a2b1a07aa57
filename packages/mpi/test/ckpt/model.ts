/**
 * Teams of processes in a small world: copies and counts travel in any order but that of their channel, decisions are
 * made when all that live have contributed and come to each at another moment, nodes are lost at any moment, also while
 * a team begins, and what was lost is replaced on another node. Judged by what processes roll back to.
 */
import { portableKernel, sharedCodes } from '@mayfly/checkpoint/codes';
import {
  checksumsOf,
  newcomer,
  partnerOf,
  planOf,
  type Held,
  type Plan,
  type Protection,
  type Share,
} from '../../src/ckpt/plan.ts';
import { Team, type TeamEffect, type TeamEvent, type TeamOptions } from '../../src/ckpt/team.ts';

export interface Kit {
  readonly team: new (options: TeamOptions) => Team;
  readonly plan: (shares: readonly Share[], m: number, how?: Partial<Protection>) => Plan;
  readonly sums: (nodes: readonly string[], checksums: number, most: number) => Held[];
}
const codes = sharedCodes(portableKernel);
export const honest: Kit = {
  team: Team,
  plan: planOf,
  sums: (nodes, c, most) => checksumsOf(nodes, 'exact', c, most, codes),
};

export class Violation extends Error {}

interface Process {
  node: string;
  /** The team whose data it has; the one that it is joining. */
  team: Team | undefined;
  next: Team | undefined;
  /** Joint step of the newer of both that it hears of next. */
  step: number;
}
interface Step {
  words: Map<number, number>;
  answer: { word: number; lost: boolean } | undefined;
}

/** Xorshift: a number below n. */
function random(seed: number): (n: number) => number {
  let s = Math.imul(seed, 2654435761) >>> 0 || 1;
  return (n) => {
    s ^= s << 13;
    s ^= s >>> 17;
    s = (s ^ (s << 5)) >>> 0;
    return s % n;
  };
}

/** Of different lengths. */
const bytesOf = (rank: number, round: number): Uint8Array =>
  Uint8Array.of(rank, round & 255, round >> 8, ...Array<number>((rank * 5 + round) % 7).fill(round & 255));

export class World {
  rollbacks = 0;
  private readonly draw: (n: number) => number;
  private readonly n: number;
  private readonly perNode: number;
  private readonly m: number;
  private nodes = 0;
  private teams = 0;
  private processes: (Process | undefined)[];
  private channels = new Map<string, TeamEvent[]>();
  private steps: Step[] = [];
  /** Who has heard of the loss; undefined: nobody is lost. */
  private heard: Set<number> | undefined;
  /** The newest round that a process knew to be whole. */
  private whole = 0;
  /** Nodes lost since all had everything. */
  private lost = new Set<string>();

  constructor(
    private readonly kit: Kit,
    seed: number,
  ) {
    this.draw = random(seed);
    this.perNode = 1 + this.draw(2);
    const nodes = 2 + this.draw(4);
    this.n = nodes * this.perNode;
    this.m = 1 + this.draw(Math.min(3, nodes - 1));
    this.processes = Array<undefined>(this.n).fill(undefined);
    this.join();
  }

  private get living(): number[] {
    return this.processes.flatMap((p, r) => (p ? [r] : []));
  }

  /** One thing happens. */
  turn(): void {
    if (this.draw(80) === 0) this.lose();
    this.decide();
    const can = this.moves();
    const joining = this.living.some((r) => this.processes[r]!.next);
    // After a loss the program recovers at some moment; now and then it does so without one (MPI_Ckpt_ctrl).
    if (!joining && (can.length === 0 || this.draw(this.heard ? 12 : 200) === 0)) return this.join();
    if (can.length === 0) throw new Violation('a team that begins stands still');
    can[this.draw(can.length)]!();
  }

  private moves(): (() => void)[] {
    const can: (() => void)[] = [];
    for (const [key, queue] of this.channels) {
      const to = Number(key.split('>')[1]);
      if (this.processes[to] && queue.length > 0) can.push(() => this.hand(to, queue.shift()!));
    }
    for (const r of this.living) {
      const p = this.processes[r]!;
      if (this.steps[p.step]?.answer) can.push(() => this.hear(r));
      else if (this.heard && !this.heard.has(r))
        can.push(() => {
          this.heard!.add(r);
          this.hand(r, { type: 'lost' });
        });
      else if (!p.next && p.team?.state === 'open' && !p.team.waits && !this.heard) can.push(() => this.here(r));
    }
    return can;
  }

  private hand(rank: number, e: TeamEvent): void {
    const p = this.processes[rank]!;
    for (const x of (p.next ?? p.team)?.step(e) ?? []) this.effect(rank, x);
  }

  private effect(rank: number, e: TeamEffect): void {
    if (e.type === 'contribute') {
      const step = (this.steps[this.processes[rank]!.step] ??= { words: new Map(), answer: undefined });
      if (step.words.has(rank)) throw new Violation(`rank ${rank} contributes twice`);
      step.words.set(rank, e.word);
      return;
    }
    const key = `${rank}>${e.to}`;
    const queue = this.channels.get(key) ?? [];
    this.channels.set(key, queue);
    if (e.type === 'count') queue.push({ type: 'count', round: e.round, from: rank, count: e.count });
    else if (e.type === 'skip') queue.push({ type: 'skip', step: e.step });
    else queue.push({ type: e.type, round: e.round, of: e.of, bytes: e.bytes });
  }

  private here(rank: number): void {
    const own = bytesOf(rank, this.processes[rank]!.team!.nextRound);
    const none = Array<number>(this.n).fill(0);
    this.hand(rank, { type: 'here', own, disk: false, stored: true, memory: true, sent: none, received: none });
  }

  /** N5 of the membership service. */
  private decide(): void {
    for (const s of this.steps) {
      if (s.answer || !this.living.every((r) => s.words.has(r))) continue;
      const word = this.living.reduce((w, r) => w & s.words.get(r)!, -1);
      s.answer = { word, lost: this.living.length < this.n };
    }
  }

  private hear(rank: number): void {
    const p = this.processes[rank]!;
    const { answer } = this.steps[p.step++]!;
    this.hand(rank, { type: 'decided', ...answer! });
    if (p.next) {
      if (p.next.state === 'open') p.team = p.next;
      p.next = undefined;
      if (this.living.every((r) => !this.processes[r]!.next)) this.begun();
    }
    if (!this.heard) this.whole = Math.max(this.whole, p.team?.whole.round ?? 0);
  }

  private lose(): void {
    const nodes = [...new Set(this.living.map((r) => this.processes[r]!.node))];
    if (nodes.length < 2) return;
    const node = nodes[this.draw(nodes.length)]!;
    this.lost.add(node);
    this.heard ??= new Set();
    for (const r of this.living) if (this.processes[r]!.node === node) this.processes[r] = undefined;
  }

  /** Survivors and replacements form a team. */
  private join(): void {
    this.rollbacks++;
    // What was decided before their agreement to join comes before it; what is decided later comes to some in time.
    for (const r of this.living) while (this.steps[this.processes[r]!.step]?.answer) this.hear(r);
    this.decide();
    const late = (r: number): void => {
      if (this.draw(2) === 0 && this.steps[this.processes[r]!.step]?.answer) this.hear(r);
    };
    const places = new Map<number, string>();
    const placeOf = (rank: number): string => {
      const at = Math.floor(rank / this.perNode);
      const name = places.get(at) ?? `node ${this.nodes++}`;
      places.set(at, name);
      return name;
    };
    const shares = this.processes.map((p, r): Share => {
      if (!p?.team) return newcomer(p?.node ?? placeOf(r));
      late(r);
      return p.team.share(p.node, 'files');
    });
    for (const r of this.living) late(r);
    this.form(shares);
  }

  private form(shares: Share[]): void {
    const nodes = shares.map((s) => s.node);
    // MPI_Ckpt_ctrl may change the way.
    const sums = this.draw(2) === 0 ? [] : this.kit.sums(nodes, this.m, 1 + this.draw(4));
    const m = sums.length > 0 ? 0 : this.m;
    const pairs = m === 1 && this.n % (2 * this.perNode) === 0 && this.draw(2) === 0;
    const how = { sums, codes, ...(pairs && { holders: partnerOf }) };
    const plan = this.kit.plan(shares, m, how);
    if (plan.error !== undefined) {
      if (this.lost.size <= this.m) throw new Violation(`"${plan.error}" after ${this.lost.size} losses of ${this.m}`);
      // More than it is for: all begin again.
      this.whole = 0;
      for (const r of this.living) this.processes[r]!.team = undefined;
      return this.form(shares.map((s) => newcomer(s.node)));
    }
    if (this.lost.size <= this.m && plan.round < this.whole)
      throw new Violation(`goes back to round ${plan.round}: ${this.whole} was whole`);
    this.channels = new Map();
    this.steps = [];
    this.heard = undefined;
    const id = `team ${++this.teams}`;
    this.processes = shares.map(({ node }, r) => ({
      node,
      team: this.processes[r]?.team,
      next: new this.kit.team({ id, rank: r, nodes, m, ...how, memory: 1 << 20, checked: 2 }),
      step: 0,
    }));
    for (const [r, p] of this.processes.entries())
      this.hand(r, { type: 'begin', plan, has: p!.team?.offered(plan.round) });
  }

  /** Q17: everybody has left the beginning. */
  private begun(): void {
    if (this.living.length < this.n || this.processes.some((p) => p!.team?.state !== 'open')) return;
    const rounds = new Set(this.processes.map((p) => p!.team!.whole.round));
    if (rounds.size !== 1) throw new Violation(`goes back to rounds ${[...rounds].join(', ')}`);
    const round = [...rounds][0]!;
    for (const [r, p] of this.processes.entries())
      if (round > 0 && p!.team!.whole.own?.join() !== bytesOf(r, round).join())
        throw new Violation(`rank ${r} goes back to ${p!.team!.whole.own?.join() ?? 'nothing'} in round ${round}`);
    this.whole = round;
    this.lost.clear();
  }
}

/** Runs one seed. @throws Violation */
export function play(kit: Kit, seed: number, turns = 800): number {
  const world = new World(kit, seed);
  for (let i = 0; i < turns; i++) world.turn();
  return world.rollbacks;
}
