/**
 * A submission that is sent again with the same `Idempotency-Key` is the job that it made the first time: a client
 * whose connection broke can send it again.
 *
 * Owns: submissions with a key that are being taken now. Does not own: the keys of jobs. Each stands in the record of
 * its job, survives a restart of the server with it, and goes with it.
 *  K1 Of one owner, a key is that of one job for DAY_MS. With another body it is an error.
 *  K2 What arrives while the first one is being taken waits for it; if that is refused, it is taken itself.
 */
import { createHash } from 'node:crypto';
import type { JobSpec } from '@mayfly/protocols';
import { MayflyError, type JobId } from '@mayfly/wire';

const DAY_MS = 86_400_000;

export type Once = NonNullable<JobSpec['once']>;
interface Created {
  id: JobId;
  warnings: unknown[];
}

export class SubmitOnce {
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(
    private readonly jobs: () => Iterable<Pick<JobSpec, 'id' | 'owner' | 'submittedAt' | 'once'>>,
    private readonly now: () => number,
  ) {}

  /** `make` takes the submission. @throws MayflyError KEY_REUSED, and what `make` throws */
  async job(owner: string, key: string, body: unknown, make: (once: Once) => Promise<Created>): Promise<Created> {
    const once: Once = { key, body: createHash('sha256').update(JSON.stringify(body)).digest('hex') };
    const name = `${owner}\n${key}`;
    for (let other = this.#underWay.get(name); other; other = this.#underWay.get(name))
      await other.catch(() => undefined);
    const known = this.#find(owner, key);
    if (known) {
      if (known.once!.body === once.body) return { id: known.id, warnings: [] };
      throw new MayflyError('KEY_REUSED', `Job ${known.id} was submitted with this Idempotency-Key and another body.`);
    }
    const made = make(once);
    this.#underWay.set(name, made);
    try {
      return await made;
    } finally {
      this.#underWay.delete(name);
    }
  }

  #find(owner: string, key: string): Pick<JobSpec, 'id' | 'once'> | undefined {
    for (const job of this.jobs())
      if (job.once?.key === key && job.owner === owner && this.now() - job.submittedAt < DAY_MS) return job;
    return undefined;
  }
}
