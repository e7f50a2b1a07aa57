/**
 * The server of {@link Job}: the real Channel Memories over logs whose end a loss of power takes, and a Checkpoint
 * Server of sets.
 */
import { Flag, Kind, WorldMode, decodeTeamBlock, imageId, incarnation, readFrame, taskId } from '@mayfly/wire';
import type { Incarnation, Position, TaskId } from '@mayfly/wire';
import {
  ChannelMemory,
  patchFromLog,
  readWorldBody,
  type CmEffect,
  type CmEvent,
  type LogPolicy,
} from '../../src/index.ts';
import { readEvidence, viewOf } from '../../src/channel-memory/records.ts';
import { aloneOf } from '../../src/pessimistic/teams/position.ts';
import { Wrong } from '../coordinated/wrong.ts';

interface Log {
  records: (Uint8Array | undefined)[];
  synced: number;
}

/** What the server wants of the rest of the job. */
export interface AroundServer {
  readonly tasks: number;
  readonly logs: number;
  readonly teams: readonly (readonly TaskId[])[];
  readonly policy: LogPolicy;
  random: (below: number) => number;
  /** The lowest incarnation of each task that may act. */
  incarnation: (task: TaskId) => Incarnation;
  sends: (conn: number, cm: number, bytes: Uint8Array) => void;
  closes: (conn: number, cm: number) => void;
  /** Its EXIT is durable. */
  exited: (task: TaskId) => void;
  refused: (task: TaskId, incarnation: Incarnation) => void;
  covered: (cm: number, task: TaskId, image: string, ranges: readonly (readonly [number, number])[]) => void;
}

export class JobServer {
  cores: ChannelMemory[] = [];
  readonly #logs: Map<string, Log>[];
  #syncs: { cm: number; ticket: number; marks: [Log, number][] }[] = [];
  /** What each task wrote to the outside. */
  readonly written: Map<number, number>[];
  /** Tasks whose EXIT is durable. */
  readonly exited = new Set<TaskId>();
  readonly over = new Set<TaskId>();
  /** Questions about images that are not answered by all. */
  readonly covers = new Map<string, { task: TaskId; position: Position }>();
  /** Determinants of each task that a set of images has made superfluous. */
  readonly trimmed: number[] = [];
  lostRecords = 0;
  /** What is given back may show what is lost. */
  #isNew = false;

  constructor(private readonly around: AroundServer) {
    this.#logs = Array.from({ length: around.logs }, () => new Map<string, Log>());
    this.written = Array.from({ length: around.tasks }, () => new Map<number, number>());
    this.#begin(true);
  }

  #begin(fresh: boolean): void {
    const { around } = this;
    this.cores = this.#logs.map(
      (_, index) =>
        new ChannelMemory(around.policy, {
          size: around.tasks,
          index,
          count: around.logs,
          durability: 'behind',
          teams: around.teams,
          authorise: (c) => ({
            task: taskId(Number(c.split('.')[0])),
            incarnation: incarnation(Number(c.split('.')[1])),
          }),
        }),
    );
    this.cores.forEach((core, cm) => {
      for (const name of core.streams()) {
        let log = this.#logs[cm]!.get(name);
        if (!log) this.#logs[cm]!.set(name, (log = { records: [], synced: 0 }));
        const records = log.records.flatMap((bytes, lsn) => (bytes ? [{ lsn, bytes: bytes.slice() }] : []));
        this.#perform(cm, core.recover(name, records, log.records.length));
      }
      if (!fresh)
        for (let t = 0; t < around.tasks; t++)
          this.step(cm, { type: 'fence', task: taskId(t), incarnation: around.incarnation(taskId(t)) });
      this.step(cm, { type: 'recovered', fresh });
      for (const task of this.over) this.step(cm, { type: 'done', task });
      for (const [image, { task, position }] of this.covers)
        this.step(cm, { type: 'cover', task, image: imageId(image), position });
    });
  }

  step(cm: number, event: CmEvent): void {
    if (event.type === 'trim') this.trimmed[event.task] = aloneOf(event.position).image.determinants;
    this.#perform(cm, this.cores[cm]!.step(event));
  }

  frames(cm: number, conn: number, bytes: Uint8Array): void {
    this.#isNew = bytes[0] === Kind.DATA;
    this.step(cm, { type: 'frames', conn, bytes });
    this.#isNew = false;
    if (this.around.random(2) === 0) this.step(cm, { type: 'flush' });
  }

  /** A sync ends, or acknowledgements leave. False: there is nothing to do. */
  turn(): boolean {
    const sync = this.#syncs.shift();
    if (sync) {
      for (const [log, end] of sync.marks) log.synced = Math.max(log.synced, end);
      this.step(sync.cm, { type: 'synced', ticket: sync.ticket });
      return true;
    }
    this.cores.forEach((_, cm) => {
      this.step(cm, { type: 'flush' });
      this.step(cm, { type: 'tick' });
    });
    return this.#syncs.length > 0;
  }

  /** The process ends; with `power` also a part of what no sync has covered. */
  kill(power: boolean): void {
    this.#syncs = [];
    for (const log of this.#logs.flatMap((l) => [...l.values()])) {
      const unsynced = log.records.length - log.synced;
      const left = power && unsynced > 0 ? this.around.random(unsynced + 1) : unsynced;
      this.lostRecords += unsynced - left;
      log.records.length = log.synced + left;
    }
    this.#begin(false);
  }

  #perform(cm: number, effects: readonly CmEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'append': {
          const { records } = this.#logs[cm]!.get(e.stream)!;
          if (records.length !== e.lsn) throw new Error(`LSN ${e.lsn} in ${e.stream}, which is at ${records.length}`);
          records.push(e.bytes.slice());
          this.#isWhole(cm, e.bytes);
          break;
        }
        case 'send':
          this.around.sends(e.conn, cm, e.bytes.slice());
          break;
        case 'sendRecord':
          this.around.sends(e.conn, cm, patchFromLog(this.#logs[cm]!.get(e.stream)!.records[e.lsn]!.slice(), e));
          break;
        case 'trim': {
          const { records } = this.#logs[cm]!.get(e.stream)!;
          for (let l = e.from; l < e.to; l++) if (!e.keep.has(l)) records[l] = undefined;
          break;
        }
        case 'sync':
          this.#syncs.push({
            cm,
            ticket: e.ticket,
            marks: e.streams.map((name) => {
              const log = this.#logs[cm]!.get(name)!;
              return [log, log.records.length];
            }),
          });
          break;
        case 'world':
          this.#world(
            e.task,
            e.channel,
            e.mode,
            readWorldBody(e.body, (name, lsn) => this.#logs[cm]!.get(name)!.records[lsn]!),
          );
          break;
        case 'close':
          this.around.closes(e.conn, cm);
          break;
        case 'refused':
          // F5, also after a loss of power: nobody here states a false position.
          if (e.error.message.startsWith('a frame says')) throw new Wrong(e.error.message);
          this.around.refused(e.task, e.incarnation);
          break;
        case 'covered':
          this.around.covered(cm, e.task, e.image, e.determinants);
          break;
        case 'failed':
          throw new Wrong(e.error.message);
      }
  }

  /**
   * C2, T5, where one Channel Memory has everything: nothing is logged before the determinants of every member that it
   * shows something of.
   */
  #isWhole(cm: number, record: Uint8Array): void {
    const { header, determinants } = readFrame(record, viewOf(record), 0);
    if (this.around.logs > 1 || (header.flags & Flag.TEAM) === 0 || !this.#isNew) return;
    for (const { task, block } of decodeTeamBlock(determinants)) {
      const e = { determinants: 0, openPolls: 0, consumed: 0 };
      readEvidence(viewOf(block), 0, e);
      const held = Math.max(this.trimmed[task] ?? 0, this.cores[cm]!.progress(task).logs.held.at(-1)?.[1] ?? 0);
      if (e.determinants > held)
        throw new Wrong(`C2: a message shows ${e.determinants} determinants of task ${task}, ${held} are logged`);
    }
  }

  #world(task: TaskId, channel: number, mode: number, body: Uint8Array): void {
    const payload = viewOf(body).getUint32(0, true);
    const known = this.written[task]!.get(channel);
    if (known !== undefined && known !== payload) throw new Wrong(`J1: output ${channel} of task ${task} changes`);
    this.written[task]!.set(channel, payload);
    if (mode !== WorldMode.EXIT) return;
    this.exited.add(task);
    this.around.exited(task);
  }
}
