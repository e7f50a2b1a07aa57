/**
 * The protocol `pcl` in the comm worker: what a task sends after its mark waits until it has taken its image. "After
 * having sent a marker, a process does not send any other message through the same channel until it takes its
 * checkpoint … Such messages, still in the process memory, are automatically stored in the checkpoint"
 * (blocking-vs-nonblocking, section 3). Here they are on their way to the ring's other end; the image counts them as
 * sent, and they leave behind its CUT.
 *
 * Owns, for one task: whether it has marked in the wave under way, and frames that wait.
 *
 *  Z1 Between MARK and image nothing of the task leaves; afterwards everything does, in its order.
 *  Z2 A wave that is given up lets everything go.
 *  Z3 What waits is bounded: beyond {@link FROZEN_BYTES} the task says CANNOT, since a rank that waits for space in the
 *     ring never comes to its image.
 */

import type { SendFreeze } from '../comm/policy.ts';

/** Most that waits for one task: half of what its host lets it have on the way. */
export const FROZEN_BYTES = 32 * 1024 * 1024;

export class Freeze<Frame> implements SendFreeze<Frame> {
  #wave = 0;
  #waiting: Frame[] = [];
  #bytes = 0;

  /** The wave in which the task has marked and has no image yet; 0: none. */
  get wave(): number {
    return this.#wave;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Z3. */
  get full(): boolean {
    return this.#bytes > FROZEN_BYTES;
  }

  /** The rank has written MARK into its ring. */
  mark(wave: number): void {
    this.#wave = wave;
  }

  /** Z1: a frame that the rank has written. True: it waits. */
  holds(frame: Frame, bytes: number): boolean {
    if (this.#wave === 0) return false;
    this.#waiting.push(frame);
    this.#bytes += bytes;
    return true;
  }

  /** The image stands in the ring, or the wave is given up (Z2): what leaves now, behind CUT. */
  thaw(): Frame[] {
    const out = this.#waiting;
    this.#waiting = [];
    this.#wave = this.#bytes = 0;
    return out;
  }
}
