/**
 * Flow control of the tasks of a comm core: credit for what they have consumed, and bodies that they pull.
 *
 *  M7  Less than a quarter of the window is consumed and not yet credited.
 */
import { Flag, Kind, encodeFrame, type Header } from '@mayfly/wire';
import type { CommEffect } from './events.ts';
import type { CommTask, Pull } from './task.ts';

export class Flow {
  readonly #window: number;
  readonly #pullBytes: number;
  readonly #emit: (e: CommEffect) => void;

  /** @param window bytes that may be under way to one task @param chunkBytes body part of one frame */
  constructor(window: number, chunkBytes: number, emit: (e: CommEffect) => void) {
    this.#window = window;
    this.#pullBytes = Math.max(1, Math.floor(window / 4 / chunkBytes)) * chunkBytes;
    this.#emit = emit;
  }

  /** @param t undefined: it is no longer here */
  consumed(t: CommTask | undefined, arrivals: number, envelopeOnly: boolean): void {
    if (t === undefined) return;
    t.consumed = Math.max(t.consumed, arrivals);
    while (t.head < t.numbers.length && t.numbers[t.head]! <= arrivals) t.uncredited += t.costs[t.head++]!;
    if (t.head > 256 && t.head * 2 > t.numbers.length) {
      t.numbers.splice(0, t.head);
      t.costs.splice(0, t.head);
      t.head = 0;
    }
    const turned = envelopeOnly !== t.envelopeOnly;
    t.envelopeOnly = envelopeOnly;
    if (turned || t.uncredited >= this.#window / 4) this.credit(t);
  }

  credit(t: CommTask): void {
    if (!t.attached[t.home]) return;
    t.uncredited = 0;
    const h = t.header(Kind.CREDIT);
    h.arrival = Math.min(t.consumed, t.received);
    h.size = this.#window;
    h.flags = t.envelopeOnly ? Flag.ENVELOPE_ONLY : 0;
    this.#send(t, h);
  }

  pull(t: CommTask, h: Header): void {
    const p = { size: h.size, next: 0, asked: 0 };
    t.pulls.set(h.arrival, p);
    this.#ask(t, h.arrival, p);
  }

  /** Over a new connection. */
  pullAgain(t: CommTask): void {
    for (const [arrival, p] of t.pulls) {
      p.asked = p.next;
      this.#ask(t, arrival, p);
    }
  }

  /** A part of a body. False: nobody waits for it. */
  body(t: CommTask, h: Header): boolean {
    const p = t.pulls.get(h.arrival);
    if (p === undefined || h.offset !== p.next) return false;
    p.size = h.size;
    p.next += h.bytes;
    if ((h.flags & Flag.LAST) !== 0) {
      t.pulls.delete(h.arrival);
      if (t.policy.confirmsBodies && t.attached[t.home]) {
        const end = t.header(Kind.PULL);
        end.arrival = h.arrival;
        end.offset = p.size;
        this.#send(t, end);
      }
    } else if (p.asked < p.size && p.asked - p.next <= this.#pullBytes) this.#ask(t, h.arrival, p);
    return true;
  }

  /** Keeps up to two ranges of a quarter window asked for. */
  #ask(t: CommTask, arrival: number, p: Pull): void {
    if (!t.attached[t.home]) return;
    do {
      const h = t.header(Kind.PULL);
      h.arrival = arrival;
      h.offset = p.asked;
      h.word = this.#pullBytes;
      p.asked += this.#pullBytes;
      this.#send(t, h);
    } while (p.asked < p.size && p.asked - p.next <= this.#pullBytes);
  }

  #send(t: CommTask, h: Header): void {
    this.#emit({ type: 'send', cm: t.home, bytes: encodeFrame(h) });
  }
}
