/**
 * The jobs of a node: a frame per job, the ranks in it, and the watchdog over both.
 *
 * Invariants
 *  J1 A rank is held from its assignment until its worker is known to be gone; exactly one `ended` or frame death ends
 *  it.
 *  J2 A frame is dead when it reports that, or when it has left PINGS pings of an awake daemon unanswered, and PATIENCE
 *     more for each that it once left unanswered before it did answer: its machine is a busy one. The limit is
 *     SLOW_PINGS if it has never answered, or if its host reports deaths: then a busy machine is more likely than a
 *     dead frame. A daemon that itself slept (a closed laptop, a frozen tab) does not count the time.
 *  J3 A frame without ranks is closed after a while; it is opened again for the next assignment.
 *  J4 A frame serves one job and is then thrown away. A spare one, which a node without ranks keeps ready, has heard of
 *  no job.
 *  J5 The server's word on a program decides nothing: one of a kind that this node does not run is refused by its label
 *     before anything is fetched, and by what it is once its bytes are here (comm/host.ts).
 */
import {
  kindOf,
  PROGRAM_KINDS,
  type Assignment,
  type ErrorBody,
  type ImageId,
  type Incarnation,
  type JobId,
  type ProgramKind,
  type Revoke,
  type TaskId,
  type TaskReport,
} from '@mayfly/wire';
import type { CommToDaemon, RankEnd, TaskStatus } from '../messages.ts';
import type { Parity } from './parity.ts';
import type { DaemonSeams, JobFrame } from './seams.ts';

const PING_MS = 1000;
const PINGS = 6;
const PATIENCE = 3;
const SLOW_PINGS = 60;
/** A tick that comes later than this after the last one: this thread slept. */
const SLEPT_MS = 4000;
const IDLE_FRAME_MS = 3000;

export interface HeldRank {
  assignment: Assignment;
  since: number;
  status: TaskStatus | undefined;
  /** The frame has its assignment. Until then it hears nothing of this rank: a revoke would overtake it. */
  handed: boolean;
  /** When the server had its newest image whole, this machine's clock. */
  imageAt?: number;
  /** Its last image is complete: it does nothing more. */
  parked?: true;
}

interface Job {
  id: JobId;
  frame: JobFrame | undefined;
  opening: Promise<void>;
  ranks: Map<TaskId, HeldRank>;
  /** It has answered once: its comm worker runs. */
  awake: boolean;
  unanswered: number;
  /** The most that it left unanswered since it is awake, and answered after all. */
  late: number;
  closing: (() => void) | undefined;
  connected: boolean;
  lostWakeUps: number;
  letSleep: (() => void) | undefined;
}

/** A frame from its opening on; `job`: whose it is, undefined for the spare one. */
interface Opened {
  frame: JobFrame;
  awake: boolean;
  dead: string | undefined;
  job: Job | undefined;
}

export interface JobsEvents {
  onReport(report: TaskReport): void;
  onEnded(rank: HeldRank, how: RankEnd, why?: string): void;
  /** It has ended, and its EXIT is on its way: what it did within its team is to be known before. */
  onLast(rank: HeldRank): void;
  onImage(rank: HeldRank, bytes: number): void;
  onChange(): void;
  onNote(job: JobId, text: string): void;
}

export class Jobs {
  private readonly jobs = new Map<JobId, Job>();
  private stopTicking: (() => void) | undefined;
  private lastTick = 0;
  private pings = 0;
  private spare: Promise<Opened> | undefined;
  private keepSpare = false;
  private share = 100;
  private hurried: (() => void) | undefined;
  /** Ranks whose last image {@link leave} waits for. */
  private readonly leaving = new Map<HeldRank, () => void>();

  constructor(
    private readonly seams: DaemonSeams,
    private readonly events: JobsEvents,
    private readonly parity: Pick<Parity, 'pinned' | 'kept' | 'unkept' | 'complete' | 'left'>,
    private readonly runs: readonly ProgramKind[] = PROGRAM_KINDS,
  ) {}

  *held(): Generator<HeldRank, void> {
    for (const job of this.jobs.values()) yield* job.ranks.values();
  }

  get lostWakeUps(): number {
    let n = 0;
    for (const j of this.jobs.values()) n += j.lostWakeUps;
    return n;
  }

  /** Every data connection of every job with ranks is up. */
  get connected(): boolean {
    for (const j of this.jobs.values()) if (j.ranks.size > 0 && !j.connected) return false;
    return true;
  }

  /** J5: reports it to the server, which places the rank elsewhere. */
  declines({ job, task, incarnation, program }: Assignment): boolean {
    if (this.runs.includes(kindOf(program.language))) return false;
    const message =
      'this volunteer runs WebAssembly programs only (C, C++): start it with --allow-typescript to change that';
    this.events.onReport({ job, task, incarnation, event: 'refused', error: { code: 'PROGRAM_REFUSED', message } });
    return true;
  }

  /** @param received when it came, by this machine's clock @param node this node's name */
  async assign(a: Assignment, received: number, node: string): Promise<void> {
    let job = this.jobs.get(a.job);
    if (!job) {
      job = {
        id: a.job,
        frame: undefined,
        opening: Promise.resolve(),
        ranks: new Map(),
        awake: false,
        unanswered: 0,
        late: 0,
        closing: undefined,
        connected: true,
        lostWakeUps: 0,
        letSleep: this.seams.holdAwake?.(a.job),
      };
      this.jobs.set(a.job, job);
      job.opening = this.open(job);
    }
    job.closing?.();
    job.closing = undefined;
    const before = job.ranks.get(a.task);
    if (before && before.assignment.incarnation >= a.incarnation) return;
    const rank: HeldRank = { assignment: a, since: this.seams.now(), status: undefined, handed: false };
    job.ranks.set(a.task, rank);
    this.events.onChange();
    this.tick();
    try {
      await job.opening;
      const local = a.manifest ? (await this.seams.images.list()).some((i) => i.image === a.manifest!.image) : false;
      if (job.ranks.get(a.task) !== rank) return;
      rank.handed = true;
      job.frame!.channel.post({
        type: 'assign',
        assignment: a,
        clockOffset: a.serverTime - received,
        local,
        node,
        runs: this.runs,
      });
    } catch (e) {
      this.lost(job, e instanceof Error ? e.message : String(e));
    }
  }

  /** J4. */
  private async open(job: Job): Promise<void> {
    const { spare } = this;
    this.spare = undefined;
    let opened = await spare?.catch(() => undefined);
    if (opened === undefined || opened.dead !== undefined) opened = await this.openFrame();
    const { frame } = opened;
    if (this.jobs.get(job.id) !== job) return frame.close();
    job.frame = frame;
    if (this.share < 100) frame.channel.post({ type: 'share', percent: this.share });
    job.awake = opened.awake;
    opened.job = job;
    if (opened.dead !== undefined) this.lost(job, opened.dead);
  }

  private async openFrame(): Promise<Opened> {
    const frame = await this.seams.openFrame();
    const opened: Opened = { frame, awake: false, dead: undefined, job: undefined };
    const died = (why: string): void => {
      opened.dead = why;
      if (opened.job) return this.lost(opened.job, why);
      this.spare = undefined;
      frame.close();
    };
    frame.onDeath(died);
    frame.channel.onMessage((m) => {
      opened.awake = true;
      if (opened.job) this.fromComm(opened.job, m);
    });
    frame.channel.onClose(() => died('the frame no longer exists'));
    return opened;
  }

  /** From now on a node without ranks keeps a frame ready, where its host wants that. */
  warm(): void {
    this.keepSpare = this.seams.spareFrame;
    if (!this.keepSpare || this.spare || this.jobs.size > 0) return;
    const spare = this.openFrame();
    this.spare = spare;
    // An answer shows that its comm worker runs. Only silence after that counts (J2). A frame that does not open costs
    // nothing.
    spare.then(
      (o) => o.frame.channel.post({ type: 'ping', n: 0 }),
      () => this.spare === spare && (this.spare = undefined),
    );
  }

  private fromComm(job: Job, m: CommToDaemon): void {
    if (this.jobs.get(job.id) !== job) return;
    if (job.awake) job.late = Math.max(job.late, job.unanswered - 1);
    job.awake = true;
    job.unanswered = 0;
    switch (m.type) {
      case 'pong':
        break;
      case 'status':
        job.connected = m.connected;
        job.lostWakeUps = m.lostWakeUps;
        for (const s of m.tasks) {
          const rank = job.ranks.get(s.task);
          if (rank?.assignment.incarnation !== s.incarnation) continue;
          const ends = s.local !== undefined && s.activity.state === 'ended' && rank.status?.activity.state !== 'ended';
          rank.status = s;
          if (!s.parked) delete rank.parked;
          if (ends) this.events.onLast(rank);
        }
        this.events.onChange();
        break;
      case 'report':
        // A frame speaks for its own ranks only (a program may have taken it over).
        if (job.ranks.get(m.task)?.assignment.incarnation !== m.incarnation) break;
        this.events.onReport({
          job: job.id,
          task: m.task,
          incarnation: m.incarnation,
          event: m.event,
          ...(m.error ? { error: m.error } : {}),
        });
        break;
      case 'ended':
        this.ended(job, m.task, m.incarnation, m.how);
        break;
      case 'keep':
        if (m.manifest.job !== job.id || !job.ranks.has(m.manifest.task)) break;
        void this.keep(job, m);
        break;
      case 'complete': {
        const rank = job.ranks.get(m.task);
        if (rank) {
          rank.imageAt = this.seams.now();
          this.parity.complete(job.id, m.task, m.image);
          this.events.onImage(rank, m.bytes);
        }
        if (rank && m.last) {
          rank.parked = true;
          this.leaving.get(rank)?.();
        }
        break;
      }
      case 'page':
        this.seams.images
          .page(m.hash)
          .catch(() => undefined)
          .then((bytes) => job.frame?.channel.post({ type: 'page', hash: m.hash, bytes }, bytes ? [bytes.buffer] : []));
        break;
      case 'note':
        this.events.onNote(job.id, m.text);
        break;
    }
  }

  private async keep(job: Job, { manifest, fresh, parity }: Extract<CommToDaemon, { type: 'keep' }>): Promise<void> {
    const { task } = manifest;
    try {
      await this.seams.images.put(manifest, fresh, this.parity.pinned(job.id, task));
      if (parity) this.parity.kept(manifest, parity === 'waits');
    } catch (e) {
      // A full disk or a private window: the server's copy is the truth.
      this.events.onNote(job.id, `no local copy of image ${manifest.image}: ${String(e)}`);
      if (parity === 'waits') this.parity.unkept(manifest);
    }
  }

  /** What the daemon has found out for the comm worker (messages.ts). */
  isProtected(id: JobId, task: TaskId, image: ImageId, holds: boolean): void {
    this.jobs.get(id)?.frame?.channel.post({ type: 'protected', task, image, holds });
  }

  private ended(job: Job, task: TaskId, incarnation: Incarnation, how: RankEnd, why?: string): void {
    const rank = job.ranks.get(task);
    if (!rank || rank.assignment.incarnation !== incarnation) return;
    job.ranks.delete(task);
    this.leaving.get(rank)?.();
    const over = how === 'finished' || how === 'failed';
    const stays = this.parity.left(job.id, task, over);
    if (over && !stays) void this.seams.images.forget(job.id, task).catch(() => undefined);
    this.events.onEnded(rank, how, why);
    if (job.ranks.size === 0)
      job.closing = this.seams.after(IDLE_FRAME_MS, () => {
        if (job.ranks.size === 0) this.close(job);
      });
  }

  /** The frame died: every rank in it is reported as crashed. */
  private lost(job: Job, why: string): void {
    if (this.jobs.get(job.id) !== job) return;
    this.close(job);
    const error: ErrorBody = { code: 'INTERNAL', message: why };
    for (const rank of [...job.ranks.values()]) {
      const { task, incarnation } = rank.assignment;
      job.ranks.delete(task);
      this.events.onReport({ job: job.id, task, incarnation, event: 'crashed', error });
      this.events.onEnded(rank, 'crashed', why);
    }
  }

  private close(job: Job): void {
    if (this.jobs.get(job.id) === job) this.jobs.delete(job.id);
    job.closing?.();
    job.letSleep?.();
    job.letSleep = undefined;
    job.frame?.channel.close();
    job.frame?.close();
    if (this.keepSpare) this.warm();
  }

  revoke(r: Pick<Revoke, 'job' | 'task' | 'incarnation'>): void {
    const job = this.jobs.get(r.job);
    const rank = job?.ranks.get(r.task);
    if (!job || !rank || rank.assignment.incarnation > r.incarnation) return;
    if (rank.handed) job.frame!.channel.post({ type: 'revoke', task: r.task, incarnation: r.incarnation });
    else this.ended(job, r.task, rank.assignment.incarnation, 'revoked');
  }

  checkpoint(job?: JobId, task?: TaskId, last?: boolean, atCall?: number): void {
    for (const j of this.jobs.values())
      if (job === undefined || j.id === job)
        j.frame?.channel.post({
          type: 'checkpoint',
          ...(task === undefined ? {} : { task }),
          ...(last === undefined ? {} : { leave: last }),
          ...(atCall === undefined ? {} : { atCall }),
        });
  }

  /** A Channel Memory of the job works elsewhere now. */
  reconnect(job: JobId, memory: number): void {
    this.jobs.get(job)?.frame?.channel.post({ type: 'reconnect', memory });
  }

  /** Percent of a processor for each rank, from now on. */
  setShare(percent: number): void {
    this.share = percent;
    for (const j of this.jobs.values()) j.frame?.channel.post({ type: 'share', percent });
  }

  /** Ends the waiting of {@link leave}. */
  hurry(): void {
    this.hurried?.();
  }

  /**
   * Takes a last image of every rank that can have one; each stops behind it, so that nothing it has done is lost.
   * Resolves when the server has them all, or after `ms`.
   */
  async leave(ms: number): Promise<void> {
    const safe: Promise<void>[] = [];
    for (const job of this.jobs.values())
      for (const rank of job.ranks.values())
        if (job.frame && rank.status?.started && rank.status.canImage)
          safe.push(new Promise((resolve) => this.leaving.set(rank, resolve)));
    if (safe.length === 0) return;
    for (const job of this.jobs.values()) job.frame?.channel.post({ type: 'checkpoint', leave: true });
    let cancel = (): void => undefined;
    const enough = new Promise<void>((resolve) => {
      cancel = this.seams.after(ms, resolve);
      this.hurried = resolve;
    });
    await Promise.race([Promise.all(safe), enough]);
    cancel();
    this.hurried = undefined;
    this.leaving.clear();
  }

  /**
   * Memory runs out here: ends the rank that most likely takes it (not one that is known to wait; youngest first).
   * @param frame the heaviest one, where each has a process of its own: one of its ranks it is
   * @param waiting also one that waits. False: none was ended, and memory may come back by itself
   */
  sacrifice(why: string, frame: JobFrame | undefined, waiting: boolean): boolean {
    const jobs = [...this.jobs.values()].filter((job) => frame === undefined || job.frame === frame);
    const all = jobs.flatMap((job) => [...job.ranks.values()].map((rank) => ({ job, rank })));
    // One that has just begun has no status yet, and may be the very one.
    all.sort(
      (a, b) =>
        Number(a.rank.status?.activity.state === 'waiting') - Number(b.rank.status?.activity.state === 'waiting') ||
        b.rank.since - a.rank.since,
    );
    const victim = all[0];
    if (!victim?.job.frame || (!waiting && victim.rank.status?.activity.state === 'waiting')) return false;
    const { task, incarnation } = victim.rank.assignment;
    victim.job.frame.channel.post({ type: 'crash', task, incarnation, why });
    return true;
  }

  /** Ends every worker at once. */
  closeAll(): void {
    this.stopTicking?.();
    this.stopTicking = undefined;
    this.keepSpare = false;
    void this.spare?.then(
      ({ frame }) => {
        frame.channel.close();
        frame.close();
      },
      () => undefined,
    );
    this.spare = undefined;
    for (const job of [...this.jobs.values()]) {
      job.ranks.clear();
      this.close(job);
    }
  }

  private tick(): void {
    if (this.stopTicking) return;
    this.lastTick = this.seams.now();
    const once = (): void => {
      const now = this.seams.now();
      const slept = now - this.lastTick > SLEPT_MS;
      this.lastTick = now;
      this.pings++;
      for (const job of [...this.jobs.values()]) {
        if (slept) job.unanswered = 0;
        if (!job.frame) continue;
        if (job.unanswered++ >= patienceWith(job)) {
          this.lost(job, 'the frame of the job died (out of memory?) or hangs');
          continue;
        }
        job.frame.channel.post({ type: 'ping', n: this.pings });
      }
      this.stopTicking = this.jobs.size > 0 ? this.seams.after(PING_MS, once) : undefined;
    };
    this.stopTicking = this.seams.after(PING_MS, once);
  }
}

/** Pings that it may leave unanswered (J2). */
const patienceWith = ({ awake, frame, late }: Job): number =>
  awake && !frame!.tells ? Math.min(PINGS + PATIENCE * late, SLOW_PINGS) : SLOW_PINGS;
