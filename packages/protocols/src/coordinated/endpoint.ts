/**
 * The endpoint of a rank that goes back together with all others: nothing is logged or repeated. It counts what it
 * consumes of each sender, which with its sends is its cut.
 */
import { FILES, WORLD, taskId, type Cut, type Position, type ProtocolName, type TaskId } from '@mayfly/wire';
import { Endpoint, type EndpointSnapshot } from '../endpoint.ts';
import { inWaveOf, positionOf } from './position.ts';

export class CountingEndpoint extends Endpoint {
  /** What the rank has consumed is gone from the server's memory. */
  override readonly bodiesStay = false;
  /** The checkpoint scheduler asks for its images. */
  override readonly choosesImages = false;
  readonly #protocol: ProtocolName;
  /** By sender; the world and the file service last. */
  readonly #receives: Float64Array;
  readonly #from: Cut;

  constructor(
    protocol: ProtocolName,
    task: TaskId,
    size: number,
    position: Position,
    incarnation: ConstructorParameters<typeof Endpoint>[2],
  ) {
    super(task, size, incarnation);
    this.#protocol = protocol;
    this.#receives = new Float64Array(size + 2);
    this.#from = inWaveOf(position, protocol).cut;
  }

  override consume(number: number, src: TaskId): void {
    super.consume(number, src);
    this.#receives[this.#sender(src)]!++;
  }

  #sender(src: TaskId): number {
    return src === WORLD ? this.size : src === FILES ? this.size + 1 : src;
  }

  override position(held: readonly number[]): Position {
    const receives: [TaskId, number][] = [];
    this.#receives.forEach((n, i) => {
      if (n > 0) receives.push([i === this.size ? WORLD : i > this.size ? FILES : taskId(i), n]);
    });
    const cut = { arrivals: this.arrivals, sends: this.sent(), receives, held: [...held] };
    return positionOf(this.#protocol, { wave: 0, cut });
  }

  override jump(snapshot?: EndpointSnapshot): void {
    const { arrivals, sends, receives } = this.#from;
    this.arrivals = arrivals;
    for (const [dst, n] of sends) this.sends[this.slot(dst)] = n;
    for (const [src, n] of receives) this.#receives[this.#sender(src)] = n;
    if (snapshot) this.lastClock = Math.max(this.lastClock, snapshot.lastClock);
  }
}
