/** How every benchmark prints numbers, and what stands for several. */

/** The middle one; of an even number: between the two in the middle. */
export function median(a: readonly number[]): number {
  const s = a.toSorted((x, y) => x - y);
  return ((s[a.length >> 1] ?? Number.NaN) + (s[(a.length - 1) >> 1] ?? Number.NaN)) / 2;
}
export const mean = (a: readonly number[]): number => a.reduce((s, x) => s + x, 0) / a.length;
/** Standard deviation over the mean. */
export const deviation = (a: readonly number[]): number => Math.sqrt(mean(a.map((x) => (x - mean(a)) ** 2))) / mean(a);

export const bytes = (n: number): string =>
  n < 1024 ? `${n} B` : n < 1 << 20 ? `${Math.floor(n / 1024)} KB` : `${Math.floor(n / 2 ** 20)} MB`;
export const us = (n: number): string =>
  n < 1000 ? `${n.toFixed(0)} µs` : n < 1e6 ? `${(n / 1000).toFixed(2)} ms` : `${(n / 1e6).toFixed(2)} s`;
export const ms = (n: number): string => us(n * 1000);
export const percent = (x: number, digits = 1): string => `${(100 * x).toFixed(digits)} %`;
export const times = (x: number): string => `${x.toFixed(2)}×`;

/** Columns padded to their widest cell; the first is left-aligned, the others right. */
export function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const width = head.map((h, i) => Math.max(h.length, ...rows.map((r) => r[i]!.length)));
  for (const row of [head, ...rows])
    console.log(`  ${row.map((c, i) => (i === 0 ? c.padEnd(width[i]!) : c.padStart(width[i]!))).join('   ')}`);
}
