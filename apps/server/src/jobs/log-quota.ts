/**
 * How much the message logs of one job may hold: what its ranks have not consumed, and what a restart would need again,
 * among it all that was read from files. An image of a rank trims its log to the image before it, so ranks are asked
 * for images when the logs have grown to a half of the limit, and again with each eighth more; beyond the limit the job
 * ends. Owns nothing of a log: it only gets lengths.
 *
 *  Q1  A job whose ranks take images when they are asked ends only when what stands in its logs behind two of them is
 *      more than the limit.
 *  Q2  A job whose logs do not grow is asked for nothing.
 */
import { MayflyError, type JobId } from '@mayfly/wire';

export class LogQuota {
  /** Length at which each job was asked for images last. */
  readonly #asked = new Map<JobId, number>();
  constructor(readonly limit: number) {}

  /** What is to be done about a job whose logs have that length. */
  observe(job: JobId, bytes: number): 'nothing' | 'ask' | 'end' {
    if (bytes > this.limit) return 'end';
    const last = this.#asked.get(job) ?? 0;
    if (bytes < this.limit / 2) {
      this.#asked.delete(job);
      return 'nothing';
    }
    // Trimmed since then: the count starts again.
    const from = Math.min(last, bytes);
    if (last === 0 || bytes - from >= this.limit / 8) {
      this.#asked.set(job, bytes);
      return 'ask';
    }
    this.#asked.set(job, from);
    return 'nothing';
  }

  /** Of a job whose logs have that length: why nothing may be added that it reads from files; undefined: it may. */
  refusal(bytes: number): MayflyError | undefined {
    if (bytes <= this.limit) return undefined;
    const message =
      `The logs of the job hold ${bytes} bytes of messages and file reads, more than the limit of ` +
      `${this.limit} bytes.`;
    return new MayflyError('LOG_LIMIT', message);
  }

  forget(job: JobId): void {
    this.#asked.delete(job);
  }
}
