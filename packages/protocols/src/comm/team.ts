/**
 * The members of a team at their comm core: they begin together, end together, and take their images together.
 *
 * Owns: who of the team is here, whether it has begun, the wave under way and the images of it. Does not own: what goes
 * with a frame (the team's policy), images, their storage.
 *
 *  T1  No member begins before all are here that have not ended, and every Channel Memory has answered for each: they
 *      come one by one, in any order. No frame of any of them leaves on a new connection before that Channel Memory has
 *      answered for all: what it has lost of a teammate must travel with the first.
 *  T6  Images of a wave are given to the host when all members have one whose channels are closed and their counts show
 *      a consistent cut, or no one is.
 *  T12 A member that has ended, in this life of the team or in one before, counts as imaged and closed. One that has
 *      ended here stays attached until all have: after a crash of the server its log is closed until it reports (F3).
 */
import type { ErrorBody, Position, TaskId } from '@mayfly/wire';
import type { CommEvent, CommOptions } from './events.ts';
import type { CommdTeam, TeamPolicy } from './policy.ts';
import { TeamWave } from './team-wave.ts';

/** So many determinants of a team leave without a message. */
const FLUSH = 512;

/** An answer to `image`; undefined: nobody waits for it any more. */
export type ImageAnswer = readonly [task: TaskId, position: Position | undefined];

/** What a team needs to know of a task that is here. */
interface Here {
  readonly position: Position;
  /** Per Channel Memory: it has answered on the present connection. */
  readonly attached: readonly boolean[];
}

export class CommTeam<Task extends Here> {
  readonly members: readonly TaskId[];
  readonly policy: CommdTeam;
  /** Members that have been started, until all are over. */
  readonly here = new Map<TaskId, Task>();
  /** Determinants were sent without a message, and nothing is acknowledged yet. */
  #flushing = false;
  /** Once it has begun. */
  #wave: TeamWave | undefined;
  readonly #ended: Set<TaskId>;
  /** Those that had ended when the wave under way began, ascending. */
  #done: readonly TaskId[] = [];
  /** Of the wave under way. */
  #images = new Map<TaskId, Position>();
  /** The images that the host has, and whose end it has not reported. */
  readonly #offered = new Set<TaskId>();
  readonly #rings: ReadonlySet<TaskId>;

  /** `ended`: members that do not begin. */
  constructor(members: readonly TaskId[], ended: readonly TaskId[], policy: TeamPolicy, channelMemories: number) {
    this.members = members;
    this.#ended = new Set(ended);
    this.policy = policy(members, channelMemories);
    this.#rings = new Set(members);
  }

  get begun(): boolean {
    return this.#wave !== undefined;
  }

  /** Why it cannot take this member. */
  refusal(task: TaskId): ErrorBody | undefined {
    return this.begun ? { code: 'INTERNAL', message: `task ${task} begins after its team has` } : undefined;
  }

  /** T1. All that begin are here. */
  get whole(): boolean {
    return this.members.every((task) => this.here.has(task) || this.#ended.has(task));
  }

  /** T1. All that are here have their starts. */
  begins(): void {
    const waves = [...this.here.values()].map((t) => this.policy.waveOf(t.position));
    this.#wave = new TeamWave(this.members, Math.max(0, ...waves));
  }

  /** T1. */
  mayLeave(cm: number): boolean {
    for (const t of this.here.values()) if (!t.attached[cm]) return false;
    return true;
  }

  /** Many determinants are not logged: they are to leave now, without a message. */
  flushes(): boolean {
    if (this.#flushing || this.policy.unlogged < FLUSH) return false;
    return (this.#flushing = true);
  }

  /** Something is, or the connection is gone. */
  acknowledged(): void {
    this.#flushing = false;
  }

  // ---- waves ----

  /** The number of the wave that begins, and who is to be asked for an image; undefined: none can begin. */
  wave(replaying: boolean): { readonly wave: number; readonly asked: readonly TaskId[] } | undefined {
    const asked = this.members.filter((task) => !this.#ended.has(task));
    if (asked.length === 0) return undefined;
    const wave = this.#wave?.begin(replaying);
    if (wave === undefined) return undefined;
    this.#images.clear();
    this.#done = this.members.filter((task) => this.#ended.has(task));
    for (const task of this.#done) {
      this.#wave!.imaged(task, wave, { rings: this.#rings });
      this.#wave!.closed(task, wave);
    }
    return { wave, asked };
  }

  image(task: TaskId, position: Position, wave: number | undefined): ImageAnswer[] {
    if (!this.#isUnderWay(wave) || this.#images.has(task)) return [[task, undefined]];
    this.#images.set(task, this.policy.inWave(position, wave, this.#done));
    this.#wave!.imaged(task, wave, { rings: this.#rings });
    return [];
  }

  closed(task: TaskId, wave: number): ImageAnswer[] {
    if (this.#wave?.closed(task, wave) !== true || this.#offered.size > 0) return [];
    // Only scripts, which cannot stop at a marker, may miss it.
    if (!this.policy.isCut(this.#images)) return this.declined(wave);
    for (const t of this.#images.keys()) this.#offered.add(t);
    return [...this.#images];
  }

  declined(wave: number): ImageAnswer[] {
    if (!this.#isUnderWay(wave) || this.#offered.size > 0) return [];
    this.#wave!.over(wave);
    const dropped = [...this.#images.keys()].map((task): ImageAnswer => [task, undefined]);
    this.#images.clear();
    return dropped;
  }

  imageOver(task: TaskId): void {
    if (this.#offered.delete(task) && this.#offered.size === 0) this.#wave!.over(this.#wave!.wave);
  }

  ends(task: TaskId): void {
    this.#ended.add(task);
  }

  #isUnderWay(wave: number | undefined): wave is number {
    return this.#wave?.underWay === true && wave === this.#wave.wave;
  }
}

/** The team of a task that begins, from now on among `all`; undefined: it is alone, or its protocol has no log. */
export function teamOf<Task extends Here>(
  all: Map<TaskId, CommTeam<Task>>,
  { teams, channelMemories }: Pick<CommOptions, 'teams' | 'channelMemories'>,
  { task, team: members = [], ended = [] }: Extract<CommEvent, { type: 'start' }>,
): CommTeam<Task> | undefined {
  if (!teams || members.length < 2) return undefined;
  let team = all.get(task);
  if (team === undefined) {
    team = new CommTeam<Task>(members, ended, teams, channelMemories);
    for (const member of members) all.set(member, team);
  }
  return team;
}
