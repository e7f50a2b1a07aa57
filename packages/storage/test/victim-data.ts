/** What the victim of kill.test.ts writes, computed on both sides. */
export function recordOf(stream: string, lsn: number): Uint8Array {
  const length = lsn % 50 === 49 ? 70_000 : (lsn * 13) % 400;
  return Uint8Array.from({ length }, (_, i) => (lsn * 7 + i + stream.length + stream.charCodeAt(stream.length - 1)) & 255);
}
export const pageOf = (n: number): Uint8Array => Uint8Array.from({ length: 5000 }, (_, i) => (n + i * 3) & 255);
