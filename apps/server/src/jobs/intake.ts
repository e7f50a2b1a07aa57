/**
 * What people do with jobs beyond the dispatcher's orders: submit them, give them standard input, remove them when they
 * have ended. Each is durable before it counts.
 */
import { isOver, jobKey, type JobService, type JobSpec } from '@mayfly/protocols';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError, type JobId } from '@mayfly/wire';
import type { Chronicle } from '../chronicle.ts';
import type { DispatcherHost } from '../hosts/dispatcher-host.ts';
import type { FinalCounters } from './job-counters.ts';
import type { JobMarks } from './job-marks.ts';
import type { JobRecords } from './job-records.ts';
import type { JobStore } from './job-store.ts';
import type { OpenJobs } from './open-jobs.ts';

export interface IntakeParts {
  service: JobService;
  dispatcher: DispatcherHost;
  registry: Registry;
  records: JobRecords;
  marks: JobMarks;
  finals: FinalCounters;
  jobs: OpenJobs;
  store: JobStore;
  chronicle: Chronicle;
  /** Of all jobs that there are. */
  specs: Map<JobId, JobSpec>;
  /** Of the message logs of a job that runs. */
  logBytes: (job: JobId) => number;
  /** @throws MayflyError NOT_FOUND */
  stateOf: (job: JobId) => string;
  forgotten: (job: JobId) => Promise<void>;
}

/** Messages of standard input that are read in one turn of the loop: 2 MiB at most. */
const STDIN_AT_ONCE = 32;

export class Intake {
  readonly #parts: IntakeParts;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Everything of the job is on disk already ({@link JobStore.create}). */
  async submit(spec: JobSpec, stdin: Uint8Array): Promise<void> {
    try {
      const log = await this.#parts.store.stdin(spec.id);
      try {
        await log.append(stdin, !spec.interactive);
      } finally {
        log.close();
      }
      await this.#parts.records.submitted(spec);
      this.#parts.specs.set(spec.id, spec);
      await this.#parts.dispatcher.submit(spec);
    } catch (error) {
      this.#parts.specs.delete(spec.id);
      throw error;
    }
  }

  /**
   * What a job holds: programs, sources, standard input and input files as they were submitted, output, message logs
   * and the newest checkpoint of each rank.
   */
  bytesOf(job: JobId): number {
    const { jobs, finals, dispatcher, specs, logBytes } = this.#parts;
    const open = jobs.serving(job) !== undefined;
    const tasks = dispatcher.core.core.jobs.get(job)?.tasks ?? [];
    const spec = specs.get(job);
    const counters = open ? jobs.counters(job) : finals.read(job);
    return (
      (spec?.files ?? []).reduce((sum, f) => sum + f.bytes, spec?.otherBytes ?? 0) +
      logBytes(job) +
      counters.outputBytes +
      (counters.stdinBytes ?? jobs.typed(job)) +
      (open ? tasks.reduce((sum, t) => sum + (jobs.noteImages(job, t.task)?.imageBytes ?? 0), 0) : 0)
    );
  }

  /**
   * All standard input of an ended job, read bit by bit.
   * @param most bytes @throws MayflyError TOO_LARGE: it has more, from a server with another limit
   */
  async stdinOf(job: JobId, most: number): Promise<Uint8Array> {
    const log = await this.#parts.store.stdin(job);
    try {
      if (log.bytes > most)
        throw new MayflyError(
          'TOO_LARGE',
          `The job had ${log.bytes} bytes of standard input; this server accepts ${most}.`,
        );
      const all = new Uint8Array(log.bytes);
      for (let n = 1, at = 0; n <= log.messages; n++) {
        const part = log.message(n);
        all.set(part, at);
        at += part.length;
        if (n % STDIN_AT_ONCE === 0) await new Promise(setImmediate);
      }
      return all;
    } finally {
      log.close();
    }
  }

  /** `admit`: OpenJobs.appendStdin. */
  async appendStdin(
    job: JobId,
    bytes: Uint8Array,
    end: boolean,
    offset: number | undefined,
    admit: (more: number) => () => void = () => () => undefined,
  ): Promise<number> {
    const length = await this.#parts.jobs.appendStdin(job, bytes, end, offset, admit);
    for (const l of this.#parts.service.logs(job)) l.feedStdin();
    return length;
  }

  /**
   * Forgets an ended job with all its files.
   * @throws MayflyError NOT_FOUND, CONFLICT; DISK_FULL, STORAGE_FAILED when that has to wait for storage
   */
  async remove(job: JobId): Promise<void> {
    if (!isOver(this.#parts.stateOf(job))) throw new MayflyError('CONFLICT', 'The job has not ended; cancel it first.');
    await this.#parts.jobs.closed(job);
    await this.#parts.records.settled(job);
    await this.#parts.marks.removing(job, async () => {
      // Not through the core, whose commits may wait for storage: these make room, and nothing of an ended job is under
      // way there.
      const of = [
        ...(await this.#parts.registry.entries(`task/${job}/`)),
        ...(await this.#parts.registry.entries(`fault/${job}/`)),
      ];
      await this.#parts.registry.commit([[jobKey(job), undefined], ...of.map(([key]) => [key, undefined] as const)]);
      this.#parts.service.dispatch({ type: 'forget', job });
      this.#parts.specs.delete(job);
      this.#parts.finals.forget(job);
      this.#parts.jobs.forget(job);
      await this.#parts.chronicle.forget(job);
    });
    await this.#parts.forgotten(job);
  }
}
