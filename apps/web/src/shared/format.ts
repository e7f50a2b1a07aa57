/** Numbers as people read them. Pure; every function takes what it needs, the clock included. */

// Kept: to make a formatter for each number took half of the time of a volunteer's page.
const WHOLE = new Intl.NumberFormat('en-GB');
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** 0 B, 999 B, 1.2 kB, 34 MB: decimal units, at most three significant digits. */
export function bytes(n: number): string {
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${trimZeros(value.toFixed(digits))} ${BYTE_UNITS[unit]}`;
}

/** 7, 940, 12,345, 1.23 M. */
export function count(n: number): string {
  if (n < 1_000_000) return WHOLE.format(Math.round(n));
  if (n < 1_000_000_000) return `${trimZeros((n / 1e6).toFixed(2))} M`;
  return `${trimZeros((n / 1e9).toFixed(2))} G`;
}

/** A share: '40 %', and never '0 %' of something. */
export const percent = (part: number, whole: number): string => {
  const p = (100 * part) / whole;
  return p > 0 && p < 0.5 ? '< 1 %' : `${Math.round(p)} %`;
};

/** 'one rank', '3 ranks'. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** 'rank 3', 'ranks 0–2'. */
export const rankRange = ({ first, size }: { first: number; size: number }): string =>
  size === 1 ? `rank ${first}` : `ranks ${first}–${first + size - 1}`;

const SHOWN_ARGUMENTS = 2000;

/** The words of a command, cut where they would fill the page: they may have a megabyte. */
export function shownArguments(words: readonly string[]): string {
  const text = words.join(' ');
  const rest = text.length - SHOWN_ARGUMENTS;
  return rest <= 0 ? text : `${text.slice(0, SHOWN_ARGUMENTS)}… (${WHOLE.format(rest)} more characters)`;
}

/** 340 ms, 2.4 s, 47 s, 3 min 05 s, 2 h 04 min, 3 d 4 h. */
export function duration(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < 1000) return `${Math.round(positive)} ms`;
  if (positive < 9950) return `${trimZeros((positive / 1000).toFixed(1))} s`;
  const seconds = Math.round(positive / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Elapsed time that ticks: whole seconds, so that a live page does not flicker. */
export const elapsed = (ms: number): string =>
  duration(Math.floor(Math.max(0, ms) / 1000) * 1000).replace(/^0 ms$/, '0 s');

/** 'just now', '12 s ago', '3 min ago', else the date. */
export function ago(at: number, now: number): string {
  const seconds = Math.floor(Math.max(0, now - at) / 1000);
  if (seconds < 2) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  return day(at);
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
/** 5 Dec 2026: nobody takes the month for the day. */
export const day = (at: number): string => DAY.format(at);

/** 5 Dec 2026, 14:03:27 */
export const dayAndClock = (at: number): string => `${day(at)}, ${clock(at)}`;

/** Time of day, 14:03:27. */
export const clock = (at: number): string => TIME.format(at);

const trimZeros = (s: string): string => (s.includes('.') ? s.replace(/\.?0+$/, '') : s);
const two = (n: number): string => String(n).padStart(2, '0');
