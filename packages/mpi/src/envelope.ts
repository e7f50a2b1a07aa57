/**
 * A message that came and that no receive has taken yet, as plain data: matching, windows and partitioned communication
 * keep such in their queues.
 */
export interface Envelope {
  arrival: number;
  src: number;
  mode: number;
  tag: number;
  word: number;
  size: number;
  /** Undefined (and size > 0): held in the log. */
  body: Uint8Array | undefined;
}
