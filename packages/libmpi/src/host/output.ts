/**
 * What a program writes to its standard streams, on its way to the world: a long run of lines goes in few messages.
 *
 * A run is what the program writes between two calls of anything else (MPI, the clock, files, standard input, its end).
 * The first {@link ALONE} writes of a run are messages of their own, so people see lines as they are printed; later
 * ones wait until as many have gathered as an {@link ALONE}th of the run, or {@link MOST} bytes. So at most that share
 * of a run is not visible while the program only computes.
 *
 * Owns: the bytes that have not been sent.
 *
 * Invariants
 *  T1  Messages depend on the program's writes and calls alone, never on time: each incarnation sends the same ones.
 *  T2  Before anything else leaves the rank, or is asked of it, all that was written before has been sent, in order
 *      over both streams.
 *  T3  At an image nothing waits, and no run has begun: an image has no section for it.
 */

/** Writes of a run that are not held back. */
const ALONE = 256;
/** Bytes of a message that was gathered. */
const MOST = 16_384;

export type Stream = 'stdout' | 'stderr';

export class Output {
  private readonly bytes = new Uint8Array(MOST);
  private length = 0;
  private stream: Stream = 'stdout';
  /** Writes of this run, and how many of them wait. */
  private run = 0;
  private waiting = 0;

  constructor(private readonly send: (stream: Stream, bytes: Uint8Array) => void) {}

  write(stream: Stream, bytes: Uint8Array): void {
    if (stream !== this.stream || this.length + bytes.length > MOST) this.sendWaiting();
    this.stream = stream;
    if (++this.run <= ALONE || bytes.length > MOST) return this.send(stream, bytes);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
    if (++this.waiting >= this.run / ALONE) this.sendWaiting();
  }

  /** Something else follows: the run is over. */
  settle(): void {
    this.run = 0;
    if (this.waiting > 0) this.sendWaiting();
  }

  private sendWaiting(): void {
    this.waiting = 0;
    if (this.length === 0) return;
    const { length } = this;
    this.length = 0;
    // The device takes the body before it returns.
    this.send(this.stream, this.bytes.subarray(0, length));
  }
}
