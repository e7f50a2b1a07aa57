/** Bytes that tests compute anew; the first two also the victim of kill.test.ts, on both sides. */
export function recordOf(stream: string, lsn: number): Uint8Array {
  const length = lsn % 50 === 49 ? 70_000 : (lsn * 13) % 400;
  return Uint8Array.from(
    { length },
    (_, i) => (lsn * 7 + i + stream.length + stream.charCodeAt(stream.length - 1)) & 255,
  );
}
export const pageOf = (n: number): Uint8Array => Uint8Array.from({ length: 5000 }, (_, i) => (n + i * 3) & 255);

/** Bytes that look like noise. */
export function noiseOf(length: number, seed: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let i = 0, x = 2 * seed + 1; i < length; i++) out[i] = (x = Math.imul(x, 1103515245) + 12345) >>> 16;
  return out;
}
