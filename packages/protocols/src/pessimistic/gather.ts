/**
 * What the Channel Memories answered to a (re)start, put together: Figure 4's
 * "For each Channel Memory C, send Restart to C, receive nbmessage", with a limit per channel and determinants from
 * everywhere.
 */
import type { Attached, Determinant, DeterminantBlock, Incarnation, TaskId } from '@mayfly/wire';
import type { EndpointStart } from '../endpoint.ts';
import { lostFor } from './lost-log.ts';
import type { ReplayFrom } from './position.ts';

export class Gather {
  readonly #limits = new Map<TaskId, number>();
  readonly #entries = new Map<number, Determinant>();
  #end = 0;
  #openPolls = 0;
  #consumed = 0;
  #arrivals = 0;

  block(b: DeterminantBlock): void {
    b.entries.forEach((e, i) => this.#entries.set(b.first + i, e));
    const end = b.first + b.entries.length;
    if (end > this.#end) {
      this.#end = end;
      this.#openPolls = b.openPolls;
    } else if (end === this.#end) this.#openPolls = Math.max(this.#openPolls, b.openPolls);
    this.#consumed = Math.max(this.#consumed, b.consumed);
  }

  attached(a: Attached): void {
    for (const [dst, count] of a.received) this.#limits.set(dst, Math.max(count, this.#limits.get(dst) ?? 0));
    this.#arrivals = Math.max(this.#arrivals, a.arrivals);
  }

  /** The start, or what the logs lack for it (power loss beyond `behind`). */
  start(incarnation: Incarnation, replay: ReplayFrom): EndpointStart | { readonly lost: string } {
    const { prologue, image } = replay;
    const lost = lostFor(replay, {
      arrivals: this.#arrivals,
      consumed: this.#consumed,
      determinants: this.#end,
      limit: (dst) => this.#limits.get(dst) ?? 0,
      lacks: (from, to) => {
        for (let i = from; i < to; i++) if (!this.#entries.has(i)) return i;
        return undefined;
      },
    });
    if (lost !== undefined) return { lost };
    const take = (from: number, to: number): Determinant[] => {
      const out: Determinant[] = [];
      for (let i = from; i < to; i++) out.push(this.#entries.get(i)!);
      return out;
    };
    return {
      incarnation,
      limits: [...this.#limits],
      prologue: take(0, prologue.determinants),
      determinants: take(image.determinants, Math.max(this.#end, image.determinants)),
      openPolls: this.#end >= image.determinants ? this.#openPolls : 0,
      consumed: Math.max(this.#consumed, image.arrivals),
    };
  }
}
