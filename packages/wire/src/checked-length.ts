/** What a message states is checked before memory is taken for it. The lint rule mayfly/checked-length asks for it. */
import { MayflyError } from './errors.ts';

/** @returns n. @throws MayflyError TOO_LARGE when it is no whole number from 0 to `most` */
export function checkedLength(n: number, most: number): number {
  if (Number.isInteger(n) && n >= 0 && n <= most) return n;
  throw new MayflyError('TOO_LARGE', `A length of ${n} was stated; at most ${most} is allowed here.`);
}
