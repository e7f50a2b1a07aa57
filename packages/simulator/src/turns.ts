/** Gives the ranks of a simulated node turns, each after a little time, until they wait. */
import type { TaskId } from '@mayfly/wire';
import type { Agenda } from './agenda.ts';
import type { Held } from './held-rank.ts';
import { FLUSH_DETERMINANTS } from './rank.ts';
import type { Random } from './random.ts';

/** A node whose ranks have turns. */
export interface TurnsNode {
  readonly name: string;
  readonly alive: boolean;
  readonly frozen: boolean;
  readonly random: Random;
  readonly held: ReadonlyMap<TaskId, Held>;
  readonly world: {
    readonly agenda: Agenda;
    readonly setup: { readonly turnMs: number };
    readonly trace?: ((line: string) => void) | undefined;
    readonly checkers: { bound(what: string, value: number, limit: number): void };
  };
  /** The rank has consumed arrivals, or has more to do. */
  consumed(h: Held, arrivals: number, envelopeOnly: boolean): void;
}

export class Turns {
  private readonly scheduled = new Set<Held>();

  constructor(private readonly node: TurnsNode) {}

  /** Its turn is still to come. */
  has(h: Held): boolean {
    return this.scheduled.has(h);
  }

  wake(h: Held): void {
    if (this.scheduled.has(h) || h.finished) return;
    this.scheduled.add(h);
    const { node } = this;
    const turn = (): void => {
      this.scheduled.delete(h);
      if (!node.alive || node.frozen || node.held.get(h.task) !== h || !h.rank) return;
      const before = h.rank.endpoint.consumed;
      const more = h.rank.turn();
      node.world.checkers.bound(`determinants pending in task ${h.task}`, h.rank.endpoint.pending, FLUSH_DETERMINANTS);
      if (node.held.get(h.task) !== h) return;
      const { consumed } = h.rank.endpoint;
      if (consumed !== before)
        node.world.trace?.(`${node.name} task ${h.task}.${h.incarnation} has consumed ${consumed}`);
      if (consumed !== before || more) node.consumed(h, consumed, h.rank.envelopeOnly);
      if (more) this.wake(h);
    };
    // a deaf node computes on
    node.world.agenda.after(node.random.next() * node.world.setup.turnMs, turn);
  }
}
