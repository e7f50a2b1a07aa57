/** A Channel Memory of the model: a fence, determinants and evidence by source, counts by channel, logs by receiver. */
import {
  WORLD,
  decodeDeterminants,
  decodeTeamBlock,
  homeOf,
  type Determinant,
  type DeterminantBlock,
  type Incarnation,
  type TaskId,
} from '@mayfly/wire';
import { addRange } from '../../src/channel-memory/ranges.ts';
import { learn, type Evidence } from '../../src/channel-memory/records.ts';
import type { Line } from '../../src/pessimistic/position.ts';
import type { MemberAnswer } from './model-restart.ts';
import type { UpFrame } from './model-rank.ts';
import { Wrong } from '../coordinated/wrong.ts';

export interface Packet {
  readonly frame: UpFrame;
  readonly incarnation: Incarnation;
  readonly block: Uint8Array;
}

/** Channel Memories of a job. */
export const LOGS = 2;

class OfTask {
  fence = 0;
  readonly determinants = new Map<number, Determinant>();
  readonly evidence: Evidence = { determinants: 0, openPolls: 0, consumed: 0 };
  /** Messages by receiver, WORLD's too. */
  readonly counts = new Map<TaskId, number>();
  readonly arrivals: { src: TaskId; n: number; payload: number }[] = [];
  trimmed = 0;
  readonly world: [n: number, payload: number][] = [];
}

export class ModelLog {
  readonly #tasks: OfTask[];

  constructor(tasks: number) {
    this.#tasks = Array.from({ length: tasks }, () => new OfTask());
  }

  /** Returns what it acknowledges of each section, or undefined for a frame of a closed incarnation. */
  comes({ frame, incarnation, block }: Packet): { task: TaskId; first: number; end: number }[] | undefined {
    const source = this.#tasks[frame.src]!;
    if (source.fence > incarnation) return undefined;
    const acks = decodeTeamBlock(block).map(({ task, block: bytes }) => this.#log(task, decodeDeterminants(bytes)));
    if (frame.k === 'determinants') return acks;
    const count = source.counts.get(frame.dst) ?? 0;
    if (frame.n <= count) return acks;
    if (frame.n !== count + 1) throw new Wrong(`channel ${frame.src} > ${frame.dst}: ${frame.n} after ${count}`);
    source.counts.set(frame.dst, frame.n);
    if (frame.dst === WORLD) source.world.push([frame.n, frame.payload]);
    else this.#tasks[frame.dst]!.arrivals.push({ src: frame.src, n: frame.n, payload: frame.payload });
    return acks;
  }

  #log(task: TaskId, b: DeterminantBlock): { task: TaskId; first: number; end: number } {
    const { determinants, evidence } = this.#tasks[task]!;
    b.entries.forEach((e, i) => {
      const known = determinants.get(b.first + i);
      if (known && JSON.stringify(known) !== JSON.stringify(e))
        throw new Wrong(`determinant ${b.first + i} of task ${task} changes`);
      determinants.set(b.first + i, e);
    });
    const end = b.first + b.entries.length;
    learn(evidence, { determinants: end, openPolls: b.openPolls, consumed: b.consumed });
    return { task, first: b.first, end };
  }

  /** T1: from now on nothing of earlier incarnations is taken. */
  fences(task: TaskId, incarnation: Incarnation): void {
    this.#tasks[task]!.fence = incarnation;
  }

  answers(members: readonly { task: TaskId; raises: Line['sends'] }[]): MemberAnswer[] {
    for (const { task, raises } of members) {
      const { counts } = this.#tasks[task]!;
      for (const [dst, n] of raises) counts.set(dst, Math.max(n, counts.get(dst) ?? 0));
    }
    return members.map(({ task }) => {
      const { determinants, evidence: e, counts, arrivals } = this.#tasks[task]!;
      const held: [number, number][] = [];
      for (const n of [...determinants.keys()].sort((a, b) => a - b)) addRange(held, n, n + 1);
      const blocks: DeterminantBlock[] = held.map(([first, end]) => ({
        first,
        consumed: 0,
        openPolls: 0,
        entries: Array.from({ length: end - first }, (_, i) => determinants.get(first + i)!),
      }));
      blocks.push({ first: e.determinants, consumed: e.consumed, openPolls: e.openPolls, entries: [] });
      return { task, attached: { received: [...counts], arrivals: arrivals.length, determinants: held }, blocks };
    });
  }

  /** @throws Wrong when it was trimmed */
  arrival(task: TaskId, number: number): { src: TaskId; n: number; payload: number } | undefined {
    const t = this.#tasks[task]!;
    if (number <= t.trimmed) throw new Wrong(`arrival ${number} of task ${task} is trimmed`);
    return t.arrivals[number - 1];
  }

  arrivals(task: TaskId): number {
    return this.#tasks[task]!.arrivals.length;
  }

  count(src: TaskId, dst: TaskId): number {
    return this.#tasks[src]!.counts.get(dst) ?? 0;
  }

  has(task: TaskId, determinant: number): boolean {
    return this.#tasks[task]!.determinants.has(determinant);
  }

  written(task: TaskId): readonly (readonly [number, number])[] {
    return this.#tasks[task]!.world;
  }

  trim(task: TaskId, line: Line): void {
    const t = this.#tasks[task]!;
    t.trimmed = Math.max(t.trimmed, line.arrivals);
    for (const n of [...t.determinants.keys()]) if (n < line.determinants) t.determinants.delete(n);
  }
}

/** Which Channel Memory has a channel. */
export const logOf = (src: TaskId, dst: TaskId, logs: number): number => homeOf(dst === WORLD ? src : dst, logs);
