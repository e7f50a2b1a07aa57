/** The buffer in which a rank hands its memory to the comm worker. */

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
