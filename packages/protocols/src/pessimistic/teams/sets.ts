/**
 * Sets of images of a team, at the Checkpoint Server.
 *
 * Owns: the sets of one team, which of their images are covered. Does not own: the images, their retention, the logs.
 *
 *  T6  "The Checkpoint Server declares the *set* complete, in one commit, when every member's line is covered (remote
 *      channels only); only complete sets count for trimming, and a damaged image spoils its set."
 *  T12 A member that is done is in the set like any other. "Its log and images go with the first complete set in which
 *      it is done, or with the team."
 */
import type { TaskId } from '@mayfly/wire';

/** What a set needs to know of an image. */
export interface SetImage {
  /** The task had exited. */
  readonly done: boolean;
}

export interface ImageSet<Image extends SetImage> {
  readonly wave: number;
  readonly images: ReadonlyMap<TaskId, Image>;
}

interface Candidate<Image> {
  readonly images: Map<TaskId, Image>;
  readonly covered: Set<TaskId>;
}

export class TeamSets<Image extends SetImage> {
  /** Complete, the newest last. */
  #complete: ImageSet<Image>[];
  readonly #candidates = new Map<number, Candidate<Image>>();

  /** @param first the set with which the team was formed (T9) */
  constructor(
    readonly members: readonly TaskId[],
    private readonly keep: number,
    first?: ImageSet<Image>,
  ) {
    this.#complete = first ? [first] : [];
  }

  /** From which the team restarts; undefined: from the start of the program. */
  get newest(): ImageSet<Image> | undefined {
    return this.#complete.at(-1);
  }

  /** The logs are trimmed to this one, and it may be needed: the oldest that is kept. */
  get oldest(): ImageSet<Image> | undefined {
    return this.#complete[0];
  }

  /** A member's image of a wave is stored. One that is behind the newest set means nothing. */
  stored(wave: number, task: TaskId, image: Image): void {
    if (wave <= (this.newest?.wave ?? 0)) return;
    let c = this.#candidates.get(wave);
    if (!c) this.#candidates.set(wave, (c = { images: new Map(), covered: new Set() }));
    c.images.set(task, image);
  }

  /** Images that wait to be covered. */
  *waiting(): Iterable<{ wave: number; task: TaskId; image: Image }> {
    for (const [wave, c] of this.#candidates)
      for (const [task, image] of c.images) if (!c.covered.has(task)) yield { wave, task, image };
  }

  /** Everything that an image depends on is durable. Returns the set if it is complete now. */
  covered(wave: number, task: TaskId): ImageSet<Image> | undefined {
    const c = this.#candidates.get(wave);
    c?.covered.add(task);
    if (!c || !this.isComplete(c)) return undefined;
    const set = { wave, images: c.images };
    this.#complete = [...this.#complete, set].slice(-this.keep);
    for (const w of [...this.#candidates.keys()]) if (w <= wave) this.#candidates.delete(w);
    return set;
  }

  /** The wave was dropped, or the team is lost: what is not complete will never be. */
  drop(wave = Infinity): void {
    for (const w of [...this.#candidates.keys()]) if (w <= wave) this.#candidates.delete(w);
  }

  /** An image is damaged: its set is spoilt, and a restart takes the one before. True: none is left. */
  damaged(wave: number): boolean {
    this.#candidates.delete(wave);
    this.#complete = this.#complete.filter((s) => s.wave !== wave);
    return this.#complete.length === 0;
  }

  /** T12: their logs and images may go. */
  over(): TaskId[] {
    return [...(this.oldest?.images ?? [])].flatMap(([task, image]) => (image.done ? [task] : []));
  }

  protected isComplete(c: Candidate<Image>): boolean {
    return this.members.every((m) => c.covered.has(m));
  }
}
