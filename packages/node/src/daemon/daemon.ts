/**
 * The node daemon: the control connection of one node. It presents the node, takes assignments, sends the heartbeat
 * with the ranks' status words, and comes back by itself after sleep, a lost network or a restart of the server,
 * keeping its ranks while the server says that they are still its own.
 *
 * Invariants
 *  N1 After every (re)connection nothing is sent before Welcome answered Hello, whose `holds` are the ranks that live
 *  here right then.
 *  N2 What Welcome says to drop is stopped before anything else.
 *  N3 Reports made without a connection are kept and sent after the next Welcome.
 *  N4 A server that stands still while its connection stands is said to be silent as soon as an answer is overdue; one
 *  answer at a time is owed.
 */
import { io, type Socket } from 'socket.io-client';
import {
  CONTROL_VERSION,
  ERRORS,
  PROGRAM_KINDS,
  SPENT,
  type ErrorBody,
  type ErrorCode,
  type Heartbeat,
  type JobId,
  type NodeToServer,
  type ServerToNode,
  type TaskReport,
} from '@mayfly/wire';
import type { Gave, RankSnapshot, VolunteerEvent, VolunteerPhase, VolunteerSnapshot } from '../page/snapshot.ts';
import { Jobs, type HeldRank } from './jobs.ts';
import type { DaemonOptions, DaemonSeams } from './seams.ts';

const HELLO_MS = 10_000;
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
/** An answer that is owed for so long is said to be missing. */
const SILENT_MS = 4_000;
/** Heartbeats that come so much too late: this machine slept, or the browser froze the tab. */
const SLEPT_MS = 10_000;
/** A node without ranks for so long measures its speed, once. */
const IDLE_MS = 10_000;

export class Daemon {
  private readonly jobs: Jobs;
  private socket: Socket<ServerToNode, NodeToServer> | undefined;
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
  /** N4: since when the server owes an answer, or since the last sign of life after that; undefined: it owes none. */
  private owedSince: number | undefined;
  /** N4: `owedSince`, once that is said. */
  private silentSince: number | undefined;
  private speed: number | undefined;
  /** Of ranks that are no longer here. */
  private readonly gone = { usefulMs: 0, replayedMs: 0, finished: 0 };
  private readonly seenJobs = new Set<string>();

  constructor(
    private readonly options: DaemonOptions,
    private readonly seams: DaemonSeams,
    private readonly onChange: (snapshot: VolunteerSnapshot) => void,
    /** Sentences for the log of a headless node. */
    private readonly onNote: (text: string) => void = () => undefined,
  ) {
    this.identity = seams.loadIdentity();
    const jobs = new Jobs(
      seams,
      {
        onReport: (r) => this.report(r),
        onEnded: (rank, how, why) => this.ended(rank, how, why),
        onImage: (rank, bytes) =>
          this.remember(
            'checkpoint',
            `Checkpoint of rank ${rank.assignment.task} stored (${Math.ceil(bytes / 1024)} KB).`,
            rank,
          ),
        onChange: () => this.changed(),
        onNote: (job, text) => this.onNote(`job ${job}: ${text}`),
      },
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
      const socket: Socket<ServerToNode, NodeToServer> = io(new URL('/node', this.options.server).href, {
        transports: ['websocket', 'polling'],
        tryAllTransports: true,
        // The first attempt, by half sooner or later, comes before the server gives its ranks away (BRIEF_GRACE_MS).
        reconnectionDelay: 20,
        reconnectionDelayMax: 5_000,
        timeout: HELLO_MS,
        forceNew: true,
        // The library does not look at Node's own setting.
        ...(this.options.insecure ? { rejectUnauthorized: false } : {}),
      });
      this.socket = socket;
      socket.on('connect', () => void this.hello(resolve, reject));
      socket.on('disconnect', () => {
        const was = this.welcomed;
        this.welcomed = false;
        this.owedSince = this.silentSince = undefined;
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
      socket.onAny(() => void (this.owedSince !== undefined && this.heard(this.seams.now())));
      socket.on('assign', (a) => {
        const received = this.seams.now();
        if (this.jobs.declines(a)) return;
        this.seenJobs.add(a.job);
        this.remember(
          'started',
          `Rank ${a.task} of ${a.jobName ?? a.job} starts ` +
            `here${a.incarnation > 0 ? ` (incarnation ${a.incarnation})` : ''}.`,
          a,
        );
        void this.jobs.assign(a, received, this.options.name);
      });
      socket.on('revoke', (r) => {
        // Over for good, not only here: the local copy serves nobody any more.
        if (r.code !== 'FENCED' && r.code !== 'CLONE')
          void this.seams.images.forget(r.job, r.task).catch(() => undefined);
        this.jobs.revoke(r);
      });
      socket.on('checkpoint', (c) => this.jobs.checkpoint(c.job, c.task));
    });
  }

  private async hello(resolve: () => void, reject: (e: Error) => void): Promise<void> {
    const socket = this.socket!;
    const images = await this.seams.images.list().catch(() => []);
    if (!socket.connected || this.socket !== socket) return;
    const answer = await socket
      .timeout(HELLO_MS)
      .emitWithAck('hello', {
        version: CONTROL_VERSION,
        ...(this.identity ? { node: this.identity.node, secret: this.identity.secret } : {}),
        session: this.seams.session,
        name: this.options.name,
        engine: this.seams.engine,
        slots: this.leaving ? 0 : this.options.slots,
        runs: [...(this.options.runs ?? PROGRAM_KINDS)],
        ...(this.options.cores === undefined ? {} : { cores: this.options.cores }),
        ...(this.options.room === undefined ? {} : { room: this.options.room }),
        ...(this.options.board === undefined ? {} : { board: this.options.board }),
        holds: [...this.jobs.held()]
          .slice(0, 1024)
          .map(({ assignment: a }) => ({ job: a.job, task: a.task, incarnation: a.incarnation })),
        images: images.slice(-1024),
      })
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
        // Nobody was there to hear an answer.
        if (this.owedSince !== undefined) this.heard(asked);
        this.remember(
          'resumed',
          `This tab was suspended for ${Math.round(slept / 1000)} s (the machine slept, or the browser froze ` +
            'the tab). It has resumed.',
        );
      }
      this.listen(asked);
      idle = this.jobs.held().next().done ? idle + ms : 0;
      if (this.speed === undefined && idle >= IDLE_MS) this.speed = this.seams.speed?.();
      const socket = this.socket;
      const measured = (): void => {
        if (this.socket !== socket) return;
        this.rttMs = Math.max(0, this.seams.now() - asked);
        this.heard(undefined);
      };
      const message = this.statusOf(
        [...this.jobs.held()],
        beats % CALLS_BEATS === 0 || [...this.jobs.held()].length <= FEW_RANKS,
      );
      if (beats++ % MEASURED_BEATS === 0 && this.owedSince === undefined) {
        this.owedSince = asked;
        socket?.emit('heartbeat', message, measured);
      } else socket?.emit('heartbeat', message);
    };
    once();
  }

  /** N4: says it once when an answer is overdue. */
  private listen(now: number): void {
    if (this.owedSince === undefined || this.silentSince !== undefined || now - this.owedSince < SILENT_MS) return;
    this.silentSince = this.owedSince;
    this.remember('disconnected', 'The server does not answer, although the connection is open.');
  }

  /** A sign of life. `owedSince`: it still owes an answer. */
  private heard(owedSince: number | undefined): void {
    this.owedSince = owedSince;
    if (this.silentSince === undefined) return;
    const silent = this.seams.now() - this.silentSince;
    this.silentSince = undefined;
    this.remember('connected', `The server answers again, after ${Math.round(silent / 1000)} s.`);
  }

  /** `calls`: with the time by MPI call, which is most of it. */
  private statusOf(ranks: HeldRank[], calls: boolean): Heartbeat {
    return {
      ...(this.rttMs === undefined ? {} : { rttMs: this.rttMs }),
      ...(this.speed === undefined ? {} : { speed: this.speed }),
      tasks: ranks.slice(0, 1024).map(({ assignment: a, status }) => ({
        job: a.job,
        task: a.task,
        incarnation: a.incarnation,
        started: status?.started ?? false,
        ...(status?.recovered ? { recovered: true } : {}),
        activity: status?.activity ?? { state: 'loading', arrivals: 0, sends: 0 },
        ...(status ? { spent: status.spent } : {}),
        ...(status?.memory ? { memory: status.memory } : {}),
        ...(calls && status
          ? { calls: status.calls, ...(status.places.length > 0 ? { places: status.places } : {}) }
          : {}),
      })),
    };
  }

  private report(r: TaskReport): void {
    if (r.event === 'crashed' || r.event === 'refused')
      this.onNote(`job ${r.job} rank ${r.task}: ${r.event}: ${r.error?.code}: ${r.error?.message}`);
    if (this.welcomed) this.socket?.emit('report', r);
    else this.reports.push(r);
  }

  private ended(rank: HeldRank, how: 'finished' | 'revoked' | 'refused' | 'crashed', why?: string): void {
    const name = `Rank ${rank.assignment.task} of ${rank.assignment.jobName ?? rank.assignment.job}`;
    if (how === 'finished') this.remember('finished', `${name} is done.`, rank);
    else if (how === 'revoked') this.remember('revoked', `The server took ${name} back.`, rank);
    else if (how === 'refused') this.remember('revoked', `${name} runs elsewhere now.`, rank);
    else this.remember('crashed', `${name} crashed${why ? `: ${why}` : ''}.`, rank);
    const { usefulMs, replayedMs } = timeOf(rank);
    // What it spent its last second on; the others are named with it, or they would seem to be missing.
    if (how === 'finished' && this.welcomed)
      this.socket?.emit('heartbeat', this.statusOf([rank, ...this.jobs.held()], true));
    this.gone.usefulMs += usefulMs;
    this.gone.replayedMs += replayedMs;
    if (how === 'finished') this.gone.finished++;
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
  async picture(job: JobId): Promise<{ path: string; bytes: Uint8Array<ArrayBuffer> } | undefined> {
    for (const { assignment: a } of this.jobs.held()) {
      if (a.job !== job) continue;
      const answer = await fetch(
        new URL(`/data/picture/${job}?cap=${encodeURIComponent(a.capability)}`, this.options.server),
      ).catch(() => undefined);
      const path = answer?.headers.get('mayfly-path');
      if (!answer?.ok || !path) return undefined;
      return { path, bytes: new Uint8Array(await answer.arrayBuffer()) };
    }
    return undefined;
  }

  /** Shown to others from the next connection on. */
  setName(name: string): void {
    this.options.name = name;
    this.changed();
  }

  /** Asks every rank for a checkpoint soon. */
  checkpoint(): void {
    this.jobs.checkpoint();
  }

  /** Memory runs out on this machine: ends one rank as crashed, rather than all of them with the process. */
  sacrifice(why: string): boolean {
    return this.jobs.sacrifice(why);
  }

  /**
   * Leaves: takes a last image of every rank (for `patience` ms at most), behind which it stops, says goodbye, so that
   * the ranks are placed elsewhere at once, and ends their workers.
   */
  async stop(reason = 'stopped', patience = PATIENCE_MS): Promise<void> {
    await this.leave(reason, patience, 'off');
  }

  /** Like {@link stop}, but it means to come back: `start` does. `why`: for the person who reads the page. */
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
    for (const rank of this.jobs.held()) {
      const { usefulMs, replayedMs } = timeOf(rank);
      this.gone.usefulMs += usefulMs;
      this.gone.replayedMs += replayedMs;
    }
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
    if (!socket) return;
    socket.io.reconnection(false);
    const transport = (socket.io.engine as { transport?: { ws?: { terminate?(): void } } } | undefined)?.transport;
    if (transport?.ws?.terminate) transport.ws.terminate();
    else socket.io.engine?.close();
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
    const ranks: RankSnapshot[] = [];
    for (const { assignment: a, since, status, imageAt } of this.jobs.held())
      ranks.push({
        job: a.job,
        ...(a.jobName ? { jobName: a.jobName } : {}),
        ...(a.about ? { about: a.about } : {}),
        task: a.task,
        incarnation: a.incarnation,
        size: a.size,
        program: a.program.entry,
        state: !status?.started ? 'loading' : status.activity.state === 'ended' ? 'ending' : 'running',
        ...(status ? { activity: status.activity } : {}),
        ...(status?.memory ? { memory: status.memory } : {}),
        messagesIn: status?.counters.messagesIn ?? 0,
        bytesIn: status?.counters.bytesIn ?? 0,
        messagesOut: status?.counters.messagesOut ?? 0,
        bytesOut: status?.counters.bytesOut ?? 0,
        since,
        ...(imageAt === undefined ? {} : { imageAt }),
        canImage: status?.canImage ?? false,
      });
    const gave: { -readonly [K in keyof Gave]: Gave[K] } = { ...this.gone, jobs: this.seenJobs.size };
    for (const rank of this.jobs.held()) {
      const { usefulMs, replayedMs } = timeOf(rank);
      gave.usefulMs += usefulMs;
      gave.replayedMs += replayedMs;
    }
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
      gave,
      ...(this.rttMs === undefined ? {} : { rttMs: this.rttMs }),
      ...(this.silentSince === undefined ? {} : { silentSince: this.silentSince }),
      history: [...this.history],
    };
  }
}

const at = (name: (typeof SPENT)[number]): number => SPENT.indexOf(name);
const REPLAYING = at('replaying');
const RESTING = at('resting');

/** Where the time of a rank went, as far as it is work. */
function timeOf({ status }: HeldRank): { usefulMs: number; replayedMs: number } {
  const spent = status?.spent ?? [];
  const all = spent.reduce((sum, ms) => sum + ms, 0);
  return { usefulMs: all - (spent[REPLAYING] ?? 0) - (spent[RESTING] ?? 0), replayedMs: spent[REPLAYING] ?? 0 };
}
