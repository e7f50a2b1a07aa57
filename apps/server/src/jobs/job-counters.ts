/**
 * Numbers of jobs that outlive their logs: what the dispatcher's view of a job needs besides its own state. While a job
 * runs they are asked of its hosts; when it ends they go to the archive.
 */
import type { JobCounters, TaskCounters } from '@mayfly/protocols';
import { seal, unseal } from '@mayfly/storage';
import type { Archive } from '@mayfly/storage/ports';
import type { JobId, JobView, ParityView, TaskId, WavesView } from '@mayfly/wire';
import type { TaskTraffic, Traffic } from '../hosts/traffic.ts';

interface Final {
  tasks: TaskCounters[];
  outputs: JobView['outputs'];
  outputBytes: number;
  /** Absent: written before this was kept. */
  stdinBytes?: number;
  /** Absent: written before this was kept, or its protocol knows none. */
  waves?: WavesView;
  /** Absent: its images had no parity, or written before that was kept. */
  parity?: ParityView;
}

export const noCounters = (): TaskCounters => ({
  messagesIn: 0,
  bytesIn: 0,
  messagesOut: 0,
  bytesOut: 0,
  images: 0,
  imageBytes: 0,
});

/** What a task sent and received: through the Channel Memories of its job, and within its team. */
export function trafficOf(parts: readonly Traffic[], task: TaskId): TaskTraffic {
  const sum: TaskTraffic = { messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0 };
  for (const traffic of parts) {
    const t = traffic.get(task);
    if (!t) continue;
    sum.messagesIn += t.messagesIn;
    sum.bytesIn += t.bytesIn;
    sum.messagesOut += t.messagesOut;
    sum.bytesOut += t.bytesOut;
  }
  return sum;
}

/** Of that: within its team. */
export function localOf(local: Traffic | undefined, task: TaskId): Pick<TaskCounters, 'localIn' | 'localOut'> {
  const t = local?.get(task);
  return t && t.messagesIn + t.messagesOut > 0 ? { localIn: t.messagesIn, localOut: t.messagesOut } : {};
}

/** Nothing is under way any more, and nothing is due. */
const lastOf = ({ nextAt: _, ...waves }: WavesView): WavesView => ({
  ...waves,
  recent: waves.recent.filter((w) => w.state !== 'underWay'),
});

const MAX_CACHED = 1000;

export class FinalCounters {
  readonly #archive: Archive;
  readonly #cache = new Map<JobId, Final>();
  readonly #writing = new Map<JobId, Promise<void>>();

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** The first word stands: what a later start of the server finds in half-removed logs is less. */
  write(job: JobId, size: number, c: JobCounters): void {
    if (this.#writing.has(job) || this.#archive.getNow(job, 'final') !== undefined) return;
    const last = (t: number): TaskCounters => (({ uploading: _, ...rest }) => rest)(c.task(t as TaskId));
    const final: Final = {
      tasks: Array.from({ length: size }, (_, t) => last(t)),
      outputs: c.outputs,
      outputBytes: c.outputBytes,
      ...(c.stdinBytes && { stdinBytes: c.stdinBytes }),
      ...(c.waves && { waves: lastOf(c.waves) }),
      ...(c.parity && { parity: { ...c.parity, spare: 0, protectedRanks: 0 } }),
    };
    this.#keep(job, final);
    // Statistics of an ended job: not worth a sync, nor that a full disk keeps it from ending. They are at hand as long
    // as this server runs.
    const work = this.#put(job, final)
      .catch(() => undefined)
      .finally(() => this.#writing.delete(job));
    this.#writing.set(job, work);
  }

  async #put(job: JobId, final: Final): Promise<void> {
    if ((await this.#archive.get(job, 'final')) === undefined)
      await this.#archive.put(job, 'final', Buffer.from(seal(JSON.stringify(final))));
  }

  /** Resolves when nothing of the job is written any more. */
  async settled(job: JobId): Promise<void> {
    await this.#writing.get(job);
  }

  read(job: JobId): JobCounters {
    let f = this.#cache.get(job);
    if (!f) {
      try {
        const bytes = this.#archive.getNow(job, 'final');
        f = bytes && (JSON.parse(unseal(Buffer.from(bytes).toString('utf8'), 'final.json')) as Final);
      } catch {
        // Damaged.
      }
      f ??= { tasks: [], outputs: [], outputBytes: 0 };
      this.#keep(job, f);
    }
    const { tasks, outputs, outputBytes, stdinBytes, waves, parity } = f;
    return { task: (t) => tasks[t] ?? noCounters(), outputs, outputBytes, stdinBytes, waves, parity };
  }

  forget(job: JobId): void {
    this.#cache.delete(job);
  }

  #keep(job: JobId, f: Final): void {
    if (this.#cache.size >= MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value!);
    this.#cache.set(job, f);
  }
}
