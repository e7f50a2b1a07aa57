/** The endpoint of a rank that never runs again: frames carry no block, and there is nothing to repeat. */
import type { Incarnation, Position, TaskId } from '@mayfly/wire';
import { Endpoint } from '../endpoint.ts';

export class PlainEndpoint extends Endpoint {
  /** What the rank has consumed is gone from the server's memory. */
  override readonly bodiesStay = false;

  /** `start`: where every task begins, and none again. */
  constructor(
    task: TaskId,
    size: number,
    incarnation: Incarnation,
    private readonly start: Position,
  ) {
    super(task, size, incarnation);
  }

  override position(): Position {
    return this.start;
  }
}
