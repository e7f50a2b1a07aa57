/**
 * The node daemon: the control connection of one node. It presents the node, takes assignments, sends the heartbeat
 * with the ranks' status words, and reconnects after sleep, a lost network or a restart of the server. It keeps its
 * ranks while the server confirms that they are still its own.
 *
 * Invariants
 *  N1 After every (re)connection nothing is sent before Welcome answered Hello, whose `holds` are the ranks that live
 *  here right then.
 *  N2 The ranks that Welcome drops are stopped before anything else.
 *  N3 Reports made without a connection are kept and sent after the next Welcome.
 *  N4 A server that stops answering on an open connection is reported as silent as soon as an answer is overdue. It
 *  owes one answer at a time (silence.ts).
 */
import { ERRORS, type ErrorBody, type ErrorCode, type Heartbeat, type JobId, type TaskReport } from '@mayfly/wire';
import type { RankEnd } from '../messages.ts';
import type { VolunteerEvent, VolunteerPhase, VolunteerSnapshot } from '../page/snapshot.ts';
import { Given, shown, tasksOf } from './account.ts';
import { cutOff, HELLO_MS, helloOf, openControl, type ControlSocket } from './connection.ts';
import { Jobs, type HeldRank } from './jobs.ts';
import { Parity } from './parity.ts';
import { sendPart, serveParity } from './parity-wire.ts';
import { pictureOf, type Picture } from './picture.ts';
import { Silence } from './silence.ts';
import type { DaemonOptions, DaemonSeams, JobFrame } from './seams.ts';

const GOODBYE_MS = 1_000;
/** How long a leaving node waits for the last images of its ranks. */
const PATIENCE_MS = 5_000;
const HISTORY = 100;
const CHANGE_MS = 200;
/** Every so many heartbeats, the way to the server is measured. */
const MEASURED_BEATS = 5;
/** Every so many heartbeats tell the time of ranks by MPI call; of few ranks each one. */
const CALLS_BEATS = 5;
const FEW_RANKS = 8;
/** Heartbeats that come so much too late: this machine slept, or the browser froze the tab. */
const SLEPT_MS = 10_000;
/** A node without ranks for so long measures its speed, once. */
const IDLE_MS = 10_000;

export class Daemon {
  private readonly jobs: Jobs;
  private readonly parity: Parity;
  private socket: ControlSocket | undefined;
  private welcomed = false;
  private identity;
  private heartbeat: (() => void) | undefined;
  private readonly reports: TaskReport[] = [];
  private readonly history: VolunteerEvent[] = [];
  private phase: VolunteerPhase = 'off';
  private reason: string | undefined;
  private error: ErrorBody | undefined;
  private changeAsked = false;
  /** It gives its ranks back: nothing that the connection does changes the phase. */
  private leaving = false;
  private rttMs: number | undefined;
  private readonly silence: Silence;
  private speed: number | undefined;
  private readonly given = new Given();

  constructor(
    private readonly options: DaemonOptions,
    private readonly seams: DaemonSeams,
    private readonly onChange: (snapshot: VolunteerSnapshot) => void,
    /** Sentences for the log of a headless node. */
    private readonly onNote: (text: string) => void = () => undefined,
  ) {
    this.identity = seams.loadIdentity();
    this.silence = new Silence(
      () => seams.now(),
      (kind, text) => this.remember(kind, text),
    );
    this.parity = new Parity({
      images: seams.images,
      after: (ms, run) => seams.after(ms, run),
      send: (part, pages) => sendPart(this.socket, part, pages),
      answer: (job, task, image, holds) => this.jobs.isProtected(job, task, image, holds),
      note: (job, text) => this.onNote(`job ${job}: ${text}`),
    });
    const jobs = new Jobs(
      seams,
      {
        onReport: (r) => this.report(r),
        onEnded: (rank, how, why) => this.ended(rank, how, why),
        onLast: () => this.welcomed && this.socket?.emit('heartbeat', this.statusOf([...this.jobs.held()], true)),
        onImage: (rank, bytes) =>
          this.remember(
            'checkpoint',
            `Checkpoint of rank ${rank.assignment.task} stored (${Math.ceil(bytes / 1024)} KB).`,
            rank,
          ),
        onChange: () => this.changed(),
        onNote: (job, text) => this.onNote(`job ${job}: ${text}`),
      },
      this.parity,
      options.runs,
    );
    this.jobs = jobs;
    if (options.share !== undefined) jobs.setShare(options.share);
  }

  get node() {
    return this.identity?.node;
  }

  /**
   * Resolves with the first Welcome; rejects when the server refuses the node. The connection is kept up until `stop`.
   */
  start(): Promise<void> {
    if (this.socket) return Promise.resolve();
    this.error = undefined;
    if (this.phase === 'paused') this.remember('resumed', 'Resumed after the pause.');
    this.setPhase('connecting', 'connecting to the server');
    return new Promise((resolve, reject) => {
      const socket = openControl(this.options);
      this.socket = socket;
      socket.on('connect', () => void this.hello(resolve, reject));
      socket.on('disconnect', () => {
        const was = this.welcomed;
        this.welcomed = false;
        this.silence.forget();
        this.heartbeat?.();
        this.heartbeat = undefined;
        if (this.phase === 'refused' || this.phase === 'off' || this.phase === 'paused') return;
        if (was) this.remember('disconnected', 'Lost the connection to the server; reconnecting.');
        this.setPhase(
          'connecting',
          'lost the connection to the server; ranks here keep running; reconnecting automatically',
        );
        // The server closed the connection itself: socket.io would not come back.
        if (this.socket === socket && !socket.active)
          this.seams.after(1000, () => this.socket === socket && socket.connect());
      });
      socket.on('connect_error', () => {
        if (this.phase === 'connecting')
          this.setPhase(
            'connecting',
            'the server does not answer; ' +
              `${this.jobs.held().next().done ? '' : 'ranks here keep running as far as they can; '}reconnecting ` +
              'automatically',
          );
        if (this.socket === socket && !socket.active)
          this.seams.after(1000, () => this.socket === socket && socket.connect());
      });
      socket.onAny(() => this.silence.heard(this.seams.now()));
      socket.on('assign', (a) => {
        const received = this.seams.now();
        if (this.jobs.declines(a)) return;
        this.given.begun(a.job);
        this.remember(
          'started',
          `Rank ${a.task} of ${a.jobName ?? a.job} starts ` +
            `here${a.incarnation > 0 ? ` (incarnation ${a.incarnation})` : ''}.`,
          a,
        );
        void this.jobs.assign(a, received, this.options.name);
      });
      socket.on('revoke', (r) => {
        // Ended for good, not only here: the local copy is no longer of use.
        if (r.code !== 'FENCED' && r.code !== 'CLONE')
          void this.seams.images.forget(r.job, r.task).catch(() => undefined);
        this.jobs.revoke(r);
      });
      socket.on('checkpoint', (c) => this.jobs.checkpoint(c.job, c.task, c.last, c.atCall));
      socket.on('memoryMoved', (m) => this.jobs.reconnect(m.job, m.memory));
      serveParity(socket, this.parity);
    });
  }

  private async hello(resolve: () => void, reject: (e: Error) => void): Promise<void> {
    const socket = this.socket!;
    const images = await this.seams.images.list().catch(() => []);
    if (!socket.connected || this.socket !== socket) return;
    const answer = await socket
      .timeout(HELLO_MS)
      .emitWithAck(
        'hello',
        helloOf(
          this.options,
          this.seams,
          this.identity,
          this.leaving ? 0 : this.options.slots,
          this.jobs.held(),
          images,
        ),
      )
      .catch(() => undefined);
    if (this.socket !== socket) return;
    if (!answer) {
      // No answer in time: begin again with a new connection.
      socket.disconnect();
      this.seams.after(500, () => this.socket === socket && socket.connect());
      return;
    }
    if ('error' in answer) {
      const known = ERRORS[answer.error.code as ErrorCode] as (typeof ERRORS)[ErrorCode] | undefined;
      if (this.identity && answer.error.code === 'CONFLICT') {
        // Another tab is this node (a duplicated one): be a new one.
        this.identity = undefined;
        this.seams.saveIdentity(undefined);
        this.remember('refused', 'This tab is a copy of another tab; it now counts as a separate node.');
        return void this.hello(resolve, reject);
      }
      if (known?.retry) {
        socket.disconnect();
        this.seams.after(2000, () => this.socket === socket && socket.connect());
        return;
      }
      this.error = answer.error;
      this.setPhase('refused', answer.error.message);
      this.remember('refused', answer.error.message);
      socket.disconnect();
      this.socket = undefined;
      this.jobs.closeAll();
      reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
      return;
    }
    this.identity = { node: answer.node, secret: answer.secret };
    this.seams.saveIdentity(this.identity);
    for (const d of answer.drop) this.jobs.revoke(d);
    this.welcomed = true;
    for (const r of this.reports.splice(0)) socket.emit('report', r);
    this.beat(Math.max(100, answer.heartbeatMs));
    this.remember('connected', 'Connected to the server.');
    this.setPhase('idle', undefined);
    this.jobs.warm();
    resolve();
  }

  private beat(ms: number): void {
    this.heartbeat?.();
    let beats = 0;
    let idle = 0;
    let last = this.seams.now();
    const once = (): void => {
      this.heartbeat = this.seams.after(ms, once);
      const asked = this.seams.now();
      const slept = asked - last - ms;
      last = asked;
      if (!this.welcomed) return;
      if (slept >= SLEPT_MS) {
        // There was no connection for an answer.
        this.silence.heard(asked);
        this.remember(
          'resumed',
          `This tab was suspended for ${Math.round(slept / 1000)} s (the machine slept, or the browser froze ` +
            'the tab). It has resumed.',
        );
      }
      this.silence.listen(asked);
      idle = this.jobs.held().next().done ? idle + ms : 0;
      if (this.speed === undefined && idle >= IDLE_MS) this.speed = this.seams.speed?.();
      const socket = this.socket;
      const measured = (): void => {
        if (this.socket !== socket) return;
        this.rttMs = Math.max(0, this.seams.now() - asked);
        this.silence.answered();
      };
      const message = this.statusOf(
        [...this.jobs.held()],
        beats % CALLS_BEATS === 0 || [...this.jobs.held()].length <= FEW_RANKS,
      );
      if (beats++ % MEASURED_BEATS === 0 && !this.silence.owed) {
        this.silence.asked(asked);
        socket?.emit('heartbeat', message, measured);
      } else socket?.emit('heartbeat', message);
    };
    once();
  }

  /** `calls`: with the time by MPI call, which is most of it. */
  private statusOf(ranks: HeldRank[], calls: boolean): Heartbeat {
    return {
      ...(this.rttMs === undefined ? {} : { rttMs: this.rttMs }),
      ...(this.speed === undefined ? {} : { speed: this.speed }),
      tasks: tasksOf(ranks, calls),
    };
  }

  private report(r: TaskReport): void {
    if (r.event === 'crashed' || r.event === 'refused')
      this.onNote(`job ${r.job} rank ${r.task}: ${r.event}: ${r.error?.code}: ${r.error?.message}`);
    if (this.welcomed) this.socket?.emit('report', r);
    else this.reports.push(r);
  }

  private ended(rank: HeldRank, how: RankEnd, why?: string): void {
    const name = `Rank ${rank.assignment.task} of ${rank.assignment.jobName ?? rank.assignment.job}`;
    if (how === 'finished') this.remember('finished', `${name} is done.`, rank);
    else if (how === 'failed') this.remember('failed', `${name} failed: its program ended with an error.`, rank);
    else if (how === 'revoked') this.remember('revoked', `The server took ${name} back.`, rank);
    else if (how === 'refused') this.remember('revoked', `${name} runs elsewhere now.`, rank);
    else this.remember('crashed', `${name} crashed${why ? `: ${why}` : ''}.`, rank);
    // What it spent its last second on; the others are named with it, or they would seem to be missing.
    if ((how === 'finished' || how === 'failed') && this.welcomed)
      this.socket?.emit('heartbeat', this.statusOf([rank, ...this.jobs.held()], true));
    this.given.ended(rank, how === 'finished');
    this.changed();
  }

  setSlots(slots: number): void {
    this.options.slots = slots;
    if (this.welcomed) this.socket?.emit('slots', { slots });
    this.changed();
  }

  /** Percent of a processor that each rank may use, from now on. */
  setShare(percent: number): void {
    this.options.share = percent;
    this.jobs.setShare(percent);
  }

  /** Bytes of a small picture that the job has written so far; undefined: it has none, or no rank of it is here. */
  picture(job: JobId): Promise<Picture | undefined> {
    return pictureOf(this.options.server, job, this.jobs.held());
  }

  /** Shown to others from the next connection on. */
  setName(name: string): void {
    this.options.name = name;
    this.changed();
  }

  /** This node may soon be lost: its ranks take a checkpoint, those that take it with others by way of the server. */
  foresee(): void {
    this.jobs.checkpoint();
    if (this.welcomed) this.socket?.emit('foresees');
  }

  /** Memory runs out on this machine: ends one rank as crashed, rather than all of them with the process. */
  sacrifice(why: string, frame: JobFrame | undefined, waiting: boolean): boolean {
    return this.jobs.sacrifice(why, frame, waiting);
  }

  /**
   * Leaves: takes a last image of every rank (for `patience` ms at most), then stops the ranks, sends a goodbye, so
   * that the server places them elsewhere at once, and ends their workers.
   */
  async stop(reason = 'stopped', patience = PATIENCE_MS): Promise<void> {
    await this.leave(reason, patience, 'off');
  }

  /** Like {@link stop}, but it will come back, through `start`. `why`: for the person who reads the page. */
  async rest(reason: string, why: string, patience = PATIENCE_MS): Promise<void> {
    if (this.phase === 'off' || this.phase === 'paused') return this.setPhase('paused', why);
    await this.leave(reason, patience, 'paused', why);
    this.remember('paused', `Paused: ${why}.`);
  }

  /** The last images are not waited for any longer. */
  hurry(): void {
    this.jobs.hurry();
  }

  private async leave(reason: string, patience: number, phase: 'off' | 'paused', why?: string): Promise<void> {
    if (this.welcomed && patience > 0) {
      const here = [...this.jobs.held()].length;
      if (here > 0) this.setPhase('leaving', why ?? 'taking final checkpoints, so that no work is lost');
      this.leaving = true;
      this.socket?.emit('slots', { slots: 0 });
      await this.jobs.leave(patience);
    }
    const socket = this.socket;
    this.socket = undefined;
    this.leaving = false;
    this.setPhase(phase, why);
    for (const rank of this.jobs.held()) this.given.ended(rank);
    this.jobs.closeAll();
    if (socket) {
      if (this.welcomed)
        await socket
          .timeout(GOODBYE_MS)
          .emitWithAck('goodbye', { reason: reason.slice(0, 80) })
          .catch(() => undefined);
      socket.disconnect();
    }
    this.welcomed = false;
    this.heartbeat?.();
    this.heartbeat = undefined;
    this.changed();
  }

  /** The page is going away this instant: no time to wait for an answer. */
  farewell(reason: string): void {
    if (this.welcomed) this.socket?.emit('goodbye', { reason });
  }

  /** Ends like a process that was killed: no goodbye, no close. For tests. */
  die(): void {
    const socket = this.socket;
    this.socket = undefined;
    this.phase = 'off';
    this.welcomed = false;
    this.heartbeat?.();
    this.heartbeat = undefined;
    this.jobs.closeAll();
    if (socket) cutOff(socket);
  }

  // ── what the page shows ────────────────────────────────────────────────────────────────────────────────────────────

  private setPhase(phase: VolunteerPhase, reason: string | undefined): void {
    if (this.leaving && phase !== 'leaving') return;
    this.phase = phase;
    this.reason = reason;
    this.changed();
  }

  private remember(kind: VolunteerEvent['kind'], text: string, of?: HeldRank | HeldRank['assignment']): void {
    const a = of && ('assignment' in of ? of.assignment : of);
    this.history.push({
      at: this.seams.now(),
      kind,
      text,
      ...(a ? { job: a.job, task: a.task, ...(a.jobName ? { jobName: a.jobName } : {}) } : {}),
    });
    if (this.history.length > HISTORY) this.history.shift();
    this.onNote(text);
    this.changed();
  }

  private changed(): void {
    if (this.changeAsked) return;
    this.changeAsked = true;
    this.seams.after(CHANGE_MS, () => {
      this.changeAsked = false;
      this.onChange(this.snapshot());
    });
  }

  snapshot(): VolunteerSnapshot {
    const ranks = [...this.jobs.held()].map(shown);
    const phase = this.phase === 'idle' && ranks.length > 0 ? 'working' : this.phase;
    const reason =
      this.reason ??
      (phase === 'working' && !this.jobs.connected
        ? 'a data connection is down; reconnecting automatically'
        : undefined);
    return {
      phase,
      ...(reason ? { reason } : {}),
      ...(this.error ? { error: this.error } : {}),
      ...(this.identity ? { nodeId: this.identity.node } : {}),
      name: this.options.name,
      slots: this.options.slots,
      ranks,
      gave: this.given.total(this.jobs.held()),
      ...(this.rttMs === undefined ? {} : { rttMs: this.rttMs }),
      ...(this.silence.since === undefined ? {} : { silentSince: this.silence.since }),
      history: [...this.history],
    };
  }
}
