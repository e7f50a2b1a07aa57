/** One simulated run: the setup that a seed draws, the clock, the server, the volunteers, the terminal, the notes. */
import type { FaultRecord, VProtocol } from '@mayfly/protocols';
import { homeOf, taskId, type ErrorBody, type NodeId, type TaskId } from '@mayfly/wire';
import { Agenda } from './agenda.ts';
import { Checkers, kits, type Stores } from './checkers/index.ts';
import { FileHost } from './file-host.ts';
import { roomOfNext } from './clusters-of-seed.ts';
import type { Hostility } from './hostile.ts';
import { Link, type LinkEnds } from './link.ts';
import { protocolOf } from './planted-protocols.ts';
import type { Rule } from './planted.ts';
import { mixBytes } from './program.ts';
import { Random } from './random.ts';
import { Server } from './server.ts';
import { homesOf, type Setup } from './setup.ts';
import type { Simulation } from './simulation.ts';
import { Violation } from './violation.ts';
import { Volunteer } from './volunteer.ts';

/** How a run differs from what its setup and seed say. */
export interface WorldOptions {
  /** The rule that the run breaks on purpose. */
  readonly undone?: Rule | undefined;
  /** Default: what `setup.protocol` names. */
  readonly protocol?: VProtocol | undefined;
  readonly trace?: ((world: World, line: string) => void) | undefined;
}

export class World implements Simulation {
  readonly agenda = new Agenda();
  readonly random: Random;
  readonly checkers: Checkers;
  readonly server: Server;
  readonly sink: Sink;
  readonly files: FileHost;
  volunteers: Volunteer[] = [];
  /** Nodes that do not run the job's program: no fault strikes them, and no rank may come to them. */
  readonly bystanders: Volunteer[] = [];
  /** What happened, in order. A failing seed prints it. */
  readonly notes: string[] = [];
  readonly counts = new Map<string, number>();
  end: { state: string; error: ErrorBody | undefined } | undefined;
  /** Messages of standard input that were typed so far; they are durable. */
  stdinTyped = 0;
  readonly undone: Rule | undefined;
  readonly protocol: VProtocol;
  trace: ((line: string) => void) | undefined;
  /**
   * Incarnations of which the one who was the node for the server has said that they crashed: what it holds has,
   * whoever else may hold it.
   */
  readonly saidCrashed = new Set<string>();
  readonly lies = new Set<string>();
  /** Tasks whose program takes every worker down soon. */
  readonly poisoned = new Set<TaskId>();
  /** K18: failures of nodes that do nothing else, since the server began. */
  readonly failures = new Map<string, { times: number; last: number }>();
  /** When each incarnation was given to its node. */
  readonly givenAt = new Map<string, number>();
  /** Workers of honest nodes that crashed. */
  honestCrashes = 0;
  private born = 0;

  constructor(
    readonly setup: Setup,
    readonly seed: number,
    { undone, protocol, trace }: WorldOptions = {},
  ) {
    this.undone = undone;
    this.trace = trace && ((line) => trace(this, line));
    this.protocol = protocol ?? protocolOf(setup.protocol, undone);
    this.random = Random.named(seed, 'world');
    this.checkers = new Checkers(
      setup.spec,
      kits[setup.protocol],
      this.stores(),
      setup.clusters,
      setup.ft && {
        ...setup.ft,
        tasks: setup.spec.size,
      },
    );
    this.sink = new Sink(this);
    this.files = new FileHost(this);
    this.server = new Server(this);
  }

  /** The wall clock of the server's machine, ms. */
  get wall(): number {
    return 1_700_000_000_000 + this.agenda.now;
  }

  /** What checkers may know of the server. */
  private stores(): Stores {
    const { setup, protocol } = this;
    // the server is made after the checkers
    const server = (): Server => this.server;
    return {
      now: () => this.agenda.now,
      get disks() {
        return server().cms.map((cm) => cm.log);
      },
      strict: protocol.log.visible(setup.durability) === 'synced',
      kept: (task) => server().cs.kept(taskId(task)),
      isDone: (task) => server().registry.isDone(taskId(task)),
      raised: (task) =>
        server()
          .registry.acting()
          .find(([t]) => t === task)?.[1],
    };
  }

  link<U, D>(name: string, ends: LinkEnds<U, D>): Link<U, D> {
    return new Link<U, D>(this.agenda, Random.named(this.seed, name), this.setup.maxDelay, ends);
  }

  /** `like`: it says that it is this node. */
  volunteer(like?: Pick<Volunteer, 'id' | 'place'> & { slots?: number }, hostility?: Hostility): Volunteer {
    const { room } = like
      ? like.place
      : {
          room: roomOfNext(
            this.setup,
            // Those that mean harm are no help.
            this.volunteers.filter((v) => !v.hostile).map((v) => v.place),
          ),
        };
    const name = `${hostility ? 'h' : 'v'}${++this.born}`;
    const slots = like?.slots ?? this.setup.slots;
    const v = new Volunteer(this, name, slots, { id: like?.id, room }, undefined, hostility);
    this.volunteers.push(v);
    return v;
  }

  bystander(): void {
    this.bystanders.push(
      new Volunteer(this, `o${this.bystanders.length + 1}`, this.setup.slots, undefined, [
        this.setup.kind === 'wasm' ? 'typescript' : 'wasm',
      ]),
    );
  }

  gone(v: Volunteer): void {
    this.volunteers = this.volunteers.filter((o) => o !== v);
  }

  /** Somebody types the next message of standard input. */
  typed(): void {
    this.stdinTyped++;
    for (const cm of this.server.cms) cm.served?.feedStdin();
  }

  /**
   * K15: a rank counts as crashed when it is, or when it has not begun in its time. A clone that a restarted server
   * took for the first speaks for both.
   */
  gaveUp(f: FaultRecord): void {
    if (f.cause === 'crashed' && f.node !== undefined && this.volunteers.some((v) => v.id === f.node && v.hostile)) {
      const { times } = this.failures.get(f.node) ?? { times: 0 };
      this.failures.set(f.node, { times: times + 1, last: f.at - 1_700_000_000_000 });
    }
    if (f.cause !== 'crashed' || this.saidCrashed.has(`${f.task}.${f.incarnation}`)) return;
    const given = this.givenAt.get(`${f.task}.${f.incarnation}`) ?? -Infinity;
    const lives = this.volunteers.find(
      (v) => v.alive && v.id === f.node && !v.isClone && v.held.get(f.task)?.incarnation === f.incarnation,
    );
    const late = this.agenda.now - given >= (this.setup.dispatcher.startMs ?? Infinity);
    if (lives && !late)
      throw new Violation(
        `K15: incarnation ${f.incarnation} of task ${f.task} is given up as crashed, and it lives on ${lives.name}`,
      );
  }

  /**
   * K18: a node that has failed, and has never done useful work, waits twice as long each time. Where honest workers
   * crash too, it may have been the program.
   */
  gave(node: NodeId): void {
    const f = this.failures.get(node);
    const { quarantineMs = 0, quarantineMaxMs = 0 } = this.setup.dispatcher;
    if (!f || this.honestCrashes > 0 || this.poisoned.size > 0) return;
    const until = f.last + Math.min(quarantineMaxMs, quarantineMs * 2 ** (f.times - 1));
    if (this.agenda.now < until - 1)
      throw new Violation(
        `K18: ${node} failed ${f.times} times, last at ${f.last.toFixed(0)}, and is given a rank before ` +
          `${until.toFixed(0)}`,
      );
  }

  ended(state: string, error: ErrorBody | undefined): void {
    this.end ??= { state, error };
  }

  note(text: string): void {
    this.notes.push(`${this.agenda.now.toFixed(1).padStart(9)} ${text}`);
    this.trace?.(text);
  }

  count(what: string, n = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + n);
  }

  /** A stand-in for a page's hash: same text, same hash. */
  pageHash(text: string): string {
    const bytes = Array.from(text, (c) => c.charCodeAt(0));
    return Array.from({ length: 8 }, (_, i) => mixBytes(i, bytes).toString(16).padStart(8, '0')).join('');
  }
}

/**
 * The files that output is written to: when they are synced, the Channel Memories may forget it (H4 of the server's
 * host).
 */
class Sink {
  private readonly written = new Map<TaskId, number>();
  private readonly synced = new Map<TaskId, number>();

  constructor(private readonly world: World) {}

  wrote(task: TaskId, channel: number): void {
    this.written.set(task, Math.max(channel, this.written.get(task) ?? 0));
  }

  sync(): void {
    const { server, files } = this.world;
    files.sync((task) => server.cms[homeOf(task, homesOf(this.world.setup))]!.served?.core);
    for (const [task, channel] of this.written) {
      if (this.synced.get(task) === channel) continue;
      this.synced.set(task, channel);
      for (const cm of this.world.server.cms) cm.served?.step({ type: 'worldDone', task, channel });
    }
  }

  /** What was not synced is gone from the files; the logs have it still. */
  powerLoss(): void {
    for (const [task, channel] of this.written) {
      const kept = this.synced.get(task) ?? 0;
      if (kept < channel) this.world.checkers.unsee(task, kept);
      this.written.set(task, kept);
    }
  }
}
