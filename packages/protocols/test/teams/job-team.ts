/**
 * One life of a team of {@link Job}: a node with the real comm core, over the ranks and rings of the model. Takes
 * frames, then the counter, then the reports, while the ranks go on.
 */
import {
  Flag,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  incarnation,
  readFrame,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { Comm, protocols, type CommEffect, type CommEvent } from '../../src/index.ts';
import { viewOf } from '../../src/channel-memory/records.ts';
import { teams } from '../../src/pessimistic/teams/commd.ts';
import { replayInTeam } from '../../src/pessimistic/teams/position.ts';
import { nextRound } from '../../src/pessimistic/teams/rounds.ts';
import type { Report } from '../../src/endpoint.ts';
import { ModelRank, type Around, type RankImage, type UpFrame } from './model-rank.ts';
import type { JobPlanted } from './job-planted.ts';

export interface Arrival {
  readonly src: TaskId;
  readonly n: number;
  readonly payload: number;
}

/** What a team wants of the job. */
export interface AroundTeam {
  readonly tasks: number;
  readonly logs: number;
  readonly planted: JobPlanted;
  random: (below: number) => number;
  sends: (team: TeamLife, cm: number, bytes: Uint8Array) => void;
  drops: (team: TeamLife, cm: number) => void;
  begins: (rank: ModelRank) => void;
  /** Its images of a wave, at the Checkpoint Server. */
  stored: (team: TeamLife, wave: number, task: TaskId, position: Position, image: RankImage) => void;
  dropped: (team: TeamLife, wave: number) => void;
  /** A Channel Memory refused a member, or the logs lost something. */
  ends: (team: TeamLife, lostLog: boolean) => void;
  around: (life: TeamLife, task: TaskId) => Around;
}

export interface Beginning {
  readonly task: TaskId;
  readonly incarnation: number;
  readonly image: RankImage | undefined;
}

const text = ({ task, incarnation: i }: Beginning): { capability: string; nonce: string } => ({
  capability: `${task}.${i}`,
  nonce: `nonce-${task}-${i}`,
});

export class TeamLife {
  readonly comm: Comm;
  readonly ranks = new Map<TaskId, ModelRank>();
  readonly arrivals = new Map<TaskId, Map<number, Arrival>>();
  /** The last wave, and by member the one in which it was asked for an image. */
  wave = 0;
  readonly #asked = new Map<TaskId, number>();
  /** Scripts: the call of checkpoint.here at which they take their images of the wave. */
  round = 0;
  counter = 0;
  over = false;
  /** Connections by Channel Memory. */
  readonly conns: (number | undefined)[];
  readonly #finished = new Set<TaskId>();
  readonly #exited = new Set<TaskId>();
  readonly #closed = new Set<TaskId>();
  /** What has been taken, and the counter once it is read. */
  #taken: { frame: UpFrame | undefined; upTo: number | undefined } | undefined;

  constructor(
    readonly members: readonly TaskId[],
    readonly beginnings: readonly Beginning[],
    private readonly job: AroundTeam,
  ) {
    const { commd } = protocols.pessimistic;
    const { planted } = job;
    this.comm = new Comm({ size: job.tasks, channelMemories: job.logs, policy: commd, teams: planted.teams ?? teams });
    this.conns = new Array<undefined>(job.logs).fill(undefined);
    for (const b of beginnings) {
      const position = b.image?.position ?? protocols.pessimistic.recovery.start;
      this.step({
        type: 'start',
        task: b.task,
        incarnation: incarnation(b.incarnation),
        ...text(b),
        position,
        team: members,
        ended: members.filter((m) => !beginnings.some((other) => other.task === m)),
      });
    }
  }

  /** Members that its comm worker has. */
  get here(): TaskId[] {
    return this.beginnings.map((b) => b.task);
  }

  step(e: CommEvent): void {
    if (!this.over) for (const x of this.comm.step(e)) this.#perform(x);
  }

  #perform(e: CommEffect): void {
    switch (e.type) {
      case 'send':
        return this.job.sends(this, e.cm, e.bytes.slice());
      case 'deliver': {
        const { header: h, body } = readFrame(e.bytes, viewOf(e.bytes), 0);
        let of = this.arrivals.get(e.task);
        if (!of) this.arrivals.set(e.task, (of = new Map()));
        of.set(h.arrival, { src: h.src, n: h.channel, payload: viewOf(body).getUint32(0, true) });
        return;
      }
      case 'ready': {
        const image = this.beginnings.find((b) => b.task === e.task)?.image;
        const wave = Math.max(0, ...this.beginnings.map((b) => (b.image ? b.image.wave : 0)));
        const rank = new ModelRank(e.task, this.job.around(this, e.task), e.start, image, wave);
        this.ranks.set(e.task, rank);
        return this.job.begins(rank);
      }
      case 'checkpoint':
        if (this.wave !== e.wave) {
          const callers = [...this.ranks.values()].map(({ calls }) => ({ calls, waits: false }));
          this.round = nextRound(callers, 0) + this.job.random(2);
        }
        this.wave = e.wave!;
        this.#asked.set(e.task, e.wave!);
        return;
      case 'image': {
        const rank = this.ranks.get(e.task);
        if (!e.position || !rank?.image) return;
        const wave = replayInTeam(e.position).wave!;
        return this.job.stored(this, wave, e.task, e.position, rank.image);
      }
      case 'finished':
        this.#finished.add(e.task);
        return;
      case 'revoked':
        return;
      case 'refused':
        return this.job.ends(this, e.error.code === 'LOST_LOG');
      case 'drop':
        return this.job.drops(this, e.cm);
      case 'mark':
    }
  }

  asked(task: TaskId): number {
    return this.#asked.get(task) ?? 0;
  }

  /** One step of the comm worker; false: there is nothing to do. */
  turn(): boolean {
    if (this.ranks.size === 0 || this.over) return false;
    if (this.#taken) return this.#leaves();
    const all = [...this.ranks.values()];
    const from = all.filter((r) => r.up.length > 0);
    const frame = from.length > 0 ? from[this.job.random(from.length)]!.up.shift() : undefined;
    if (frame || all.some((r) => r.reports.length > 0)) {
      this.#taken = { frame, upTo: undefined };
      return true;
    }
    let more = false;
    for (const r of all) {
      if (
        r.cut.wave > 0 &&
        r.image?.wave === r.cut.wave &&
        r.cut.closed &&
        r.steps.length === 0 &&
        !this.#closed.has(r.task)
      ) {
        this.#closed.add(r.task);
        this.step({ type: 'closed', task: r.task, wave: r.cut.wave });
        more = true;
      }
      this.step({ type: 'consumed', task: r.task, arrivals: r.ep.consumed, envelopeOnly: false });
      if (this.#exited.has(r.task) || !r.program.exited || r.steps.length > 0 || r.up.length > 0) continue;
      this.#exited.add(r.task); // its EXIT was logged by an incarnation before
      this.step({ type: 'ended', task: r.task });
      more = true;
    }
    return more;
  }

  /** T5. */
  #leaves(): boolean {
    const taken = this.#taken!;
    if (taken.upTo === undefined) {
      taken.upTo = this.counter;
      return true;
    }
    const { frame, upTo } = taken;
    this.#taken = undefined;
    const of = [...this.ranks.values()].map((r) => [r.task, r.reports.splice(0)] as [TaskId, Report[]]);
    const reports = { upTo, of };
    if (!frame) {
      this.step({ type: 'reports', task: this.members[0]!, reports });
      return true;
    }
    this.step({ type: 'ring', task: frame.src, bytes: this.#encode(frame), reports });
    return true;
  }

  #encode(frame: UpFrame): Uint8Array {
    const h = emptyHeader(frame.k === 'data' ? Kind.DATA : Kind.DETERMINANTS);
    h.src = h.dst = frame.src;
    h.incarnation = incarnation(this.beginnings.find((b) => b.task === frame.src)!.incarnation);
    if (frame.k !== 'data') return encodeFrame(h);
    h.dst = frame.dst;
    h.channel = frame.n;
    h.size = 8;
    h.flags = Flag.LAST;
    const { ep, program } = this.ranks.get(frame.src)!;
    if (frame.dst === WORLD) h.mode = WorldMode.STDOUT;
    if (frame.dst === WORLD && program.exited && frame.n === ep.sent().find(([dst]) => dst === WORLD)![1]) {
      h.mode = WorldMode.EXIT;
      this.#exited.add(frame.src);
    }
    const body = new Uint8Array(8);
    viewOf(body).setUint32(0, frame.payload, true);
    return encodeFrame(h, body);
  }

  // ---- waves ----

  asks(): void {
    const [task] = this.members;
    const replaying = [...this.ranks.values()].some((r) => r.ep.repeating);
    this.step({ type: 'wave', task: task!, replaying });
  }

  imaged(rank: ModelRank): void {
    const { wave } = rank.cut;
    this.#closed.delete(rank.task);
    for (const m of this.members) {
      const mate = this.ranks.get(m);
      if (!mate || (mate.image?.wave === wave && !mate.image.rings.has(rank.task))) rank.cut.noRing(m);
      if (mate?.cut.wave === wave && !rank.image!.rings.has(m)) mate.cut.noRing(rank.task);
    }
    if (this.#asked.get(rank.task) !== wave) return; // it counts as ended
    if (this.#finished.has(rank.task)) return this.declined(rank, wave);
    const of = [...this.ranks.values()].map((r) => [r.task, r.reports.splice(0)] as [TaskId, Report[]]);
    this.step({ type: 'reports', task: rank.task, reports: { upTo: this.counter, of } });
    this.step({ type: 'image', task: rank.task, position: rank.image!.position, wave });
  }

  declined(rank: ModelRank, wave: number): void {
    rank.image = undefined;
    this.step({ type: 'declined', task: rank.task, wave });
    this.job.dropped(this, wave);
  }
}
