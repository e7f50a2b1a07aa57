/**
 * The world's end of MPI-IO: the file service over a journal and the files, performing the host's duties in their order
 * as apps/server's WorldHost does: decide, journal, apply, perform; sync the journal; give the answers. A journal that
 * has become long is replaced by a snapshot.
 *
 * Owns the journal and the files, which outlive the process, and the service, which does not. Draws from a generator of
 * its own.
 */
import {
  MemoryFiles,
  type FileEffect,
  type FileSnapshot,
  type LogCore,
  type Outcome,
  type ServedLog,
} from '@mayfly/protocols';
import { FILES, WorldMode, homeOf, type SpawnGroup, type TaskId } from '@mayfly/wire';
import { homesOf } from './setup.ts';
import { FaultyLog } from './faulty-log.ts';
import { Random } from './random.ts';
import type { Simulation } from './simulation.ts';

/** What the file service's host asks of the run that it is part of. */
export interface FileSimulation extends Simulation {
  readonly server: {
    readonly cms: readonly { readonly served: Pick<ServedLog, 'feedAnswers'> | undefined }[];
    spawned(group: SpawnGroup): void;
    later(ms: number, f: () => void): void;
    whenWritable(f: () => void): void;
  };
}

const LIMIT = 1 << 20;
/** Records after which a snapshot takes their place. */
const LONG = 24;

type Record_ = { snapshot: FileSnapshot } | { outcome: Outcome; body: number[] };

const copied = (files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> =>
  new Map([...files].map(([path, bytes]) => [path, bytes.slice()]));

export class FileHost {
  private readonly random: Random;
  private readonly journal = new FaultyLog();
  private generation = 0;
  /** Records of the journal that are messages, from its snapshot on: decisions before it are durable for good. */
  private before = 0;
  private disk = new Map<string, Uint8Array>();
  /** The files as of their last sync. */
  private platter = new Map<string, Uint8Array>();
  /** Effects that the platter may not have. */
  private unsynced: FileEffect[] = [];
  private files: MemoryFiles | undefined;
  private readonly applied = new Map<TaskId, number>();
  private answerable = new Map<TaskId, number>();
  private committing = false;
  /** Spawns that the server knows of. */
  private told = 0;
  private compacting = false;

  constructor(private readonly world: FileSimulation) {
    this.random = Random.named(world.seed, 'files of the job');
    world.checkers.files.disk = () => this.files?.files ?? this.disk;
  }

  /** Nothing can be written to the journal; it throws DiskFull then. */
  set full(on: boolean) {
    this.journal.full = on;
  }

  private get stream(): string {
    return `j${this.generation}`;
  }

  /** Recovers from the journal. */
  start(): void {
    const { spec } = this.world.setup;
    this.files = new MemoryFiles(LIMIT, undefined, spec.spawn?.first ?? spec.size, () => 0);
    this.told = 0;
    for (const [path, bytes] of copied(this.disk)) this.files.files.set(path, bytes);
    this.answerable = new Map();
    this.committing = false;
    this.compacting = false;
    this.journal.open(this.stream);
    let found = 0;
    for (const { bytes } of this.journal.scan(this.stream)) {
      found++;
      const r = JSON.parse(new TextDecoder().decode(bytes)) as Record_;
      if ('snapshot' in r) this.files.service.restore(r.snapshot);
      else this.perform(this.files, r.outcome, Uint8Array.from(r.body));
    }
    if (this.world.undone === 'children-forgotten') this.told = this.files.service.spawned.length;
    if (found > 0) this.commit();
    else this.world.server.whenWritable(() => this.begin());
  }

  /**
   * What a power loss left nothing of begins again, with a full disk once there is space: until then no request can be
   * written either.
   */
  private begin(): void {
    if (this.files) this.write({ snapshot: this.files.service.snapshot() });
  }

  /** The kernel keeps what was written. */
  kill(): void {
    if (this.files) this.disk = copied(this.files.files);
    this.files = undefined;
  }

  /** After `kill`. Of what was not synced some reached the platter, of the journal a prefix. */
  powerLoss(): void {
    if (!this.world.setup.spec.files) return;
    const platter = new MemoryFiles(LIMIT);
    for (const [path, bytes] of copied(this.platter)) platter.files.set(path, bytes);
    for (const e of this.unsynced) if (this.random.chance(0.5)) platter.perform(e);
    this.disk = platter.files;
    this.platter = copied(this.disk);
    this.unsynced = [];
    this.journal.powerLoss(this.random);
    this.journal.open(this.stream);
    this.world.checkers.files.lost(this.before + Math.max(0, this.journal.next(this.stream) - 1));
  }

  /** Message `n` of a task to the world, a request. */
  deliver(task: TaskId, n: number, body: Uint8Array): void {
    const { files, world } = this;
    if (!files) return;
    const { service } = files;
    if (n <= service.applied(task) && world.undone !== 'requests-taken-again') return;
    const again = n <= (this.applied.get(task) ?? 0);
    const outcome = service.decide(task, n, WorldMode.REQUEST, body, LIMIT - service.total, again);
    if ('fatal' in outcome) throw new Error(`the file service refuses ${outcome.path}: ${outcome.fatal}`);
    this.write({ outcome, body: [...body] });
    this.applied.set(task, n);
    world.checkers.files.decided({ task, channel: n, body: body.slice() });
    this.perform(files, outcome, body);
    world.count('requests to the file service');
    if (world.undone === 'answered-before-journal') this.answers();
    else this.commit();
  }

  private perform(files: MemoryFiles, outcome: Outcome, body: Uint8Array): void {
    for (const e of files.service.apply(outcome, body)) {
      files.perform(e);
      this.unsynced.push(e);
    }
  }

  ended(task: TaskId): void {
    this.files?.service.forget(task, Infinity);
  }

  private write(r: Record_): void {
    this.journal.append(this.stream, new TextEncoder().encode(JSON.stringify(r)));
  }

  private later(f: () => void): void {
    this.world.server.later(this.random.between(1, this.world.setup.diskMs), f);
  }

  /** All requests that have come meanwhile share one sync. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    const { stream } = this;
    const next = this.journal.next(stream);
    const upTo = this.requests();
    const spawns = this.files!.service.spawned.length;
    this.later(() => {
      // What was written is synced when there is room for it.
      if (this.journal.full) return this.world.server.whenWritable(() => ((this.committing = false), this.commit()));
      this.journal.sync(stream, next);
      this.committing = false;
      for (; this.told < spawns; this.told++) this.world.server.spawned(this.files!.service.spawned[this.told]!);
      this.answers(upTo);
      if (this.requests().some(([task, r]) => (this.answerable.get(task) ?? 0) < r)) this.commit();
    });
  }

  private requests(): [TaskId, number][] {
    return this.files!.service.tasks().map((task) => [task, this.files!.service.requests(task)]);
  }

  private answers(upTo = this.requests()): void {
    for (const [task, r] of upTo) {
      if ((this.answerable.get(task) ?? 0) >= r) continue;
      this.answerable.set(task, r);
      this.world.server.cms[this.home(task)]!.served?.feedAnswers(task);
    }
  }

  /** Tasks that the job has by now. */
  get tasks(): number {
    return this.files!.service.tasksOfJob;
  }

  private home(task: TaskId): number {
    return homeOf(task, homesOf(this.world.setup));
  }

  // ---- what the feeds of the Channel Memories ask ----

  last(task: TaskId): number {
    return this.answerable.get(task) ?? 0;
  }

  answer(task: TaskId, r: number): { error: number; body: Uint8Array } | undefined {
    if (!this.files?.service.answer(task, r)) return undefined;
    const a = this.files.answer(task, r);
    this.world.checkers.files.gives(task, r, a.error, a.body);
    if (this.world.undone === 'answers-forgotten') this.files.service.forget(task, r);
    return a;
  }

  // ---- durability ----

  /** With the sync of the output: what a task wrote is durable, what its log has is forgotten. */
  sync(core: (task: TaskId) => Pick<LogCore, 'durable'> | undefined): void {
    if (!this.files) return;
    this.journal.sync(this.stream, this.journal.next(this.stream));
    const { service } = this.files;
    for (const task of service.tasks()) service.forget(task, core(task)?.durable(FILES, task) ?? 0);
    if (this.journal.next(this.stream) > LONG) this.compact();
  }

  /** The snapshot stands for what came before it once the files are durable; what came after is written behind it. */
  private compact(): void {
    if (this.compacting || this.journal.full || !this.files) return;
    this.compacting = true;
    const { files, stream, world } = this;
    const snapshot = files.service.snapshot();
    const at = this.journal.next(stream);
    const effects = this.unsynced.length;
    const platter = copied(files.files);
    this.later(() => {
      if (this.journal.full) return void (this.compacting = false);
      if (world.undone !== 'snapshot-before-files') {
        this.platter = platter;
        this.unsynced.splice(0, effects);
      }
      const rest = [...this.journal.scan(stream)].filter((r) => r.lsn >= at);
      this.before += at - 1;
      this.generation++;
      this.write({ snapshot });
      for (const { bytes } of rest) this.journal.append(this.stream, bytes);
      this.journal.sync(this.stream, this.journal.next(this.stream));
      this.journal.remove(stream);
      this.compacting = false;
      world.count('snapshots of the journal of files');
    });
  }
}
