/** Values of the registry as text: what adapters store, and how they compare it. */
import { isDeepStrictEqual } from 'node:util';
import { MayflyError } from '@mayfly/wire';

/** UTF-16 units. */
const LONGEST_KEY = 1000;

/** @throws MayflyError BAD_REQUEST */
export function needKey(key: string): void {
  if (key.length > LONGEST_KEY)
    throw new MayflyError('BAD_REQUEST', `a key of ${key.length} characters; the longest is ${LONGEST_KEY}`);
}

/** As JSON; the order of an object's keys does not count. */
export const sameValue = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && isDeepStrictEqual(JSON.parse(a), JSON.parse(b)));

/** @throws MayflyError BAD_REQUEST for what JSON does not know */
export function valueText(key: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A cycle, a bigint.
  }
  if (text === undefined) throw new MayflyError('BAD_REQUEST', `the value of ${key} cannot be stored as data`);
  return text;
}
