/**
 * What the Channel Memories answered to a (re)start, put together: Figure 4's
 * "For each Channel Memory C, send Restart to C, receive nbmessage", with a limit per channel and determinants from everywhere.
 */
import type { Attached, Determinant, DeterminantBlock, Incarnation, ReplayFrom, TaskId } from '@mayfly/wire';
import type { EndpointStart } from '../endpoint.ts';

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
    const consumed = Math.max(this.#consumed, image.arrivals);
    if (consumed > this.#arrivals) return { lost: `arrivals ${this.#arrivals + 1} to ${consumed}, whose effects are known elsewhere` };
    for (const [dst, n] of image.sends)
      if ((this.#limits.get(dst) ?? 0) < n) return { lost: `messages to task ${dst} before the image: ${n} were sent, ${this.#limits.get(dst) ?? 0} are logged` };
    const take = (from: number, to: number): Determinant[] | number => {
      const out: Determinant[] = [];
      for (let i = from; i < to; i++) {
        const e = this.#entries.get(i);
        if (e === undefined) return i;
        out.push(e);
      }
      return out;
    };
    const before = take(0, prologue.determinants);
    const after = take(image.determinants, Math.max(this.#end, image.determinants));
    if (typeof before === 'number' || typeof after === 'number')
      return { lost: `determinant ${typeof before === 'number' ? before : String(after)}, whose effects are known elsewhere` };
    return {
      incarnation,
      limits: [...this.#limits],
      prologue: before,
      determinants: after,
      openPolls: this.#end >= image.determinants ? this.#openPolls : 0,
      consumed,
    };
  }
}
