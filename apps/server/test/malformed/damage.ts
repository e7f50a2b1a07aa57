/** What bad input is made of: awkward values, and bytes that were damaged on their way. */
import fc from 'fast-check';
import { Kind } from '@mayfly/wire';

export const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
export const u53 = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
export const kinds = Object.values(Kind);
export const awkward = fc.constantFrom<unknown>(
  null,
  true,
  '',
  'x',
  -1,
  0,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  4294967296,
  [],
  {},
  [[]],
  [null],
  { length: 1 },
  { toString: 1 },
  '\u0000',
  '../..',
  '𝔘'.repeat(50),
);
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(awkward, fc.jsonValue({ maxDepth: 4 }));

/** Flips, inserts, cuts and doubles bytes. */
const edits = fc.array(
  fc.record({ at: fc.nat(), to: fc.nat(255), how: fc.constantFrom('set', 'cut', 'insert', 'double', 'ones') }),
  { minLength: 1, maxLength: 4 },
);
function edited(bytes: Uint8Array, list: readonly { at: number; to: number; how: string }[]): Uint8Array {
  let b = bytes.slice();
  for (const { at, to, how } of list) {
    if (b.length === 0) return new Uint8Array([to]);
    const i = at % b.length;
    if (how === 'set') b[i] = to;
    else if (how === 'ones') b.fill(255, i, i + 4);
    else if (how === 'cut') b = b.slice(0, i);
    else if (how === 'insert') b = new Uint8Array([...b.subarray(0, i), to, ...b.subarray(i)]);
    else b = new Uint8Array([...b, ...b.subarray(i)]);
  }
  return b;
}
/** Well-formed bytes, damaged. */
export const damaged = (whole: Uint8Array): fc.Arbitrary<Uint8Array> => edits.map((list) => edited(whole, list));
