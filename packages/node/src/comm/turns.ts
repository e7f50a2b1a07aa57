/**
 * Whose turn it is: ranks whose rings have more than one portion are served in turn, after sockets; those that are not
 * drained for now (a slow link, a full retention) are looked at again soon.
 */
import type { Rank } from './rank.ts';
import type { CommSeams } from './seams.ts';

const BLOCKED_RETRY_MS = 4;

export class Turns {
  private readonly active = new Set<Rank>();
  private turnAsked = false;
  private readonly stalled = new Set<Rank>();
  private retryAsked = false;

  constructor(
    private readonly seams: CommSeams,
    /** Does nothing for a rank that is no longer here. */
    private readonly serve: (rank: Rank) => void,
  ) {}

  /** It is served now, or gone. */
  served(rank: Rank): void {
    this.active.delete(rank);
  }

  isNext(rank: Rank): boolean {
    return this.active.has(rank);
  }

  isStalled(rank: Rank): boolean {
    return this.stalled.has(rank);
  }

  again(rank: Rank): void {
    this.active.add(rank);
    if (this.turnAsked) return;
    this.turnAsked = true;
    this.seams.soon(() => {
      this.turnAsked = false;
      for (const r of [...this.active]) this.serve(r);
    });
  }

  /** Neither sockets nor acknowledgements say when there is room again in every engine: look. */
  retryLater(rank: Rank): void {
    this.stalled.add(rank);
    if (this.retryAsked) return;
    this.retryAsked = true;
    this.seams.after(BLOCKED_RETRY_MS, () => {
      this.retryAsked = false;
      const all = [...this.stalled];
      this.stalled.clear();
      for (const r of all) this.serve(r);
    });
  }
}
