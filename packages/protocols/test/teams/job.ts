/**
 * A random job of teams under the pessimistic log: the real comm core and the real Channel Memory, over the ranks and
 * rings of the model; closed tabs, ranks that are stopped, broken connections, servers that are killed and lose what no
 * sync has covered, sets of images, damaged images. What must hold at the end is J1–J4 (model.ts); a job that ends with
 * LOST_LOG is not judged, and only a loss of power may end one so.
 */
import { imageId, incarnation, taskId, type Position, type TaskId } from '@mayfly/wire';
import { protocols, type CmEvent } from '../../src/index.ts';
import { ReplayDiverged } from '../../src/endpoint.ts';
import { randomOf } from '../random.ts';
import { Wrong } from '../coordinated/wrong.ts';
import { judgeJob } from './judge.ts';
import type { InRing } from '../../src/pessimistic/teams/image-cut.ts';
import { JobServer } from './job-server.ts';
import { TeamLife, type AroundTeam, type Beginning } from './job-team.ts';
import type { JobPlanted } from './job-planted.ts';
import type { Around, Message, ModelRank, RankImage } from './model-rank.ts';

const STEPS = 2200;
const { images, log } = protocols.pessimistic;

interface Link {
  readonly life: TeamLife;
  readonly cm: number;
  readonly conn: number;
  up: Uint8Array[];
  down: Uint8Array[];
  /** Its node knows that it is broken, or is gone. */
  broken: boolean;
}

interface Stored {
  readonly image: RankImage;
  readonly position: Position;
  /** By Channel Memory. */
  readonly answers: Map<number, readonly (readonly [number, number])[]>;
  covered: boolean;
}

interface ImageSet {
  readonly wave: number;
  readonly images: ReadonlyMap<TaskId, Stored>;
}

interface OfTeam {
  readonly members: readonly TaskId[];
  life: TeamLife | undefined;
  /** Fences that are not set yet, [cm, task]. */
  fences: [number, TaskId][];
  sets: ImageSet[];
  candidate: { wave: number; images: Map<TaskId, Stored> } | undefined;
}

export class Job implements AroundTeam {
  readonly random: (below: number) => number;
  readonly tasks: number;
  readonly logs: number;
  readonly teams: OfTeam[] = [];
  readonly ranks: ModelRank[] = [];
  readonly server: JobServer;
  readonly #incarnations: number[];
  #links: Link[] = [];
  #conns = 0;
  readonly #rings = new Map<string, InRing<Message>[]>();
  calm = false;
  /** A Channel Memory lost what was not synced. */
  #lossy = false;
  lost = false;
  /** A set is complete, and its team is lost soon. */
  #fated: { life: TeamLife; left: number } | undefined;
  /** All their members have. */
  readonly #ended = new Set<OfTeam>();
  readonly counts = {
    crashes: 0,
    stops: 0,
    breaks: 0,
    kills: 0,
    losses: 0,
    sets: 0,
    declined: 0,
    damaged: 0,
    prologues: 0,
    lostLogs: 0,
  };
  /** Its programs are scripts, which have images only where they ask for them. */
  readonly #scripts: boolean;
  readonly #declines: number;
  readonly #sparse: boolean;
  readonly #pauses: number;
  readonly #faults: number;

  constructor(
    seed: number,
    readonly planted: JobPlanted = {},
  ) {
    this.random = randomOf(seed);
    const sizes = this.#pick([[2, 2], [2, 3], [3, 2], [2, 2, 2], [3], [2, 1], [2, 1, 2]]); // prettier-ignore
    this.tasks = sizes.reduce((a, b) => a + b, 0);
    this.logs = this.#pick([1, 1, 2]);
    this.#incarnations = new Array<number>(this.tasks).fill(0);
    this.#declines = this.#pick([0, 5, 30]);
    this.#pauses = this.#pick([8, 8, 30]);
    this.#sparse = this.random(2) === 0;
    this.#faults = this.#pick([2, 6, 14]);
    this.#scripts = this.random(2) === 0;
    if (this.#scripts) this.#declines = 0;
    let next = 0;
    for (const size of sizes) {
      const members = Array.from({ length: Math.max(size, 2) }, () => taskId(next++));
      this.teams.push({ members, life: undefined, fences: [], sets: [], candidate: undefined });
    }
    this.tasks = next;
    this.#incarnations = new Array<number>(next).fill(0);
    this.server = new JobServer({
      tasks: this.tasks,
      logs: this.logs,
      teams: this.teams.map((t) => t.members),
      policy: log,
      random: this.random,
      incarnation: (task) => incarnation(this.#incarnations[task]!),
      sends: (conn, cm, bytes) =>
        this.#links.find((l) => l.conn === conn && l.cm === cm && !l.broken)?.down.push(bytes),
      closes: (conn, cm) => {
        const link = this.#links.find((l) => l.conn === conn && l.cm === cm);
        if (link) this.#break(link);
      },
      exited: (task) => {
        // T12: "with the team". Not in the middle of the step that shows the EXIT.
        if (this.#teamOf(task).members.every((m) => this.server.exited.has(m))) this.#ended.add(this.#teamOf(task));
      },
      refused: (task, i) => {
        const team = this.#teamOf(task);
        if (i === this.#incarnations[task] && team.life) this.#lose(team);
      },
      covered: (cm, task, image, ranges) => this.#covered(cm, task, image, ranges),
    });
    for (const team of this.teams) this.#begin(team);
  }

  run(): this {
    try {
      for (let i = 0; i < STEPS && !this.lost; i++) this.#turn();
      this.#settle();
      if (!this.lost) judgeJob(this);
    } catch (e) {
      if (e instanceof ReplayDiverged || e instanceof RangeError) throw new Wrong(e.message);
      throw e;
    }
    return this;
  }

  // ---- turns ----

  #turn(): void {
    this.#overWith();
    const doomed =
      this.#fated && --this.#fated.left < 0 ? this.teams.find((t) => t.life === this.#fated?.life) : undefined;
    if (doomed) {
      this.#fated = undefined;
      this.counts.crashes++;
      this.#lose(doomed);
    }
    const c = this.random(200);
    const team = this.#pick(this.teams);
    if (c < 110) this.#rank(this.random(this.tasks));
    else if (c < 145) team.life?.turn();
    else if (c < 170) this.#carry();
    else if (c < 176) this.server.turn();
    else if (c < 183) this.#advance(team);
    else if (c < (this.#scripts ? 190 : 187)) team.life?.asks();
    else if (c < 187 + this.#faults && this.random(2) === 0) this.#fault(team);
    else this.#carry();
  }

  #rank(task: number): boolean {
    const { life } = this.#teamOf(taskId(task));
    return life?.ranks.get(taskId(task))?.step() ?? false;
  }

  /** A frame reaches the other end of some connection. */
  #carry(): boolean {
    const with_ = this.#links.filter((l) => l.up.length > 0 || l.down.length > 0);
    if (with_.length === 0) return false;
    const link = this.#pick(with_);
    const goesUp = link.up.length > 0 && (link.down.length === 0 || this.random(2) === 0);
    if (goesUp) this.server.frames(link.cm, link.conn, link.up.shift()!);
    else link.life.step({ type: 'received', cm: link.cm, bytes: link.down.shift()! });
    return true;
  }

  #fault(team: OfTeam): void {
    const c = this.random(10);
    if (c < 3 && team.life) {
      this.counts.crashes++;
      this.#lose(team);
    } else if (c < 4 && team.life) {
      this.counts.stops++;
      team.life.step({ type: 'stop', task: this.#pick(team.members) });
      this.#lose(team);
    } else if (c < 8) {
      const live = this.#links.filter((l) => !l.broken);
      if (live.length === 0) return;
      this.counts.breaks++;
      this.#break(this.#pick(live));
    } else {
      this.counts.kills++;
      const before = this.server.lostRecords;
      for (const l of [...this.#links]) this.#break(l, false);
      this.server.kill(this.random(2) === 0);
      for (const { life, members } of this.teams) if (life) this.#unattended(members, life.here);
      if (this.server.lostRecords > before) {
        this.counts.losses++;
        this.#lossy = true;
      }
    }
  }

  #overWith(): boolean {
    const all = [...this.#ended].flatMap((t) => t.members).filter((task) => !this.server.over.has(task));
    for (const task of all) {
      this.server.over.add(task);
      this.#all({ type: 'done', task });
    }
    return all.length > 0;
  }

  #settle(): void {
    this.calm = true;
    for (let more = true, idle = 0; (more || idle++ < 3) && !this.lost;) {
      more = this.#overWith();
      for (let t = 0; t < this.tasks; t++) while (this.#rank(t)) more = true;
      for (const team of this.teams) {
        while (team.life?.turn()) more = true;
        if (this.#advance(team)) more = true;
      }
      while (this.#carry()) more = true;
      if (this.server.turn()) more = true;
    }
  }

  // ---- connections ----

  sends(life: TeamLife, cm: number, bytes: Uint8Array): void {
    this.#links.find((l) => l.life === life && l.cm === cm && !l.broken)?.up.push(bytes);
  }

  drops(life: TeamLife, cm: number): void {
    const link = this.#links.find((l) => l.life === life && l.cm === cm && !l.broken);
    if (link) this.#break(link);
  }

  #break(link: Link, known = true): void {
    if (!this.#links.includes(link)) return;
    this.#links = this.#links.filter((l) => l !== link);
    if (!link.broken) link.life.step({ type: 'disconnected', cm: link.cm });
    link.broken = true;
    if (known) this.server.step(link.cm, { type: 'closed', conn: link.conn });
  }

  // ---- teams ----

  /** Fences are set, connections made, a team begins. */
  #advance(team: OfTeam): boolean {
    const { life } = team;
    if (life) {
      for (let cm = 0; cm < this.logs; cm++) {
        if (this.#links.some((l) => l.life === life && l.cm === cm)) continue;
        this.#links.push({ life, cm, conn: ++this.#conns, up: [], down: [], broken: false });
        life.step({ type: 'connected', cm });
        return true;
      }
      return false;
    }
    if (this.#ended.has(team)) return false; // no member ever restarts
    const fence = team.fences.splice(this.random(team.fences.length), 1)[0];
    if (fence) {
      const [cm, task] = fence;
      this.server.step(cm, { type: 'fence', task, incarnation: incarnation(this.#incarnations[task]!) });
      return true;
    }
    this.#begin(team);
    return true;
  }

  #begin(team: OfTeam): void {
    const set = team.sets.at(-1);
    const who = set ? team.members.filter((task) => set.images.has(task)) : team.members;
    for (const src of team.members) for (const dst of team.members) this.#rings.delete(`${src}>${dst}`);
    const beginnings = who.map((task): Beginning => {
      const stored = set?.images.get(task);
      const image = stored && { ...stored.image, position: stored.position };
      return { task, incarnation: this.#incarnations[task]!, image };
    });
    if (this.#scripts && set) this.counts.prologues++;
    team.life = new TeamLife(team.members, beginnings, this);
    this.#unattended(team.members, who);
    team.life.wave = set?.wave ?? 0;
  }

  /** D25: members that had ended where the others went back to are in no comm worker. */
  #unattended(members: readonly TaskId[], here: readonly TaskId[]): void {
    for (const task of members) if (!here.includes(task)) this.#all({ type: 'unattended', task });
  }

  begins(rank: ModelRank): void {
    this.ranks[rank.task] = rank;
  }

  ends(life: TeamLife, lostLog: boolean): void {
    const team = this.teams.find((t) => t.life === life);
    if (!team) return;
    if (lostLog) {
      if (!this.#lossy) throw new Wrong('LOST_LOG, and no power was lost');
      this.counts.lostLogs++;
      this.lost = true;
    } else this.#lose(team);
  }

  /** T1. What is under way on its connections may still come. */
  #lose(team: OfTeam): void {
    const life = team.life!;
    life.over = true;
    team.life = undefined;
    team.candidate = undefined;
    for (const link of this.#links) if (link.life === life) Object.assign(link, { broken: true, down: [] });
    this.#closeEnds();
    for (const task of team.members) {
      this.#incarnations[task]!++;
      for (const [image, c] of this.server.covers) if (c.task === task) this.server.covers.delete(image);
    }
    if (team.sets.length > 1 && this.random(3) === 0) {
      team.sets.pop();
      this.counts.damaged++;
    }
    team.fences = team.members.flatMap((task) => this.server.cores.map((_, cm): [number, TaskId] => [cm, task]));
  }

  #closeEnds(): void {
    for (const l of [...this.#links]) if (l.broken && l.up.length === 0 && this.random(2) === 0) this.#break(l);
  }

  #teamOf(task: TaskId): OfTeam {
    return this.teams.find((t) => t.members.includes(task))!;
  }

  around(life: TeamLife, task: TaskId): Around {
    const { random } = this;
    const calm = (): boolean => this.calm;
    return {
      tasks: this.tasks,
      members: life.members,
      planted: this.planted.rank ?? {},
      script: this.#scripts ? { asked: () => life.asked(task), at: () => life.round } : undefined,
      declines: this.#declines,
      sparse: this.#sparse,
      pauses: this.#pauses,
      get calm() {
        return calm();
      },
      random,
      count: () => ++life.counter,
      ring: (src, dst) => this.ring(src, dst),
      arrival: (_, number) => life.arrivals.get(task)?.get(number),
      wanted: () => life.wave,
      stopped: () => false,
      imaged: (rank) => {
        life.imaged(rank);
      },
      declined: (rank, wave) => {
        this.counts.declined++;
        life.declined(rank, wave);
      },
    };
  }

  ring(src: TaskId, dst: TaskId): InRing<Message>[] {
    const key = `${src}>${dst}`;
    let q = this.#rings.get(key);
    if (!q) this.#rings.set(key, (q = []));
    return q;
  }

  // ---- the Checkpoint Server ----

  stored(life: TeamLife, wave: number, task: TaskId, position: Position, image: RankImage): void {
    const team = this.teams.find((t) => t.life === life)!;
    if (team.candidate?.wave !== wave) team.candidate = { wave, images: new Map() };
    team.candidate.images.set(task, { image, position, answers: new Map(), covered: false });
    const id = `${task}/${wave}/${this.#incarnations[task]!}`;
    this.server.covers.set(id, { task, position });
    this.#all({ type: 'cover', task, image: imageId(id), position });
  }

  dropped(life: TeamLife, wave: number): void {
    const team = this.teams.find((t) => t.life === life);
    if (team?.candidate?.wave === wave) team.candidate = undefined;
  }

  #covered(cm: number, task: TaskId, image: string, ranges: readonly (readonly [number, number])[]): void {
    const [, wave, i] = image.split('/').map(Number);
    const team = this.#teamOf(task);
    const s = team.candidate?.wave === wave ? team.candidate?.images.get(task) : undefined;
    if (!s || i !== this.#incarnations[task]) return;
    s.answers.set(cm, ranges);
    const kept = team.sets.flatMap((set) => set.images.get(task)?.position ?? []);
    s.covered = s.answers.size === this.logs && images.covers(s.position, s.answers.values(), kept);
    if (s.covered) this.#complete(team);
  }

  #complete(team: OfTeam): void {
    const { life, candidate } = team;
    if (!life || !candidate || ![...candidate.images.values()].every((s) => s.covered)) return;
    // T12: a member without an image in it has ended.
    const has = (task: TaskId): boolean =>
      candidate.images.has(task) || (this.planted.setsOfSome ?? this.server.exited.has(task));
    if (!team.members.every(has)) return;
    this.counts.sets++;
    if (this.random(4) === 0) this.#fated = { life, left: this.random(80) };
    team.candidate = undefined;
    team.sets = [...team.sets, candidate].slice(-2);
    for (const task of candidate.images.keys()) {
      this.server.covers.delete(`${task}/${candidate.wave}/${this.#incarnations[task]!}`);
      life.step({ type: 'imageOver', task });
    }
    const [oldest] = team.sets;
    for (const task of team.members) {
      const kept = team.sets.flatMap((set) => set.images.get(task)?.position ?? []);
      if (oldest!.images.has(task)) this.#all({ type: 'trim', task, position: images.trimTo(kept) });
      else if (this.server.exited.has(task) && !this.server.over.has(task)) {
        this.server.over.add(task);
        this.#all({ type: 'done', task });
      }
    }
  }

  #all(event: CmEvent): void {
    for (let cm = 0; cm < this.logs; cm++) this.server.step(cm, event);
  }

  /** What its execution has written is outside. */
  written(task: TaskId): [number, number][] {
    return [...this.server.written[task]!].sort((a, b) => a[0] - b[0]);
  }

  arrivals(task: TaskId): [src: TaskId, n: number, payload: number][] {
    const of = this.#teamOf(task).life?.arrivals.get(task) ?? new Map<number, never>();
    return [...of]
      .filter(([number]) => number > this.ranks[task]!.ep.consumed)
      .map(([, a]) => [(a as Message & { src: TaskId }).src, (a as Message).n, (a as Message).payload]);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.random(from.length)]!;
  }
}
