/**
 * A random job of teams under the pessimistic log: ranks, rings, comm workers, Channel Memories, a Checkpoint Server;
 * crashes, replays, team images, finished ranks, damaged images, regrouping. It has the cores of src/teams and as
 * little else as will do. Time passes in steps, each of one actor.
 *
 *  J1 What a task wrote to the outside is what its execution wrote, and all of it.
 *  J2 A task consumed, of each sender, what the sender's execution sent, in order: no orphans.
 *  J3 Of what was sent, nothing is lost and nothing is there twice: consumed, or waiting in one place.
 *  J4 When nothing can happen any more, no replay is under way.
 */
import { WORLD, incarnation, taskId, type TaskId } from '@mayfly/wire';
import { ReplayDiverged, type EndpointStart } from '../../src/endpoint.ts';
import { raises } from '../../src/pessimistic/teams/regroup.ts';
import { startInTeam, replayInTeam } from '../../src/pessimistic/teams/position.ts';
import { randomOf } from '../random.ts';
import { Wrong } from '../coordinated/wrong.ts';
import { judge } from './judge.ts';
import { LOGS, ModelLog, logOf } from './model-log.ts';
import { ModelRank, type Around, type Message, type RankImage } from './model-rank.ts';
import { ModelTeam, type Life } from './model-team.ts';
import type { InRing } from '../../src/pessimistic/teams/image-cut.ts';
import type { Planted } from './planted.ts';

const STEPS = 2500;
/** Faults begin at this of 100, waves end at this of 100 faults: the rest are regroupings. */
const RARE = { fault: 98, wave: 60 };
const OFTEN = { fault: 95, wave: 50 };

const NOTHING = { limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 };
const FIRST: EndpointStart = { incarnation: incarnation(0), ...NOTHING };

export class Model {
  readonly random: (below: number) => number;
  readonly planted: Planted;
  readonly tasks: number;
  readonly ranks: ModelRank[] = [];
  readonly incarnations: number[];
  readonly logs: ModelLog[];
  teams: ModelTeam[] = [];
  readonly #teamOf: ModelTeam[] = [];
  readonly #rings = new Map<string, InRing<Message>[]>();
  calm = false;
  /** T9: the teams that stop. */
  #busy: ModelTeam[] | undefined;
  readonly counts = { crashes: 0, sets: 0, regroupings: 0, declined: 0, damaged: 0 };
  readonly #declines: number;
  readonly #sparse: boolean;
  readonly #pauses: number;
  readonly #barrier: boolean;
  readonly #weights: { rank: number; comm: number; kill: number; fault: number; wave: number };

  constructor(seed: number, planted: Planted = {}) {
    this.random = randomOf(seed);
    this.planted = planted;
    this.tasks = this.#pick([2, 3, 3, 4, 4, 5]);
    this.incarnations = new Array<number>(this.tasks).fill(0);
    this.logs = Array.from({ length: LOGS }, () => new ModelLog(this.tasks));
    const rank = this.#pick([45, 55, 65]);
    this.#weights = {
      rank,
      comm: rank + this.#pick([15, 23]),
      kill: this.#pick([0, 2, 5, 20]),
      ...this.#pick([RARE, RARE, OFTEN]),
    };
    this.#declines = this.#pick([0, 5, 30]);
    this.#barrier = this.random(2) === 0;
    this.#pauses = this.#pick([8, 8, 30]);
    this.#sparse = this.random(2) === 0;
    this.#form(this.#shuffled(Array.from({ length: this.tasks }, (_, t) => taskId(t))), [1, 2, 2, 3, 4]);
    for (const team of this.teams) this.#begin(team, new Map());
  }

  run(): this {
    try {
      for (let i = 0; i < STEPS; i++) {
        this.#turn();
        if (this.#busy) this.#regroup(this.#busy);
      }
      this.#settle();
      judge(this);
    } catch (e) {
      if (e instanceof ReplayDiverged || e instanceof RangeError) throw new Wrong(e.message);
      throw e;
    }
    return this;
  }

  teamOf(task: TaskId): ModelTeam {
    return this.#teamOf[task]!;
  }

  ring(src: TaskId, dst: TaskId): InRing<Message>[] {
    const key = `${src}>${dst}`;
    let q = this.#rings.get(key);
    if (!q) this.#rings.set(key, (q = []));
    return q;
  }

  // ---- turns ----

  #turn(): void {
    const c = this.random(100);
    const { rank, comm, kill, fault } = this.#weights;
    const team = this.#pick(this.teams);
    if (c < rank) this.#step(this.random(this.tasks));
    else if (c < comm) team.comm();
    else if (c < 90) {
      const lives = this.teams.flatMap((t) => t.lives).filter((l) => l.links.some((q) => q.length > 0));
      if (lives.length === 0) return;
      const life = this.#pick(lives);
      this.#deliver(life, this.#pick(life.links.flatMap((q, cm) => (q.length > 0 ? [cm] : []))));
      if (this.random(100) < kill && life.team.members.length > 1 && life.team.life === life) this.crash(life.team);
    } else if (c < 93) this.#attach(team);
    else if (c < fault) this.#complete(team);
    else this.#fault(team);
  }

  #step(task: number): boolean {
    return this.teamOf(taskId(task)).life ? this.ranks[task]!.step() : false;
  }

  #settle(): void {
    this.calm = true;
    this.#busy = undefined;
    for (const team of this.teams) team.stop = false;
    for (let more = true; more;) {
      more = false;
      for (let t = 0; t < this.tasks; t++) while (this.#step(t)) more = true;
      for (const team of this.teams) {
        while (team.comm()) more = true;
        if (this.#attach(team)) more = true;
        if (this.#complete(team)) more = true;
        for (const life of team.lives) for (let cm = 0; cm < LOGS; cm++) while (this.#deliver(life, cm)) more = true;
      }
    }
  }

  #deliver(life: Life, cm: number): boolean {
    const packet = life.links[cm]!.shift();
    if (!packet) return false;
    const acks = this.logs[cm]!.comes(packet);
    if (acks) life.acks.push(...acks.map((a) => ({ ...a, cm })));
    return true;
  }

  #fault(team: ModelTeam): void {
    const c = this.random(100);
    if (c < 25) {
      if (team.life) this.crash(team);
      else if (this.random(3) === 0) this.#lose(team, team.lost);
    } else if (c < this.#weights.wave) {
      if (team.life) team.begins(this.replays(team) && !this.planted.wavesInReplay);
    } else if (!this.#busy) {
      const may = this.teams.filter((t) => t.mayStop(this.replays(t) && !this.planted.regroupsEarly));
      this.#busy = this.#shuffled(may).slice(0, 2);
      for (const t of this.#busy) {
        t.begins(false);
        t.stop = !this.planted.goesOn;
      }
    }
  }

  replays(team: ModelTeam): boolean {
    return team.members.some((task) => this.ranks[task]!.ep.repeating);
  }

  // ---- teams ----

  #form(tasks: TaskId[], sizes: readonly number[]): ModelTeam[] {
    const formed: ModelTeam[] = [];
    while (tasks.length > 0) {
      const team = new ModelTeam(this, tasks.splice(0, this.#pick(sizes)));
      formed.push(team);
      for (const task of team.members) this.#teamOf[task] = team;
    }
    this.teams.push(...formed);
    return formed;
  }

  /** T1: the unit of failure is the team. */
  crash(team: ModelTeam): void {
    this.counts.crashes++;
    this.#lose(team, this.planted.restartsOne ? [this.#pick(team.members)] : team.members);
  }

  #lose(team: ModelTeam, lost: readonly TaskId[]): void {
    team.ends(lost);
    for (const task of lost) this.incarnations[task]!++;
    for (const key of [...this.#rings.keys()]) {
      const [src, dst] = key.split('>').map(Number) as [TaskId, TaskId];
      if (lost.includes(dst) || (lost.includes(src) && team.members.length === lost.length)) this.#rings.delete(key);
    }
    // Sometimes the newest image set cannot be read, and the one before is taken.
    if (team.sets.newest !== team.sets.oldest && this.random(5) === 0) {
      team.sets.damaged(team.sets.newest!.wave);
      this.counts.damaged++;
    }
    const singly = this.logs.flatMap((_, cm) => lost.map((task) => ({ cm, tasks: [task] })));
    const whole = this.logs.map((_, cm) => ({ cm, tasks: [...lost] }));
    // T1: in one step, or behind a barrier: everybody is fenced, then everybody is answered for.
    team.attachesTo = this.planted.fencesSingly
      ? this.#shuffled(singly).map((x) => ({ ...x, fence: true, answer: true }))
      : this.#barrier
        ? [
            ...this.#shuffled(singly).map((x) => ({ ...x, fence: false, answer: true })),
            ...this.#shuffled(singly).map((x) => ({ ...x, fence: true, answer: false })),
          ]
        : this.#shuffled(whole).map((x) => ({ ...x, fence: true, answer: true }));
  }

  #attach(team: ModelTeam): boolean {
    if (team.life) return false;
    const next = team.attachesTo.pop();
    if (next) {
      const log = this.logs[next.cm]!;
      if (next.fence) for (const task of next.tasks) log.fences(task, incarnation(this.incarnations[task]!));
      if (next.answer)
        team.answered(
          next.cm,
          log.answers(next.tasks.map((task) => ({ task, raises: this.#raises(team, task, next.cm) }))),
        );
      return true;
    }
    const starts = team.restart.starts(
      new Map(
        team.members.map((task) => {
          const image = team.imageOf(task);
          const at = image ? replayInTeam(image.position) : startInTeam();
          return [task, { incarnation: incarnation(this.incarnations[task]!), at }];
        }),
      ),
    );
    if ('lost' in starts) throw new Wrong(`task ${starts.task}: the logs lost ${starts.lost}`);
    this.#begin(team, starts);
    return true;
  }

  #raises(team: ModelTeam, task: TaskId, cm: number): [TaskId, number][] {
    const image = team.imageOf(task);
    if (!image || this.planted.countsStay) return [];
    return raises(image.line, team.members).filter(([dst]) => logOf(task, dst, LOGS) === cm);
  }

  #begin(team: ModelTeam, starts: ReadonlyMap<TaskId, EndpointStart>): void {
    const life = team.begin();
    for (const task of team.members) {
      const image = team.imageOf(task);
      const rank = this.ranks[task];
      const here = rank && !team.lost.includes(task);
      if (here || (rank && this.#isOver(rank, task))) {
        life.leaves.begin(task, rank.ep.line().determinants);
        Object.assign(rank, { reports: [], steps: here ? rank.steps : [] });
        continue;
      }
      const start = starts.get(task) ?? FIRST;
      life.leaves.begin(task, (image?.line.determinants ?? 0) + start.determinants.length);
      this.ranks[task] = new ModelRank(task, this.#around(team), start, image, team.wave.wave);
    }
  }

  #isOver(rank: ModelRank, task: TaskId): boolean {
    if (!this.planted.doneStays || !rank.program.exited) return false;
    const exit = rank.ep.sent().find(([dst]) => dst === WORLD)?.[1];
    return this.logs[logOf(task, WORLD, LOGS)]!.count(task, WORLD) === exit;
  }

  #around(team: ModelTeam): Around {
    const { random } = this;
    const calm = (): boolean => this.calm;
    return {
      tasks: this.tasks,
      members: team.members,
      planted: this.planted,
      declines: this.#declines,
      sparse: this.#sparse,
      pauses: this.#pauses,
      get calm() {
        return calm();
      },
      random,
      count: () => ++team.counter,
      ring: (src, dst) => this.ring(src, dst),
      arrival: (task, number) => this.logs[logOf(task, task, LOGS)]!.arrival(task, number),
      wanted: () => team.wave.wave,
      stopped: () => team.stop,
      imaged: (rank) => team.imaged(rank),
      declined: (rank, wave) => team.declined(rank, wave),
    };
  }

  // ---- images ----

  /** Determinants and remote messages before a member's image are in the logs. */
  #covers(team: ModelTeam, task: TaskId, image: RankImage): boolean {
    const first = team.imageOf(task)?.line.determinants ?? 0;
    for (let n = first; n < image.line.determinants; n++) if (!this.logs.some((l) => l.has(task, n))) return false;
    return raises(image.line, team.members)
      .concat(image.line.sends.filter(([dst]) => dst === WORLD))
      .every(([dst, n]) => this.logs[logOf(task, dst, LOGS)]!.count(task, dst) >= n);
  }

  #complete(team: ModelTeam): boolean {
    if (!team.life) return false;
    let more = team.offers();
    for (const { wave, task, image } of [...team.sets.waiting()]) {
      if (!this.#covers(team, task, image)) continue;
      more = true;
      if (this.planted.singleImages) team.singles.set(task, image);
      if (this.planted.trimsBySingle) this.#trim(task, image);
      team.sets.covered(wave, task);
      const set = team.sets.take(wave);
      if (!set) continue;
      team.sets.add(set);
      this.counts.sets++;
      team.wave.over(wave);
      for (const [t, oldest] of team.sets.oldest!.images) this.#trim(t, oldest);
    }
    return more;
  }

  #trim(task: TaskId, image: RankImage): void {
    for (const log of this.logs) log.trim(task, image.line);
  }

  // ---- T9 ----

  #regroup(teams: ModelTeam[]): void {
    const here = teams.every((t) => t.life && this.teams.includes(t) && (t.underWay || t.isWhole));
    if (here && teams.length > 0 && !teams.every((t) => t.isWhole)) return;
    if (!here || teams.length === 0) {
      for (const t of teams) t.stop = false;
      this.#busy = undefined;
      return;
    }
    this.#busy = undefined;
    this.counts.regroupings++;
    const first = new Map(teams.flatMap((t) => [...t.sets.newest!.images]));
    const members = this.#shuffled(teams.flatMap((t) => t.members));
    this.teams = this.teams.filter((t) => !teams.includes(t));
    for (const team of this.#form(members, [1, 2, 3])) {
      team.formedWith(first, (task) => this.logs[logOf(task, task, LOGS)]!.arrivals(task));
      this.#lose(team, team.members);
    }
  }

  // ---- chance ----

  #pick<T>(from: readonly T[]): T {
    return from[this.random(from.length)]!;
  }

  #shuffled<T>(from: readonly T[]): T[] {
    const out = [...from];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.random(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }
}
