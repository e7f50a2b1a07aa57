/**
 * Sets of images of a team, at the Checkpoint Server.
 *
 * Owns: the complete sets of one team, and of the waves that are not complete, which images are covered. Does not own:
 * the images, their retention, the logs.
 *
 *  T6  "The Checkpoint Server declares the *set* complete, in one commit, when every member's line is covered (remote
 *      channels only); only complete sets count for trimming, and a damaged image spoils its set."
 *  T12 A member that had ended when the wave began has no image in its set. It is done there, once its EXIT is durable.
 *  C19 A set of level 1 (near-teams.ts) is whole (T6), and all its images are of level 1: of a mixed one nothing would
 *      keep the pages that came here. It is used while no newer set is complete.
 */
import type { TaskId } from '@mayfly/wire';

export interface ImageSet<Image> {
  readonly wave: number;
  readonly images: ReadonlyMap<TaskId, Image>;
  /** T12. */
  readonly done: readonly TaskId[];
}

interface Candidate<Image> extends ImageSet<Image> {
  readonly images: Map<TaskId, Image>;
  readonly covered: Set<TaskId>;
}

export class TeamSets<Image> {
  #complete: ImageSet<Image>[] = [];
  #near: ImageSet<Image> | undefined;
  readonly #candidates = new Map<number, Candidate<Image>>();

  constructor(
    readonly members: readonly TaskId[],
    /** Complete sets that are kept. */
    private readonly keep: number,
  ) {}

  /** Complete, the newest last. */
  get all(): readonly ImageSet<Image>[] {
    return this.#complete;
  }

  /** From which the team restarts; undefined: from the start of the program. */
  get newest(): ImageSet<Image> | undefined {
    return this.#complete.at(-1);
  }

  /** C19. Newer than all that are complete; undefined: none is. */
  get near(): ImageSet<Image> | undefined {
    return this.#near && this.isNewer(this.#near) ? this.#near : undefined;
  }

  /** The set of a wave is of level 1 from now on; undefined: there is none. */
  set near(set: ImageSet<Image> | undefined) {
    this.#near = set;
  }

  /** C19. What a set is whose images are of these levels; undefined: none. */
  levelOf(near: readonly boolean[]): 'near' | 'complete' | undefined {
    if (!near.includes(true)) return 'complete';
    return near.includes(false) ? undefined : 'near';
  }

  /** The logs are trimmed to this one, and it may be needed: the oldest that is kept. */
  get oldest(): ImageSet<Image> | undefined {
    return this.#complete[0];
  }

  /** Sets that one more makes superfluous. */
  get surplus(): readonly ImageSet<Image>[] {
    return this.#complete.slice(0, Math.max(0, this.#complete.length + 1 - this.keep));
  }

  /** A member's image of a wave is stored. One that is behind the newest set means nothing. */
  stored(wave: number, task: TaskId, image: Image, done: readonly TaskId[] = []): void {
    if (wave <= (this.#complete.at(-1)?.wave ?? 0)) return;
    let c = this.#candidates.get(wave);
    if (!c) this.#candidates.set(wave, (c = { wave, images: new Map(), covered: new Set(), done }));
    c.images.set(task, image);
  }

  /** Images that wait to be covered. */
  *waiting(): Iterable<{ wave: number; task: TaskId; image: Image }> {
    for (const [wave, c] of this.#candidates)
      for (const [task, image] of c.images) if (!c.covered.has(task)) yield { wave, task, image };
  }

  /** Everything that an image depends on is durable. */
  covered(wave: number, task: TaskId): void {
    this.#candidates.get(wave)?.covered.add(task);
  }

  /**
   * The set of this wave, if it is whole. It is to be committed, and then {@link add}ed; the waves before it will never
   * be complete. `exited`: members whose EXIT is durable.
   */
  take(wave: number, exited: ReadonlySet<TaskId> = NOBODY): ImageSet<Image> | undefined {
    const c = this.#candidates.get(wave);
    if (!c || !this.isWhole(c.covered, c.done) || !c.done.every((t) => exited.has(t))) return undefined;
    this.drop(wave);
    return { wave, images: c.images, done: c.done };
  }

  /** The set is durable, all of it. */
  add(set: ImageSet<Image>): void {
    this.#complete = [...this.#complete, set].slice(-this.keep);
  }

  /** What the registry has of a wave is added, if it is a set. @returns whether it is */
  recover(set: ImageSet<Image>): boolean {
    const whole = this.isWhole(new Set(set.images.keys()), set.done);
    if (whole) this.add(set);
    return whole;
  }

  /** The wave was dropped, or the team is lost: what is not complete will never be. */
  drop(wave = Infinity): void {
    for (const w of [...this.#candidates.keys()]) if (w <= wave) this.#candidates.delete(w);
  }

  /** An image of a member is damaged: its set is spoilt, and a restart takes the one before. True: none is left. */
  damaged(wave: number, _task?: TaskId): boolean {
    this.#candidates.delete(wave);
    this.#complete = this.#complete.filter((s) => s.wave !== wave);
    return this.#complete.length === 0;
  }

  protected isNewer({ wave }: ImageSet<Image>): boolean {
    return wave > (this.newest?.wave ?? 0);
  }

  protected isWhole(images: ReadonlySet<TaskId>, done: readonly TaskId[]): boolean {
    return this.members.every((m) => images.has(m) || done.includes(m));
  }
}

const NOBODY: ReadonlySet<TaskId> = new Set();
