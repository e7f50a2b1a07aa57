/**
 * The comm worker of one job on one node: host of the comm core (packages/protocols/src/comm). It owns the sockets to
 * the Channel Memories and the rings to the ranks, and performs the core's effects in order; all protocol decisions are
 * the core's. Programs, files and images: supplies.ts; reports about the ranks to the daemon: watch.ts.
 *
 * Invariants
 *  H1 One step of the core at a time; its effects are performed before the next step.
 *  H2 A rank's worker runs only between `ready` and the first of finished, refused, revoked, died.
 *  H3 What a rank writes is untrusted: whatever it breaks ends that rank only.
 *  H4 A slow link or a full retention stops the draining of rings, never the reading of sockets.
 */
import { Comm, protocols, type CommEffect, type CommEvent } from '@mayfly/protocols';
import {
  MayflyError,
  type Assignment,
  type ErrorBody,
  type Position,
  type ProgramKind,
  type TaskId,
} from '@mayfly/wire';
import type { CommToDaemon, CommToFrame, DaemonToComm, FrameToComm, RankRun, RankToComm } from '../messages.ts';
import { channelOf, type Channel } from '../thread-ports.ts';
import { Ask } from '../ring/index.ts';
import { failed } from '../status.ts';
import { Links } from './links.ts';
import { buffersOf, type Rank } from './rank.ts';
import { RankLink } from './rank-link.ts';
import { Supplies } from './supplies.ts';
import { TeamImages } from './team-images.ts';
import { Teams } from './teams.ts';
import { Turns } from './turns.ts';
import { Watch } from './watch.ts';
import type { CommSeams } from './seams.ts';

/** Retention of one task above which its ring is not drained. */
const RETENTION_BYTES = 64 * 1024 * 1024;
/** Bytes in a socket above which no ring is drained. */
const SOCKET_BYTES = 4 * 1024 * 1024;
/** For so long this thread blocks for the answer of a rank that it has just woken. */
const LINGER_MS = 0.1;
/** After this many deliveries, a rank that did not answer at once gets another chance to. */
const LINGER_AGAIN = 32;

/** What this node does not start, as it is no fault of its own. */
const REFUSALS: readonly string[] = ['PROGRAM_REFUSED', 'BAD_MODULE'];

export class CommHost {
  private core: Comm | undefined;
  private links: Links | undefined;
  private readonly supplies: Supplies;
  private readonly watch: Watch;
  private readonly ranks = new Map<TaskId, Rank>();
  private readonly teams: Teams;
  private readonly turns: Turns;
  private readonly teamImages: TeamImages;
  private readonly events: CommEvent[] = [];
  private stepping = false;
  private serial = 0;
  private share = 100;
  /** The rank that the last step woke. */
  private woken: Rank | undefined;

  constructor(
    private readonly server: string,
    private readonly seams: CommSeams,
    private readonly daemon: Channel<CommToDaemon, DaemonToComm>,
    private readonly parent: (message: CommToFrame, transfer?: readonly unknown[]) => void,
  ) {
    this.teams = new Teams(seams.cores);
    this.turns = new Turns(seams, (rank) => this.serve(rank));
    this.teamImages = new TeamImages(
      this.ranks,
      seams,
      (event) => this.step(event),
      (text) => this.note(text),
    );
    this.supplies = new Supplies(server, seams, daemon, this.ranks, (rank) => this.teamImages.over(rank));
    this.watch = new Watch(this.ranks, seams, daemon, {
      progress: (rank) => this.progress(rank),
      report: (rank, event) => this.report(rank, event),
      connected: () => this.links?.up ?? false,
      local: (rank) => this.teams.traffic(rank.assignment),
      tick: () => this.teamImages.order(),
    });
    daemon.onMessage((m) => this.fromDaemon(m));
  }

  fromFrame(m: Exclude<FrameToComm, { type: 'init' }>): void {
    for (const rank of this.ranks.values()) if (rank.id === m.id) this.crashed(rank, m.message);
  }

  private fromDaemon(m: DaemonToComm): void {
    switch (m.type) {
      case 'assign':
        this.assign(m.assignment, m.clockOffset, m.local, m.node, m.runs);
        break;
      case 'revoke': {
        const rank = this.ranks.get(m.task);
        if (rank && rank.assignment.incarnation <= m.incarnation) this.stop(rank, 'revoked');
        break;
      }
      case 'crash': {
        const rank = this.ranks.get(m.task);
        if (rank?.assignment.incarnation === m.incarnation) this.crashed(rank, m.why);
        break;
      }
      case 'checkpoint':
        for (const rank of this.ranks.values())
          if (m.task !== undefined && rank.assignment.task !== m.task) continue;
          else if (m.leave === false) this.teamImages.stays(rank);
          else {
            // Somebody waits for it at the server.
            rank.wholeNext = true;
            if (rank.log) rank.log.order(m.leave ?? false, m.atCall);
            else if (m.leave) rank.link.side.askForLast(m.atCall);
            else rank.link.side.ask(Ask.CHECKPOINT);
          }
        this.teamImages.order();
        break;
      case 'share':
        this.share = m.percent;
        for (const rank of this.ranks.values()) rank.link.side.share = m.percent;
        break;
      case 'reconnect':
        this.links?.drop(m.memory);
        break;
      case 'ping':
        this.daemon.post({ type: 'pong', n: m.n });
        break;
      case 'page':
        this.supplies.page(m.hash, m.bytes);
        break;
      case 'protected':
        this.supplies.protectedBy(m.task, m.image, m.holds);
        break;
    }
  }

  // ── ranks ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  private assign(a: Assignment, clockOffset: number, local: boolean, node: string, runs: readonly ProgramKind[]): void {
    const older = this.ranks.get(a.task);
    if (older) {
      if (older.assignment.incarnation >= a.incarnation) return;
      // T1: the core ends its team with it, before the next life of that gets a memory.
      this.stop(older, 'revoked');
    }
    this.core ??= new Comm({
      size: a.size,
      channelMemories: a.channelMemories.length,
      homes: a.homes,
      policy: protocols[a.protocol].commd,
      teams: protocols[a.protocol].teams,
    });
    this.links ??= new Links(
      a.channelMemories.map((u) => new URL(u, `${this.server}/`).href),
      this.seams,
      {
        onUp: (cm) => this.step({ type: 'connected', cm }),
        onDown: (cm) => this.step({ type: 'disconnected', cm }),
        onMessage: (cm, bytes) => this.received(cm, bytes),
      },
    );
    const { mine, theirs } = this.seams.channel();
    const rank: Rank = {
      id: this.serial++,
      assignment: a,
      clockOffset,
      place: `${node} (${this.seams.place})`,
      runs,
      link: undefined as unknown as RankLink,
      port: channelOf<RankRun, RankToComm>(mine),
      start: undefined,
      program: undefined,
      serial: 0,
      image: undefined,
      imageReady: a.manifest === undefined,
      handed: undefined,
      running: false,
      reported: { started: false, recovered: false, ended: false },
      kept: new Set(),
      sinceWhole: 0,
      wholeNext: true,
      prompt: 0.5,
      passed: 0,
    };
    const { task } = a;
    const team = this.teams.join(a, protocols[a.protocol].teams !== undefined);
    if (team) rank.team = { members: team.members, memory: team.memory };
    if (team?.log) rank.log = team.log;
    const bell = team?.view.bell(team.members.indexOf(task));
    rank.link = new RankLink(a, this.seams.waitAsync, bell, {
      onFrames: (bytes) => this.step({ type: 'ring', task, bytes, reports: rank.log?.reports() }),
      onImage: (head, sections) => {
        rank.handed = { head, sections };
        this.teamImages.readReports(rank);
        this.step({ type: 'image', task, position: head.position, wave: head.wave });
      },
      onChannels: (wave, section) => this.teamImages.closes(rank, wave, section),
      onDeclined: (wave) => this.teamImages.declined(rank, wave),
      onWish: (call) => this.teamImages.wish(rank, call),
      onEnd: () => this.step({ type: 'ended', task }),
      onRead: (path) => void this.read(rank, path),
      onNote: (text) => this.note(text),
      onWake: () => this.serve(rank),
      blocked: () => this.links!.buffered > SOCKET_BYTES || this.core!.retained(a.task) > RETENTION_BYTES,
    });
    rank.link.side.share = this.share;
    rank.link.side.wanted = team?.log?.crowded;
    rank.port.onMessage(() => rank.link.side.woken());
    this.ranks.set(a.task, rank);
    this.parent(
      { type: 'spawn', id: rank.id, memory: rank.link.memory, port: theirs, memoryBytes: a.limits.memoryBytes },
      [theirs],
    );
    void this.load(rank, local);
    this.step({
      type: 'start',
      task: a.task,
      incarnation: a.incarnation,
      capability: a.capability,
      nonce: this.seams.nonce(),
      position: a.position,
      team: rank.log && a.team,
      ended: a.ended,
    });
    this.links.open();
    this.watch.start();
  }

  private alive(rank: Rank): boolean {
    return this.ranks.get(rank.assignment.task) === rank;
  }

  private async load(rank: Rank, local: boolean): Promise<void> {
    try {
      await this.supplies.load(rank, local);
      this.run(rank);
    } catch (e) {
      if (!this.alive(rank)) return;
      const error: ErrorBody =
        e instanceof MayflyError ? { code: e.code, message: e.message } : { code: 'INTERNAL', message: String(e) };
      const how = REFUSALS.includes(error.code) ? 'refused' : 'crashed';
      this.report(rank, how, error);
      this.stop(rank, how);
    }
  }

  private run(rank: Rank): void {
    if (rank.running || rank.start === undefined || rank.program === undefined || !rank.imageReady || !this.alive(rank))
      return;
    rank.running = true;
    // None is ready before all have begun: who is not here has ended (T12).
    rank.log?.without(new Set(this.ranks.keys()));
    rank.port.post(
      {
        type: 'run',
        assignment: rank.assignment,
        clockOffset: rank.clockOffset,
        program: rank.program,
        imageBuffer: rank.link.imageBuffer,
        start: rank.start,
        image: rank.image,
        place: rank.place,
        ...(rank.team ? { team: rank.team } : {}),
      },
      buffersOf(rank.image),
    );
    rank.image = undefined;
    this.serve(rank);
  }

  private report(rank: Rank, event: 'started' | 'recovered' | 'crashed' | 'refused', error?: ErrorBody): void {
    this.daemon.post({
      type: 'report',
      task: rank.assignment.task,
      incarnation: rank.assignment.incarnation,
      event,
      ...(error ? { error } : {}),
    });
  }

  private crashed(rank: Rank, message: string): void {
    this.report(rank, 'crashed', { code: 'INTERNAL', message });
    this.stop(rank, 'crashed');
  }

  private stop(rank: Rank, how: 'finished' | 'revoked' | 'refused' | 'crashed'): void {
    if (!this.alive(rank)) return;
    const task = rank.assignment.task;
    if (how === 'finished') {
      this.watch.status([rank]); // its last one
      this.teamImages.ends(rank);
    }
    this.ranks.delete(task);
    this.turns.served(rank);
    this.parent({ type: 'kill', id: rank.id });
    rank.link.close();
    rank.port.close();
    this.supplies.forget(task);
    this.teams.leave(rank.assignment);
    this.watch.ended(rank);
    if (how === 'revoked' || how === 'crashed') this.step({ type: 'stop', task });
    // The end of its job may be told before its EXIT is known to be durable.
    const ends = how === 'finished' || how === 'revoked';
    const said = ends && failed(rank.link.side.words) ? 'failed' : how;
    this.daemon.post({ type: 'ended', task, incarnation: rank.assignment.incarnation, how: said });
    if (this.ranks.size === 0) {
      // What was queued (a DETACH) leaves before the connections close.
      this.seams.after(200, () => {
        if (this.ranks.size === 0) this.links?.close();
      });
    }
  }

  // ── traffic ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private received(cm: number, bytes: Uint8Array): void {
    this.woken = undefined;
    this.step({ type: 'received', cm, bytes });
    for (const rank of this.ranks.values()) this.progress(rank);
    if (this.woken) this.linger(this.woken);
  }

  /**
   * Many programs answer what they were waiting for at once. Where this rank did so lately, and no other rank would
   * have to wait, its answer is waited for here.
   */
  private linger(rank: Rank): void {
    if (this.ranks.size > 1 || (rank.prompt < 0.25 && ++rank.passed % LINGER_AGAIN !== 0)) return;
    rank.prompt += ((rank.link.side.linger(LINGER_MS) ? 1 : 0) - rank.prompt) / 8;
  }

  private progress(rank: Rank): void {
    if (!rank.running) return;
    const p = rank.link.progress();
    if (p) this.step({ type: 'consumed', task: rank.assignment.task, ...p });
  }

  /** The rank woke this side, or its turn has come. */
  private serve(rank: Rank): void {
    if (!this.alive(rank)) return;
    this.turns.served(rank);
    try {
      if (rank.log?.crowded()) this.teamImages.readReports(rank);
      this.progress(rank);
      rank.link.settle();
      const left = rank.link.drain();
      if (!this.alive(rank)) return;
      if (left === 'more') this.turns.again(rank);
      else {
        if (!rank.link.sleep(left === 'blocked')) this.turns.again(rank);
        if (left === 'blocked') this.turns.retryLater(rank);
      }
    } catch (e) {
      this.crashed(rank, `broke its ring: ${String(e)}`);
    }
    this.watch.flags(rank);
  }

  /** H1: an event that comes up while effects are performed waits for its turn. */
  private step(event: CommEvent): void {
    this.events.push(event);
    if (this.stepping) return;
    this.stepping = true;
    try {
      for (let e = this.events.shift(); e; e = this.events.shift()) {
        let effects: readonly CommEffect[];
        try {
          effects = this.core!.step(e);
        } catch (error) {
          const rank = e.type === 'ring' || e.type === 'reports' ? this.ranks.get(e.task) : undefined;
          if (!rank) throw error;
          this.crashed(rank, `wrote what is not a frame: ${String(error)}`);
          continue;
        }
        this.perform(effects);
      }
    } finally {
      this.stepping = false;
    }
  }

  private perform(effects: readonly CommEffect[]): void {
    const written = new Set<Rank>();
    for (const e of effects) {
      switch (e.type) {
        case 'send':
          this.links!.send(e.cm, e.bytes);
          break;
        case 'deliver': {
          const rank = this.ranks.get(e.task);
          if (rank) {
            rank.link.deliver(e.bytes);
            written.add(rank);
          }
          break;
        }
        case 'ready': {
          const rank = this.ranks.get(e.task);
          if (rank && rank.assignment.incarnation === e.start.incarnation) {
            rank.start = e.start;
            this.run(rank);
          }
          break;
        }
        case 'refused': {
          const rank = this.ranks.get(e.task);
          if (rank) {
            this.report(rank, 'refused', e.error);
            this.stop(rank, 'refused');
          }
          break;
        }
        case 'finished': {
          const rank = this.ranks.get(e.task);
          if (rank) this.stop(rank, 'finished');
          break;
        }
        case 'mark':
          this.ranks.get(e.task)?.link.side.ask(Ask.MARK);
          break;
        case 'checkpoint':
          if (e.wave === undefined) this.ranks.get(e.task)?.link.side.ask(Ask.CHECKPOINT);
          else this.teamImages.begins(e.task, e.wave, effects);
          break;
        case 'revoked': {
          const rank = this.ranks.get(e.task);
          if (rank) this.stop(rank, 'revoked');
          break;
        }
        case 'image': {
          const rank = this.ranks.get(e.task);
          if (rank) this.image(rank, e.position);
          break;
        }
        case 'drop':
          this.note(`closed the connection to Channel Memory ${e.cm}: ${e.error.code}: ${e.error.message}`);
          this.links!.drop(e.cm);
          break;
      }
    }
    for (const rank of written) {
      if (rank.link.settle()) this.woken = rank;
      // Something waits for space: sleep again, for space too.
      if (rank.link.waitingBytes > 0 && rank.running) this.resleep(rank);
    }
    this.links?.flush();
  }

  /** The image that the rank has handed over lies there; undefined: nobody waits for it. */
  private image(rank: Rank, position: Position | undefined): void {
    const { handed } = rank;
    rank.handed = undefined;
    if (!handed || !position) return this.teamImages.unused(rank);
    rank.log?.complete(handed.head.wave ?? 0);
    this.supplies
      .image(rank, { ...handed.head, position }, handed.sections)
      .catch((e: unknown) => this.crashed(rank, `handed over an image that cannot be cut: ${String(e)}`));
  }

  private resleep(rank: Rank): void {
    if (this.turns.isNext(rank) || rank.link.side.waitsForSpace) return;
    if (!rank.link.sleep(this.turns.isStalled(rank))) this.turns.again(rank);
  }

  private note(text: string): void {
    this.daemon.post({ type: 'note', text });
  }

  private async read(rank: Rank, path: string): Promise<void> {
    await this.supplies.read(rank, path);
    if (this.alive(rank)) this.resleep(rank);
  }
}
