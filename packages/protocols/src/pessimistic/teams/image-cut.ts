/**
 * One rank's part in the images of its team: Chandy and Lamport's algorithm inside a tab. "Marker-sending rule for a
 * process p: for each channel c incident on, and directed away from p, p sends one marker along c after p records its
 * state and before p sends further messages along c."
 *
 * Owns: what has been moved out of the rings and is not consumed (the unexpected queue), with the markers in their
 * places; the number of the rank's last wave; the channel state of its image. Does not own: the rings, the rank's
 * state, when a wave begins (team-wave.ts).
 *
 *  T6  "A team image is a consistent cut." A rank that meets a marker takes its image before it consumes anything
 *      behind it. What lies before s's marker and the rank has not consumed at its image is channel state of that
 *      image. A ring created later begins with its writer's last marker. A rank that cannot take its image declines,
 *      and goes on.
 *
 * A ring that does not exist at its writer's image has no marker: the writer's image shows that ({@link rings}), and
 * {@link noRing} closes the channel.
 */
import type { TaskId } from '@mayfly/wire';

/** What lies in a ring: a message, or the marker of a wave between two messages. */
export type InRing<Message> = { readonly message: Message } | { readonly marker: number };

/** First in, first out; what was taken goes now and then. */
class Queue<T> {
  #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): void {
    if (++this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head === MOST_TAKEN) {
      this.#items = this.#items.slice(MOST_TAKEN);
      this.#head = 0;
    }
  }

  all(): readonly T[] {
    return this.#items.slice(this.#head);
  }
}
const MOST_TAKEN = 4096;

export class ImageCut<Message> {
  readonly #staged = new Map<TaskId, Queue<InRing<Message>>>();
  /** Messages and markers that are staged. */
  #size = 0;
  #markers = 0;
  readonly #rings = new Set<TaskId>();
  #wave: number;
  /** Channels whose marker has not come. */
  #open = new Set<TaskId>();
  #state = new Map<TaskId, Message[]>();

  /** @param mates every member of the team, this rank too */
  constructor(
    protected readonly mates: readonly TaskId[],
    wave: number,
  ) {
    this.#wave = wave;
  }

  /** The last wave in which this rank has taken its image, or declined. */
  get wave(): number {
    return this.#wave;
  }

  /** Teammates to whom this rank has a ring. */
  get rings(): ReadonlySet<TaskId> {
    return this.#rings;
  }

  // ---- as a reader ----

  /** The next of `src`'s ring: moved out of it and not consumed. */
  stage(src: TaskId, next: InRing<Message>): void {
    this.#queue(src).push(next);
    this.#size++;
    if ('marker' in next) this.#markers++;
    if (this.#open.has(src)) this.record(src, [next]);
  }

  /** Something of `src` was moved out of its ring and lies here. */
  lies(src: TaskId): boolean {
    return this.#size > 0 && this.#pass(src).first !== undefined;
  }

  /** What comes of `src` belongs to the image: it has to be staged. */
  records(src: TaskId): boolean {
    return this.#open.has(src);
  }

  /** The next message of `src`; undefined: none is here, or an image comes first. */
  head(src: TaskId): Message | undefined {
    const next = this.#pass(src).first;
    return next && 'message' in next ? next.message : undefined;
  }

  /** `src`'s next message is consumed. */
  take(src: TaskId): void {
    this.#pass(src).shift();
    this.#size--;
  }

  /** T6: the wave whose image must be taken before anything else of some ring is consumed; 0: none. */
  get met(): number {
    if (this.#markers === 0) return 0;
    let wave = 0;
    for (const src of this.mates) {
      const next = this.#pass(src).first;
      if (next && 'marker' in next) wave = Math.max(wave, next.marker);
    }
    return wave;
  }

  /** What stands behind a marker of this sender waits for the image, and a message of it lies here. */
  heldBack(src: TaskId): boolean {
    const q = this.#pass(src);
    return q.first !== undefined && 'marker' in q.first && q.all().some((next) => 'message' in next);
  }

  /** Of this sender a marker is next. */
  meets(src: TaskId): boolean {
    const next = this.#markers === 0 ? undefined : this.#pass(src).first;
    return next !== undefined && 'marker' in next;
  }

  // ---- a wave ----

  /**
   * The rank takes its image of `wave` now, or declines. Returns the rings into which the marker goes before the next
   * message.
   */
  cut(wave: number): TaskId[] {
    this.#wave = wave;
    this.#open = new Set(this.mates);
    this.#state = new Map(this.mates.map((src) => [src, []]));
    for (const src of this.mates) this.record(src, this.#queue(src).all());
    return this.marked();
  }

  /** It cannot take its image: the wave is dropped, and so is what this rank has of it. */
  decline(wave: number): void {
    this.#wave = wave;
    this.#open = new Set();
    this.#state = new Map(); // the one before may be part of a set
  }

  /** At its image `src` had no ring to this rank. */
  noRing(src: TaskId): void {
    this.#open.delete(src);
  }

  /** Everything that belongs to the image is here. */
  get closed(): boolean {
    return this.#open.size === 0;
  }

  /** The channel state of the image. */
  get state(): ReadonlyMap<TaskId, readonly Message[]> {
    return this.#state;
  }

  // ---- as a writer ----

  /** Before a message to `dst`: the marker with which a new ring begins; 0: none. */
  writes(dst: TaskId): number {
    if (this.#rings.has(dst)) return 0;
    this.#rings.add(dst);
    return this.begins();
  }

  // ---- a restart ----

  /** "A restart puts it back into the rings." */
  restore(state: ReadonlyMap<TaskId, readonly Message[]>): void {
    for (const [src, messages] of state) for (const message of messages) this.stage(src, { message });
  }

  // ---- rules ----

  protected marked(): TaskId[] {
    return [...this.#rings];
  }

  protected begins(): number {
    return this.#wave;
  }

  /** The messages that stand before `src`'s marker are channel state. */
  protected record(src: TaskId, items: readonly InRing<Message>[]): void {
    for (const item of items) {
      if ('message' in item) this.#state.get(src)!.push(item.message);
      else if (item.marker >= this.#wave) {
        this.#open.delete(src);
        return;
      }
    }
  }

  // ---- within ----

  #queue(src: TaskId): Queue<InRing<Message>> {
    let q = this.#staged.get(src);
    if (!q) this.#staged.set(src, (q = new Queue()));
    return q;
  }

  /** Markers of waves that this rank has been through are passed. */
  #pass(src: TaskId): Queue<InRing<Message>> {
    const q = this.#queue(src);
    for (let next = q.first; next && 'marker' in next && next.marker <= this.#wave; next = q.first) {
      q.shift();
      this.#size--;
      this.#markers--;
    }
    return q;
  }
}
