/** Images in the dispatcher's model: those of a team have one serial number. Some cannot be read, and are skipped. */
import type { ImageId, JobId, TaskId } from '@mayfly/wire';
import { expect } from 'vitest';
import type { Dissolved, KnownImage } from '../../src/index.ts';
import type { Worker } from './model-volunteer.ts';

export class Images {
  #serial = 0;
  #isDamaged = false;
  /** By job and task: the newest one, and the newest that can be read. */
  readonly #newest = new Map<string, KnownImage>();
  readonly #sound = new Map<string, ImageId>();

  /** A set begins. @returns its serial number */
  begins(isDamaged: boolean): number {
    this.#isDamaged = isDamaged;
    return ++this.#serial;
  }

  /** The image of this rank is complete. */
  complete({ job, task, incarnation }: Worker): ImageId {
    const image = `${job}-${task}-${incarnation}-${this.#serial}` as ImageId;
    this.#newest.set(`${job}/${task}`, { job, task, image, serial: this.#serial });
    if (!this.#isDamaged) this.#sound.set(`${job}/${task}`, image);
    return image;
  }

  /** What the Checkpoint Server knows when the server starts again. */
  known(): KnownImage[] {
    return [...this.#newest.values()];
  }

  /** What the Checkpoint Server chooses. */
  chosen(job: JobId, task: TaskId): { image?: ImageId } {
    const image = this.#sound.get(`${job}/${task}`);
    return image === undefined ? {} : { image };
  }

  /** D28, D30, of a commit: a damaged set may come back, and would count as one of the new team. */
  judge(job: JobId, { from, groups = [] }: Dissolved): void {
    for (const { task, image } of from)
      if (groups.some((g) => g.includes(task)))
        expect(image, 'D28, D30: a new team begins with the newest images').toBe(
          this.#newest.get(`${job}/${task}`)?.image,
        );
  }
}
