/** Messages as they are drawn, packed: of a busy job there are a thousand a second. */

/** When it was logged, source, destination, bytes, tag. */
export type Arrow = readonly [at: number, src: number, dst: number, bytes: number, tag: number];

const BYTES = 16;
const MOST = 2 ** 32 - 1;

/**
 * 16 bytes each, little endian: u32 ms since `from`, u16 source, u16 destination, u32 bytes (the most stands for more),
 * i32 tag. What cannot stand so (a task beyond 65,535) is left out: it is a sample anyway.
 */
export function packArrows(list: readonly Arrow[]): { from: number; arrows: Uint8Array } {
  const drawn = list.filter((a) => a[1] < 65_536 && a[2] < 65_536);
  const from = drawn.reduce((n, a) => Math.min(n, a[0]), drawn[0]?.[0] ?? 0);
  const v = new DataView(new ArrayBuffer(drawn.length * BYTES));
  drawn.forEach(([at, src, dst, bytes, tag], i) => {
    v.setUint32(i * BYTES, Math.min(MOST, at - from), true);
    v.setUint16(i * BYTES + 4, src, true);
    v.setUint16(i * BYTES + 6, dst, true);
    v.setUint32(i * BYTES + 8, Math.min(MOST, bytes), true);
    v.setInt32(i * BYTES + 12, tag, true);
  });
  return { from, arrows: new Uint8Array(v.buffer) };
}

export function unpackArrows({ from, arrows }: { from: number; arrows: Uint8Array }): Arrow[] {
  const v = new DataView(arrows.buffer, arrows.byteOffset, arrows.byteLength);
  return Array.from({ length: Math.floor(arrows.byteLength / BYTES) }, (_, i) => [
    from + v.getUint32(i * BYTES, true),
    v.getUint16(i * BYTES + 4, true),
    v.getUint16(i * BYTES + 6, true),
    v.getUint32(i * BYTES + 8, true),
    v.getInt32(i * BYTES + 12, true),
  ]);
}
