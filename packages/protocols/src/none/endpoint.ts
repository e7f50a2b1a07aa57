/** The endpoint of a rank that never runs again: frames carry no block, and there is nothing to repeat. */
import type { Position } from '@mayfly/wire';
import { Endpoint } from '../endpoint.ts';

/** Where every task begins, and none again. */
export const START: Position = { protocol: 'none', version: 1, at: null };

export class PlainEndpoint extends Endpoint {
  /** What the rank has consumed is gone from the server's memory. */
  override readonly bodiesStay = false;

  override position(): Position {
    return START;
  }
}
