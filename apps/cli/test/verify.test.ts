import { expect, it } from 'vitest';
import { differences } from '../src/commands/verify.ts';

const text = (s: string): Uint8Array => new TextEncoder().encode(s);

it('two runs are compared by name and byte', () => {
  const first = new Map([
    ['a', text('same')],
    ['b', text('one')],
    ['c', text('longer')],
    ['d', text('')],
  ]);
  expect(differences(first, new Map(first))).toEqual([]);
  expect(
    differences(
      first,
      new Map([
        ['a', text('same')],
        ['b', text('onX')],
        ['c', text('long')],
        ['e', text('')],
      ]),
    ),
  ).toEqual([
    'b: differs from byte 2 on',
    'c: 6 bytes in the first run, 4 in the second',
    'd: only in the first run',
    'e: only in the second run',
  ]);
});
