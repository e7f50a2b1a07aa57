/**
 * Frees the buffers of socket messages early. V8 counts buffers to the old generation's growth, so a few megabytes of
 * them begin a full collection, and a chunk of 64 KB costs three buffers of that size (two reads and the message): at a
 * hundred MB a second the server would mark its whole heap fifteen times a second, for garbage that is all young. A
 * collection of the young generation frees it in half a millisecond.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of messages after which the young generation is collected; with 8 MB the full collections come back. */
const EVERY_BYTES = 2 * 1024 * 1024;

/** Bytes of dropped messages after which everything is collected: strings of bodies are old by then. */
const DROPPED_BYTES = 32 * 1024 * 1024;

/** Without options: everything. */
type Collect = (options?: { type: 'minor' }) => void;

let collect: Collect | undefined;
let bytes = 0;
let dropped = 0;

/**
 * An engine without the function behaves as before. The flag is taken back: nothing that runs in this process later is
 * to find it.
 */
function engineCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('typeof gc === "function" ? gc : undefined');
  setFlagsFromString('--no-expose-gc');
  return typeof gc === 'function' ? (gc as Collect) : () => undefined;
}

/** A message of this length has come. */
export function messageCame(length: number): void {
  bytes += length;
  if (bytes < EVERY_BYTES) return;
  bytes = 0;
  (collect ??= engineCollector())({ type: 'minor' });
}

/** A message that has not ended is given up. Whoever floods the server is not to fill its heap with them. */
export function messageDropped(length: number): void {
  dropped += length;
  if (dropped < DROPPED_BYTES) return;
  dropped = 0;
  // When whoever held them has heard of it.
  setImmediate(() => (collect ??= engineCollector())());
}
