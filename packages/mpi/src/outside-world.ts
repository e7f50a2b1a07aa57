/**
 * The world as a peer (docs/pessimistic.md): standard output, result files and the exit are numbered sends to WORLD,
 * standard input comes as arrivals. What the world sees thus happens once, whatever is replayed.
 */
import { AT_END, OUTPUT_PIECE, WORLD, WorldMode, setU53, type ExitReport } from '@mayfly/wire';
import { stored, pull, tellStored } from './matching.ts';
import { waitUntil } from './progress.ts';
import type { Layer } from './layer.ts';

const text = new TextEncoder();

export function writeOut(layer: Layer, bytes: Uint8Array, stream: 'stdout' | 'stderr' = 'stdout'): void {
  const mode = stream === 'stdout' ? WorldMode.STDOUT : WorldMode.STDERR;
  for (let at = 0; at < bytes.length; at += OUTPUT_PIECE)
    layer.device.send(WORLD, mode, 0, 0, 0, bytes.subarray(at, at + OUTPUT_PIECE));
}

/** The body of FILE and CUT (WorldMode). */
function ofFile(path: string, n: number, bytes: number): { body: Uint8Array; data: Uint8Array } {
  const name = text.encode(path);
  const body = new Uint8Array(2 + name.length + 8 + bytes);
  const view = new DataView(body.buffer);
  view.setUint16(0, name.length, true);
  body.set(name, 2);
  setU53(view, 2 + name.length, n);
  return { body, data: body.subarray(10 + name.length) };
}

/**
 * Writes at a byte offset of a result file. There is no truncation: the server writes each message again after a crash,
 * so it must be idempotent.
 */
export function writeFileAt(layer: Layer, path: string, offset: number, bytes: Uint8Array): void {
  writePieces(layer, path, bytes, (at) => offset + at);
}

/** Writes at the end of a result file, wherever that is when the server takes each piece: it decides once. */
export function appendToFile(layer: Layer, path: string, bytes: Uint8Array): void {
  writePieces(layer, path, bytes, () => AT_END);
}

function writePieces(layer: Layer, path: string, bytes: Uint8Array, place: (at: number) => number): void {
  let at = 0;
  do {
    const part = bytes.subarray(at, at + OUTPUT_PIECE);
    const { body, data } = ofFile(path, place(at), part.length);
    data.set(part);
    layer.device.send(WORLD, WorldMode.FILE, 0, 0, 0, body);
    at += OUTPUT_PIECE;
  } while (at < bytes.length);
}

/**
 * Gives a result file another length; Infinity: it is not a result any more. Idempotent in order, like all messages to
 * the world.
 */
export function cutFile(layer: Layer, path: string, length: number): void {
  layer.device.send(WORLD, WorldMode.CUT, 0, 0, 0, ofFile(path, Math.min(length, Number.MAX_SAFE_INTEGER), 0).body);
}

/** The last message of a task. */
export function sendExit(layer: Layer, report: ExitReport): void {
  layer.device.send(WORLD, WorldMode.EXIT, 0, 0, 0, text.encode(JSON.stringify(report)));
}

/** The first unread chunk of standard input with its body; undefined at the end. Blocks. Only task 0 gets any. */
function chunk(layer: Layer): { body: Uint8Array } | undefined {
  const { state } = layer;
  const { stdin } = state;
  if (state.task !== 0) return undefined;
  waitUntil(
    layer,
    () => stdin.chunks.length > 0 || stdin.ended,
    () => ({ call: 'stdin', peer: WORLD }),
  );
  const first = stdin.chunks[0];
  if (first && !first.body) {
    first.body = new Uint8Array(first.size);
    pull(layer, first.arrival, first.size, first.body);
    stored(layer, first.size);
  }
  return first as { body: Uint8Array } | undefined;
}

/** Takes the first `n` bytes off the first chunk. */
function advance(layer: Layer, first: { body: Uint8Array }, n: number): Uint8Array {
  const out = first.body.slice(0, n);
  stored(layer, -out.length);
  if (out.length === first.body.length) layer.state.stdin.chunks.shift();
  else first.body = first.body.subarray(n);
  tellStored(layer);
  return out;
}

/** At most `most` bytes of standard input, at least one; empty at its end. Blocks. */
export function readIn(layer: Layer, most: number): Uint8Array {
  const first = chunk(layer);
  return first ? advance(layer, first, most) : new Uint8Array(0);
}

const NEWLINE = 10;

/** Up to and with the next line end, or to the end of input; empty when there is nothing more. Blocks. */
export function readLineIn(layer: Layer): Uint8Array {
  const parts: Uint8Array[] = [];
  for (;;) {
    const first = chunk(layer);
    if (!first) break;
    const end = first.body.indexOf(NEWLINE);
    parts.push(advance(layer, first, end < 0 ? first.body.length : end + 1));
    if (end >= 0) break;
  }
  return concat(parts);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
