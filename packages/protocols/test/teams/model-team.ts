/** A team of the model: its comm worker, and its sets at the Checkpoint Server. */
import { encodeTeamBlock, homeOf, incarnation, type TaskId } from '@mayfly/wire';
import { carriedOver } from '../../src/pessimistic/teams/regroup.ts';
import { positionInTeam, replayInTeam } from '../../src/pessimistic/teams/position.ts';
import { TeamLeaves } from '../../src/pessimistic/teams/leaves.ts';
import { TeamRestart, type MemberAnswer } from './model-restart.ts';
import { TeamWave } from '../../src/comm/team-wave.ts';
import { TeamSets } from '../../src/images/team-sets.ts';
import { LOGS, logOf, type Packet } from './model-log.ts';
import type { ModelRank, RankImage, UpFrame } from './model-rank.ts';
import type { Planted } from './planted.ts';

/** What a team needs of its job. */
export interface Job {
  readonly planted: Planted;
  readonly calm: boolean;
  readonly ranks: readonly ModelRank[];
  readonly incarnations: readonly number[];
  readonly counts: { declined: number };
  readonly random: (below: number) => number;
}

/** One life of a team's tab: what dies with it, and its connections, which may still hold frames. */
export interface Life {
  readonly team: ModelTeam;
  readonly leaves: TeamLeaves;
  /** By Channel Memory. */
  readonly links: Packet[][];
  readonly acks: { cm: number; task: TaskId; first: number; end: number }[];
}

export class ModelTeam {
  sets: TeamSets<RankImage>;
  wave: TeamWave;
  restart: TeamRestart;
  /** T4: the counter that the team shares. */
  counter = 0;
  stop = false;
  life: Life | undefined;
  /** Those whose connections may still hold frames. */
  readonly lives: Life[] = [];
  lost: readonly TaskId[];
  attachesTo: { cm: number; tasks: TaskId[]; fence: boolean; answer: boolean }[] = [];
  /** T6 undone: each member's newest image. */
  readonly singles = new Map<TaskId, RankImage>();
  #frame: UpFrame | 'none' | undefined;

  constructor(
    private readonly model: Job,
    readonly members: readonly TaskId[],
  ) {
    this.sets = new TeamSets(members, 2);
    this.wave = new TeamWave(members, 0);
    this.restart = new TeamRestart(members, LOGS);
    this.lost = members;
  }

  imageOf(task: TaskId): RankImage | undefined {
    return this.singles.get(task) ?? this.sets.newest?.images.get(task);
  }

  get underWay(): boolean {
    return this.wave.underWay;
  }

  /** The set of the last wave is complete. */
  get isWhole(): boolean {
    return !this.wave.underWay && this.sets.newest?.wave === this.wave.wave;
  }

  begin(): Life {
    const { leaves: Leaves = TeamLeaves } = this.model.planted;
    const links = Array.from({ length: LOGS }, (): Packet[] => []);
    this.life = { team: this, leaves: new Leaves(this.members, LOGS), links, acks: [] };
    this.lives.push(this.life);
    if (this.lost.length === this.members.length) this.counter = 0;
    this.wave = new TeamWave(this.members, this.sets.newest?.wave ?? 0);
    return this.life;
  }

  ends(lost: readonly TaskId[]): void {
    this.life = undefined;
    this.lost = lost;
    this.stop = false;
    this.#frame = undefined;
    this.restart = new TeamRestart(this.members, LOGS);
    this.sets.drop();
  }

  answered(cm: number, answers: readonly MemberAnswer[]): void {
    // T1 undone: the others are answered for as if nothing had to be asked.
    const others = this.members
      .filter((task) => !this.lost.includes(task))
      .map((task) => ({ task, attached: { received: [], arrivals: Infinity, determinants: [] }, blocks: [] }));
    this.restart.answered(cm, [...answers, ...others]);
  }

  // ---- the comm worker ----

  /** One step; false: there is nothing to do. */
  comm(): boolean {
    const { life } = this;
    if (!life) return false;
    const { leaves } = life;
    const ack = life.acks.shift();
    if (ack) {
      const { cm, task, first, end } = ack;
      leaves.acknowledged(cm, task, {
        determinantsFirst: first,
        determinantsAppended: end,
        determinantsSynced: end,
        arrivalsSynced: 0,
        channels: [],
      });
      return true;
    }
    if (this.#frame === undefined) return this.#takes(leaves);
    const unread = [...leaves.unread];
    if (unread.length > 0) {
      const task = unread[this.model.random(unread.length)]!;
      leaves.reads(task, this.model.ranks[task]!.reports.splice(0));
      return true;
    }
    const frame = this.#frame === 'none' ? this.#next() : this.#frame;
    this.#frame = undefined;
    if (!frame) return false;
    const block = encodeTeamBlock(leaves.sections(frame.src));
    const cm = frame.k === 'data' ? logOf(frame.src, frame.dst, LOGS) : homeOf(frame.src, LOGS);
    life.links[cm]!.push({ frame, incarnation: incarnation(this.model.incarnations[frame.src]!), block });
    return true;
  }

  /** T5: first the frame, then the number. */
  #takes(leaves: TeamLeaves): boolean {
    const early = this.model.planted.readsFirst && !this.model.calm;
    const frame = early ? 'none' : this.#next();
    if (!frame) return false;
    this.#frame = frame;
    leaves.takes(this.counter);
    return true;
  }

  #next(): UpFrame | undefined {
    const have = this.members.filter((task) => this.model.ranks[task]!.up.length > 0);
    return have.length > 0 ? this.model.ranks[have[this.model.random(have.length)]!]!.up.shift() : undefined;
  }

  // ---- images ----

  mayStop(replays: boolean): boolean {
    return this.life !== undefined && !replays && !this.wave.underWay;
  }

  begins(replays: boolean): void {
    this.wave.begin(replays);
  }

  imaged(rank: ModelRank): void {
    const { ranks } = this.model;
    const { wave } = rank.cut;
    for (const dst of this.wave.imaged(rank.task, wave, { rings: rank.cut.rings }))
      if (ranks[dst]!.cut.wave === wave) ranks[dst]!.cut.noRing(rank.task);
    for (const src of this.wave.withoutRing(rank.task, wave)) rank.cut.noRing(src);
  }

  declined(rank: ModelRank, wave: number): void {
    this.model.counts.declined++;
    rank.image = undefined;
    if (this.model.planted.completesDeclined) {
      const image = this.sets.newest?.images.get(rank.task);
      if (image) {
        rank.image = { ...image, wave };
        this.wave.imaged(rank.task, wave, { rings: new Set() });
        for (const dst of this.members) this.model.ranks[dst]!.cut.noRing(rank.task);
        return;
      }
    }
    // A marker of a wave that was dropped may be met when the next one is under way.
    if (this.wave.wave === wave) this.stop = false;
    this.wave.over(wave);
    this.sets.drop(wave);
  }

  /** Images of the wave whose channel state is whole are offered, when all are. */
  offers(): boolean {
    const { wave } = this.wave;
    if (!this.wave.underWay || [...this.sets.waiting()].length > 0) return false;
    const ranks = this.members.map((task) => this.model.ranks[task]!);
    let all = false;
    for (const r of ranks) {
      const here = r.image?.wave === wave && r.cut.closed && r.steps.length === 0;
      if (here) all = this.wave.closed(r.task, wave);
    }
    if (!all) return false;
    for (const r of ranks) this.sets.stored(wave, r.task, r.image!);
    return true;
  }

  // ---- T9 ----

  /** The images of a regrouping are the first set. */
  formedWith(images: ReadonlyMap<TaskId, RankImage>, arrivals: (task: TaskId) => number): void {
    const { dropsCarried, withoutGate, withoutPlaces } = this.model.planted;
    const first = new Map<TaskId, RankImage>();
    for (const task of this.members) {
      const image = images.get(task);
      if (!image) return;
      // What is left of an earlier regrouping stands before what came by rings since.
      const gate = withoutGate ? 0 : arrivals(task);
      const place = withoutPlaces ? 0 : arrivals(task);
      const bodies = [...image.bodies, ...(dropsCarried ? [] : [{ place, channels: image.channels }])];
      first.set(task, {
        ...image,
        wave: 0,
        position: positionInTeam({ ...replayInTeam(image.position), gate }),
        bodies,
        carried: carriedOver(bodies, (m) => m.n),
        channels: new Map(),
      });
    }
    this.sets = new TeamSets(this.members, 2);
    this.sets.add({ wave: 0, images: first, done: [] });
  }
}
