/**
 * The simulated registry: entries by key that outlive the process. A commit is whole or did not happen (server.ts has
 * when).
 */
import type { FaultRecord, JobRecord } from '@mayfly/protocols';
import { taskId, type Incarnation, type JobId, type TaskId } from '@mayfly/wire';

type Changes = readonly (readonly [key: string, value: unknown])[];

export class Registry {
  private readonly values = new Map<string, unknown>();

  constructor(
    private readonly job: JobId,
    /** What becomes durable: for the checkers. */
    private readonly told: {
      fault(fault: FaultRecord): void;
      entry(key: string, value: unknown): void;
      /** All of a commit. */
      commit(changes: Changes): void;
    },
  ) {}

  has(key: string): boolean {
    return this.values.has(key);
  }

  /** Durable entries in key order. */
  entries(which: (key: string) => boolean): [string, unknown][] {
    return [...this.values].filter(([k]) => which(k)).sort(([a], [b]) => (a < b ? -1 : 1));
  }

  change(changes: Changes): void {
    for (const [k, v] of changes)
      if (v === undefined) this.values.delete(k);
      else {
        if (k.startsWith('fault/') && !this.values.has(k)) this.told.fault(v as FaultRecord);
        this.values.set(k, JSON.parse(JSON.stringify(v)));
      }
    // the old ones first: what replaces them is there by now
    const inOrder = [...changes].sort(([, a], [, b]) => Number(a !== undefined) - Number(b !== undefined));
    for (const [k, v] of inOrder) this.told.entry(k, v);
    this.told.commit(changes);
  }

  /** Highest durable incarnation of every task that has one. */
  acting(): [TaskId, Incarnation][] {
    return this.entries((k) => k.startsWith('task/')).map(([k, v]) => [
      taskId(Number(k.split('/')[2])),
      (v as { incarnation: Incarnation }).incarnation,
    ]);
  }

  isDone(task: TaskId): boolean {
    return (this.values.get(`task/${this.job}/${task}`) as { exit?: unknown } | undefined)?.exit !== undefined;
  }

  /** As a restart would find the job. */
  record(): JobRecord | undefined {
    return this.values.get(`job/${this.job}`) as JobRecord | undefined;
  }

  pausedDurably(): boolean {
    return this.record()?.state === 'paused';
  }
}
