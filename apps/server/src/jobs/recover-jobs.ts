/**
 * The start of the server on a data directory: every job that has not ended is opened again, and what a crash left of
 * the others is finished (R1 of runtime.ts, R2 of open-jobs.ts).
 */
import { isOver, partsOf, type JobService, type JobSpec } from '@mayfly/protocols';
import type { MessageLog } from '@mayfly/storage/ports';
import { MayflyError, jobId, type ErrorBody, type JobId } from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { JobRecords } from './job-records.ts';
import type { JobStore } from './job-store.ts';
import type { OpenJobs } from './open-jobs.ts';

/** Troubles of the file system that say nothing of the job's own files. */
const PASSING: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'ENOMEM',
  'DISK_FULL',
  'STORAGE_FAILED',
]);

export interface RecoveryParts {
  service: JobService;
  disk: Disk;
  log: MessageLog;
  logger: Logger;
  store: JobStore;
  jobs: OpenJobs;
  records: JobRecords;
  /** Of all jobs that there are; filled here. */
  specs: Map<JobId, JobSpec>;
  /** The registry. */
  entries: readonly (readonly [key: string, value: unknown])[];
  /** Storage cannot be written, and why. */
  storage: (error: ErrorBody) => void;
  close: (job: JobId) => Promise<void>;
}

export async function recoverJobs(parts: RecoveryParts): Promise<void> {
  const { service, disk, logger, store, jobs, records, specs, entries } = parts;
  const active = new Set<JobSpec>();
  /** R6 of runtime.ts. */
  const needNodes = new Set<string>();
  for (const [key, value] of entries) {
    if (key.startsWith('near/')) needNodes.add(key.split('/')[1]!);
    if (key.startsWith('task/')) jobs.ran.add(jobId(key.split('/')[1]!));
    if (!key.startsWith('job/')) continue;
    const { spec, state } = value as { spec: JobSpec; state: string };
    specs.set(spec.id, spec);
    if (!isOver(state)) active.add(spec);
  }
  service.recover(entries);
  if (disk.stopped) parts.storage(disk.stopped);
  // R1, unless storage is stopped: then they recover when it can be written, and the server shows that meanwhile.
  for (const spec of active)
    if (jobs.ran.has(spec.id))
      await disk.orStopped(
        store
          .verify(
            spec.id,
            partsOf(spec).map((p) => p.program),
          )
          .then(async () => {
            const opened = jobs.open(spec);
            if (!needNodes.has(spec.id)) return opened;
            opened.catch((error: unknown) => damaged(parts, spec.id, error));
          })
          .catch((error: unknown) => unrecovered(parts, spec.id, error)),
      );
  await disk.orStopped(finishEnded(parts, active));
  records.fill([...specs.values()].filter((spec) => !active.has(spec)));
  if (specs.size > 0) logger.info({ jobs: specs.size, active: active.size }, 'recovered');
}

/**
 * The files of a job are damaged: it ends with an error that names them.
 * @throws Error for a trouble that may pass (no space, no permission): then the server does not start, and no job ends
 */
function unrecovered(parts: RecoveryParts, job: JobId, error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && PASSING.has(code)) throw new Error(`cannot open job ${job}: ${message}`);
  damaged(parts, job, error);
}

function damaged({ service, logger }: RecoveryParts, job: JobId, error: unknown): void {
  const { message } = error as Error;
  logger.error({ err: error, job }, 'job cannot be recovered');
  const named = error instanceof MayflyError && error.code !== 'INTERNAL' ? error.code : 'DAMAGED_DATA';
  service.failed(job, { code: named, message: `The job could not resume after the server restarted: ${message}` });
}

/**
 * R2: the logs of jobs that have ended (their output once more, should a power loss have eaten it). Those of unknown
 * jobs stay.
 */
async function finishEnded(parts: RecoveryParts, active: ReadonlySet<JobSpec>): Promise<void> {
  const { log, specs } = parts;
  const left = new Set((await log.list('')).map((name) => jobId(name.split('/')[0]!)));
  for (const job of left) {
    const spec = specs.get(job);
    if (!spec || active.has(spec)) continue;
    await parts.close(job);
  }
}
