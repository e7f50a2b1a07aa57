/**
 * Who is compiled next: fair among owners, whatever one of them submits. Pure but for the callers' clocks.
 *
 * Owns: the order of what waits, and who has how many workers. Does not own: the workers (compiler.ts).
 * Invariants:
 *   F1  A free worker goes to the owner who has the fewest workers, among these to the one who was served longest ago;
 *       an owner's own requests keep their order.
 *   F2  An owner has at most `perOwner` requests waiting, all owners together `most`.
 *   F3  An owner who has all workers (two at least) while another one waits gives the youngest of them up: `usurper`.
 *       What it did comes first in its owner's queue again.
 */
export interface Waiting {
  readonly owner: string;
}

export class FairQueue<T extends Waiting> {
  readonly #perOwner: number;
  readonly #most: number;
  /** By owner; the one who was served longest ago first. Owners with nothing waiting are not in it. */
  readonly #waiting = new Map<string, T[]>();
  /** What has a worker, the youngest last. */
  readonly #running: T[] = [];
  #size = 0;
  /** When each owner was served last: a count. */
  readonly #served = new Map<string, number>();
  #turn = 0;

  constructor(limits: { readonly perOwner: number; readonly most: number }) {
    this.#perOwner = limits.perOwner;
    this.#most = limits.most;
  }

  get size(): number {
    return this.#size;
  }
  get running(): readonly T[] {
    return this.#running;
  }

  /** Why it cannot wait here (F2); undefined: it waits now. */
  add(job: T): { readonly mine: boolean; readonly limit: number } | undefined {
    const own = this.#waiting.get(job.owner) ?? [];
    if (own.length >= this.#perOwner) return { mine: true, limit: this.#perOwner };
    if (this.#size >= this.#most) return { mine: false, limit: this.#most };
    own.push(job);
    this.#waiting.set(job.owner, own);
    this.#size++;
    return undefined;
  }

  /** F1. The caller has a worker for it. */
  take(): T | undefined {
    const owner = this.#next();
    if (owner === undefined) return undefined;
    const own = this.#waiting.get(owner)!;
    const job = own.shift()!;
    if (own.length === 0) this.#waiting.delete(owner);
    this.#size--;
    this.#running.push(job);
    this.#served.set(owner, ++this.#turn);
    return job;
  }

  #next(): string | undefined {
    let best: string | undefined;
    for (const owner of this.#waiting.keys()) if (best === undefined || this.#before(owner, best)) best = owner;
    return best;
  }

  #before(a: string, b: string): boolean {
    const [x, y] = [this.#has(a), this.#has(b)];
    return x !== y ? x < y : (this.#served.get(a) ?? 0) < (this.#served.get(b) ?? 0);
  }

  #has(owner: string): number {
    return this.#running.filter((j) => j.owner === owner).length;
  }

  /** F3: what has to make room. `workers`: how many there are at most. */
  usurper(workers: number): T | undefined {
    if (workers < 2 || this.#running.length < workers) return undefined;
    const { owner } = this.#running[0]!;
    if (!this.#running.every((j) => j.owner === owner) || ![...this.#waiting.keys()].some((o) => o !== owner))
      return undefined;
    return this.#running.at(-1);
  }

  /** It lost its worker and begins again as soon as its owner has one (F3). */
  putBack(job: T): void {
    if (!this.#end(job)) return;
    const own = this.#waiting.get(job.owner) ?? [];
    own.unshift(job);
    this.#waiting.set(job.owner, own);
    this.#size++;
  }

  /** It is over, or nobody waits for it any more. */
  remove(job: T): void {
    if (this.#end(job)) return;
    const own = this.#waiting.get(job.owner);
    const at = own?.indexOf(job) ?? -1;
    if (at < 0) return;
    own!.splice(at, 1);
    if (own!.length === 0) this.#waiting.delete(job.owner);
    this.#size--;
  }

  #end(job: T): boolean {
    const at = this.#running.indexOf(job);
    if (at < 0) return false;
    this.#running.splice(at, 1);
    // Who has nothing here is forgotten: as good as never served.
    for (const owner of this.#served.keys())
      if (this.#has(owner) === 0 && !this.#waiting.has(owner)) this.#served.delete(owner);
    return true;
  }

  /** Everything, running and waiting; it is empty then. */
  clear(): T[] {
    const all = [...this.#running, ...[...this.#waiting.values()].flat()];
    this.#running.length = 0;
    this.#waiting.clear();
    this.#served.clear();
    this.#size = 0;
    return all;
  }
}
