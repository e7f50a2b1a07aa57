/** How a rank hands an image over: its memory in a buffer that the comm worker shares, the rest through the ring. */
import { CHUNK_BYTES, emptyHeader, Flag, type Header } from '@mayfly/wire';
import { HEAD, Local, type ImageHead } from '../local-frames.ts';

const text = new TextEncoder();

/**
 * Copies `parts`, one behind the other. `dead`: ranges of them, ascending, where the buffer keeps what it has. False
 * when the engine has no room for it.
 */
export function copyInto(
  buffer: SharedArrayBuffer,
  parts: readonly Uint8Array[],
  dead: readonly (readonly [number, number])[] = [],
): boolean {
  const bytes = parts.reduce((n, p) => n + p.length, 0);
  if (buffer.byteLength < bytes)
    try {
      buffer.grow(bytes);
    } catch {
      return false;
    }
  const to = new Uint8Array(buffer, 0, bytes);
  let begins = 0;
  for (const p of parts) {
    let at = 0;
    for (const [from, until] of [...dead, [begins + p.length, begins + p.length] as const]) {
      const end = Math.min(from - begins, p.length);
      if (end > at) to.set(p.subarray(at, end), begins + at);
      at = Math.max(at, until - begins);
    }
    begins += p.length;
  }
  return true;
}

export interface ImageSection {
  readonly name: string;
  readonly parts: readonly Uint8Array[];
  /** Ranges of the parts, one after the other, that hold nothing. */
  readonly dead?: readonly (readonly [number, number])[];
}

/**
 * Writes an image as records of the up ring (local-frames.ts): its first section by a copy into `buffer` where there is
 * one, the others in parts.
 */
export function writeImage(
  head: Omit<ImageHead, 'sections'>,
  sections: readonly ImageSection[],
  buffer: SharedArrayBuffer | undefined,
  write: (h: Header, body: Uint8Array) => void,
): void {
  const shared =
    buffer && sections[0] && copyInto(buffer, sections[0].parts, sections[0].dead) ? sections[0] : undefined;
  const lengths = sections.map((s) => ({
    name: s.name,
    bytes: s.parts.reduce((n, p) => n + p.length, 0),
    ...(s === shared ? { shared: true } : {}),
  }));
  let left = lengths.reduce((n, s) => n + (s.shared ? 0 : s.bytes), 0);
  const h = emptyHeader(Local.IMAGE);
  h.word = HEAD;
  h.flags = left === 0 ? Flag.LAST : 0;
  write(h, text.encode(JSON.stringify({ ...head, sections: lengths } satisfies ImageHead)));
  h.word = 0;
  for (const s of sections)
    for (const part of s === shared ? [] : s.parts)
      for (let o = 0; o < part.length; o += CHUNK_BYTES) {
        const piece = part.subarray(o, o + CHUNK_BYTES);
        left -= piece.length;
        h.flags = left === 0 ? Flag.LAST : 0;
        write(h, piece);
      }
}
