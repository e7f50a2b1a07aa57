/**
 * What the scheduler of a model and its Channel Memories say to each other. At another server a Channel Memory hears
 * later, and is heard later; each direction keeps its order.
 */
export class Words {
  readonly #to = new Map<number, (() => void)[]>();
  readonly #from = new Map<number, (() => void)[]>();

  /** @param elsewhere Channel Memories at other servers */
  constructor(private readonly elsewhere: ReadonlySet<number>) {}

  to(cm: number, word: () => void): void {
    this.#put(this.#to, cm, word);
  }

  from(cm: number, word: () => void): void {
    this.#put(this.#from, cm, word);
  }

  #put(queues: Map<number, (() => void)[]>, cm: number, word: () => void): void {
    if (!this.elsewhere.has(cm)) return word();
    const queue = queues.get(cm) ?? [];
    queues.set(cm, queue);
    queue.push(word);
  }

  /** The first word of each queue that has one. */
  next(): (() => void)[] {
    const queues = [...this.#to.values(), ...this.#from.values()].filter((q) => q.length > 0);
    return queues.map((q) => () => q.shift()!());
  }

  /** The server's process is gone. */
  clear(): void {
    this.#to.clear();
    this.#from.clear();
  }
}
