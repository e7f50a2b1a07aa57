/** Limits as they are typed: a whole number, 'none', or nothing (as for all owners). */
import type { QuotaWish } from '@mayfly/wire';

export type Typed = Record<'slots' | 'jobs' | 'bytes', string>;

export const limitOf = (set: number | null | undefined, unit = 1): string =>
  set === undefined ? '' : set === null ? 'none' : String(Math.round(set / unit));

/** Undefined: something is no limit. Stored data is typed in MB. */
export function wishOf(typed: Typed): QuotaWish | undefined {
  const wish: QuotaWish = {};
  for (const [kind, unit] of [
    ['slots', 1],
    ['jobs', 1],
    ['bytes', 1e6],
  ] as const) {
    const text = typed[kind].trim().toLowerCase();
    if (text === '') continue;
    if (text === 'none') wish[kind] = null;
    else if (/^\d{1,9}$/.test(text)) wish[kind] = Number(text) * unit;
    else return undefined;
  }
  return wish;
}
