/**
 * Team images in the comm worker: it "requests one wave at a time" (T6).
 *
 * Owns: the wave under way, which members have their image, which channels are closed. Does not own: images, their
 * storage (images/team-sets.ts).
 *
 *  T6  The images of a wave are offered together, when every member has one and its channel state is whole. "If it
 *      cannot (in a callback), it declines; the wave is dropped."
 *  T9  "When no rank of the teams concerned replays": no wave begins while a member does. Its position may lie in the
 *      middle of a recorded run (E8).
 */
import type { TaskId } from '@mayfly/wire';

/** A member's image, as far as its teammates' depend on it. */
export interface Imaged {
  /** Teammates to whom it had a ring. */
  readonly rings: ReadonlySet<TaskId>;
}

export class TeamWave {
  #wave: number;
  #imaged = new Map<TaskId, Imaged>();
  #closed = new Set<TaskId>();
  #underWay = false;

  constructor(
    readonly members: readonly TaskId[],
    wave: number,
  ) {
    this.#wave = wave;
  }

  /** The last wave that was requested. */
  get wave(): number {
    return this.#wave;
  }

  get underWay(): boolean {
    return this.#underWay;
  }

  /** Undefined: one is under way, or a member replays. Else the number of the wave that begins. */
  begin(replaying: boolean): number | undefined {
    if (this.#underWay || !this.mayBegin(replaying)) return undefined;
    this.#underWay = true;
    this.#imaged.clear();
    this.#closed.clear();
    return ++this.#wave;
  }

  /**
   * A member has its image. Returns the members whose channel from it is empty: it had no ring to them. An image of a
   * wave that was dropped means nothing: its marker may be met long after.
   */
  imaged(task: TaskId, wave: number, image: Imaged): TaskId[] {
    if (!this.belongs(wave)) return [];
    this.#imaged.set(task, image);
    return this.members.filter((dst) => !image.rings.has(dst));
  }

  /** The members that had no ring to `task` at their images: its channels from them are empty. */
  withoutRing(task: TaskId, wave: number): TaskId[] {
    if (!this.belongs(wave)) return [];
    return [...this.#imaged].flatMap(([src, { rings }]) => (rings.has(task) ? [] : [src]));
  }

  /** The channel state of a member's image is whole. True: the images of all are. */
  closed(task: TaskId, wave: number): boolean {
    if (!this.belongs(wave)) return false;
    this.#closed.add(task);
    return this.members.every((m) => this.#imaged.has(m) && this.#closed.has(m));
  }

  /** Its set is complete, or a member has declined: the next wave may begin. */
  over(wave: number): void {
    if (this.belongs(wave)) this.#underWay = false;
  }

  protected belongs(wave: number): boolean {
    return this.#underWay && wave === this.#wave;
  }

  protected mayBegin(replaying: boolean): boolean {
    return !replaying;
  }
}
