/**
 * The part of one task in waves of checkpoints, in its comm worker.
 *
 * Owns: the wave under way, the frames that answer it, and under `pcl` what waits between mark and image. An answer
 * leaves for every Channel Memory, and again over each new connection.
 *
 *  M8 The CUT of an image leaves at the image's place: behind everything sent before it, before everything sent or
 *     reported as consumed after it, over a new connection too. A wave has one image of a task.
 *  M9 (`pcl`) MARK leaves behind everything that the rank has written before it, and the rank is asked for its image
 *     when the channels are flushed. A rank that ends in between has no image in the wave: everything leaves.
 */
import { Kind, Mark, encodeFrame, type Header, type Position } from '@mayfly/wire';
import { Check } from 'typebox/value';
import { json, parse } from '../channel-memory/records.ts';
import type { Outbox, Sent } from './outbox.ts';
import type { CommdTask, SendFreeze } from './policy.ts';

/** A frame for an outbox. */
export interface Frozen extends Sent {
  readonly box: Outbox;
}

export class TaskWaves {
  readonly #policy: CommdTask;
  readonly #header: (kind: number) => Header;
  readonly #freeze: SendFreeze<Frozen> | undefined;
  #wave = 0;
  #mark: Uint8Array | undefined;
  #cut: Uint8Array | undefined;
  #cannot: Uint8Array | undefined;
  /** An image may be taken now. */
  #open = false;

  constructor(policy: CommdTask, header: (kind: number) => Header) {
    this.#policy = policy;
    this.#header = header;
    this.#freeze = policy.freeze?.();
  }

  /** Bytes of frames that wait. */
  get frozenBytes(): number {
    return this.#freeze?.bytes ?? 0;
  }

  /** The wave under way; 0: none. */
  get wave(): number {
    return this.#wave;
  }

  /** Another wave than before is under way, or none. @returns what the rank is to be asked for */
  begins(wave: number): 'mark' | 'checkpoint' | undefined {
    this.#wave = wave;
    this.#mark = this.#cut = this.#cannot = undefined;
    this.#open = !this.#freeze;
    if (wave === 0) return undefined;
    return this.#freeze ? 'mark' : 'checkpoint';
  }

  /** What the rank has written into its ring. @returns what leaves for every Channel Memory @throws RangeError */
  marks(body: Uint8Array): Uint8Array | undefined {
    if (!this.#freeze) throw new RangeError('a mark of a rank that is not frozen');
    const mark: unknown = parse(body);
    if (!Check(Mark, mark)) throw new RangeError('a mark that does not match its schema');
    if (this.#wave === 0 || this.#mark) return undefined;
    this.#freeze.mark(this.#wave);
    return (this.#mark = this.#encode(Kind.MARK, mark));
  }

  /** True: the rank is to be asked for its image. */
  flushed(wave: number): boolean {
    if (wave !== this.#wave || this.#open) return false;
    return (this.#open = true);
  }

  /** M8. Undefined: nobody waits for it. */
  image(position: Position): { readonly position: Position; readonly cut: Uint8Array | undefined } | undefined {
    const { cutOf, inWave } = this.#policy;
    if (!cutOf || !inWave) return { position, cut: undefined };
    if (this.#wave === 0 || this.#cut || !this.#open) return undefined;
    this.#cut = this.#encode(Kind.CUT, cutOf(position));
    return { position: inWave(position, this.#wave), cut: this.#cut };
  }

  /** A frame that the rank has written. True: it waits. */
  holds(frame: Frozen): boolean {
    return this.#freeze?.holds(frame, frame.bytes.length) ?? false;
  }

  /** Too much waits: what the home Channel Memory has to know, once a wave. */
  cannot(): Uint8Array | undefined {
    if (!this.#freeze?.full || this.#cannot) return undefined;
    const reason = `more than ${Math.floor(this.#freeze.bytes / 2 ** 20)} MiB of its messages wait for its image`;
    return (this.#cannot = this.#encode(Kind.CANNOT, { reason }));
  }

  /** What waited leaves: behind CUT, or because the wave is over, or with the rank's end. */
  thaw(): Frozen[] {
    return this.#freeze?.thaw() ?? [];
  }

  /** What a Channel Memory hears again over a new connection. */
  *answers(home: boolean): Iterable<Uint8Array> {
    if (this.#mark) yield this.#mark.slice();
    if (this.#cut) yield this.#cut.slice();
    if (home && this.#cannot) yield this.#cannot.slice();
  }

  #encode(kind: number, body: unknown): Uint8Array {
    const h = this.#header(kind);
    h.word = this.#wave;
    return encodeFrame(h, json(body));
  }
}
