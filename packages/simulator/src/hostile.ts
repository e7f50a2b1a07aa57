/**
 * A node that takes ranks and never runs them. It speaks the control protocol as an honest one does, and has no record
 * of useful work.
 *
 * Owns: the ranks that it has, and what it reports of them.
 */
import type { Heartbeat, Incarnation, JobId, TaskId, TaskReport } from '@mayfly/wire';
import type { Random } from './random.ts';

/** Reports a crash soon; only sends heartbeats, of calls that no rank made; never begins. */
export const HOSTILE = ['false crash', 'silence', 'endless start'] as const;
export type Hostility = (typeof HOSTILE)[number];

interface Host {
  readonly job: JobId;
  readonly random: Random;
  after(ms: number, f: () => void): void;
  report(report: TaskReport): void;
}

export class Hostile {
  private readonly given = new Map<TaskId, { incarnation: Incarnation; calls: number }>();

  constructor(
    private readonly host: Host,
    readonly kind: Hostility,
  ) {}

  assigned(task: TaskId, incarnation: Incarnation): void {
    const { host } = this;
    const { job } = host;
    this.given.set(task, { incarnation, calls: 0 });
    if (this.kind === 'endless start') return;
    const begins = this.kind === 'silence' || host.random.chance(0.5);
    if (begins) host.report({ job, task, incarnation, event: 'started' });
    if (this.kind === 'silence') return host.report({ job, task, incarnation, event: 'recovered' });
    host.after(host.random.between(0, 300), () => {
      if (this.given.get(task)?.incarnation !== incarnation) return;
      this.given.delete(task);
      host.report({
        job,
        task,
        incarnation,
        event: 'crashed',
        error: { code: 'KEEPS_CRASHING', message: 'out of memory' },
      });
    });
  }

  revoked(task: TaskId, incarnation: Incarnation): void {
    if (this.given.get(task)?.incarnation === incarnation) this.given.delete(task);
  }

  holds(): { job: JobId; task: TaskId; incarnation: Incarnation }[] {
    return [...this.given].map(([task, { incarnation }]) => ({ job: this.host.job, task, incarnation }));
  }

  heartbeat(): Heartbeat['tasks'] {
    return [...this.given].map(([task, g]) => ({
      job: this.host.job,
      task,
      incarnation: g.incarnation,
      started: this.kind !== 'endless start',
      activity: { state: 'computing', call: 'MPI_Send', arrivals: g.calls, sends: ++g.calls },
    }));
  }
}
