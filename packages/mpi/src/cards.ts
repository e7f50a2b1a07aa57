/**
 * Cards: what the leaders of two groups that are to become an intercommunicator tell each other, and then their groups.
 * All cards of a job are equally long, so that a receive knows the length: u32 context, u32 number of tasks, u32 each
 * task by rank; or u32 error class, u32 {@link REFUSED}.
 */
import type { Buf } from './buffers.ts';
import { capacityOf, type Layer } from './layer.ts';

const REFUSED = 0xffff_ffff;

export const cardBytes = (layer: Layer): number => 4 * (2 + capacityOf(layer));

export type Card = { context: number; tasks: number[] } | { refused: number };

/** A card of the own group; its context is still to come. */
export function writeCard(layer: Layer, into: Buf, tasks: readonly number[]): void {
  const bytes = layer.memory.view(into);
  const words = new DataView(bytes.buffer, bytes.byteOffset);
  words.setUint32(4, tasks.length, true);
  tasks.forEach((t, i) => words.setUint32(8 + 4 * i, t, true));
}

export function refusal(layer: Layer, errorClass: number): Uint8Array {
  const bytes = new Uint8Array(cardBytes(layer));
  const words = new DataView(bytes.buffer);
  words.setUint32(0, errorClass, true);
  words.setUint32(4, REFUSED, true);
  return bytes;
}

export function readCard(layer: Layer, bytes: Uint8Array): Card {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const n = words.getUint32(4, true);
  if (n === REFUSED) return { refused: words.getUint32(0, true) };
  return {
    context: words.getUint32(0, true),
    tasks: Array.from({ length: Math.min(n, capacityOf(layer)) }, (_, i) => words.getUint32(8 + 4 * i, true)),
  };
}
