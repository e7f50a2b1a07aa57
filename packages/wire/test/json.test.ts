/** JSON that costs more than it is long is refused before it is parsed. */
import { expect, it } from 'vitest';
import { jsonExcess, parseJson } from '@mayfly/wire';

const limits = { depth: 4, parts: 10 };

it('counts what is outside of strings, and how deep it goes', () => {
  for (const text of [
    '',
    '1',
    '"[[[[[[[["',
    '[[[[]]]]',
    '{"a":[1,2,3]}',
    '"\\"[[[[[["',
    '"\\\\"',
    '["[[[[[[","\\\\\\"]],,,,,,,,,,,,"]',
    '"no end [[[[[[[[',
    `"${',:[{'.repeat(1000)}"`,
  ])
    expect(jsonExcess(text, limits), text.slice(0, 40)).toBeUndefined();
  expect(jsonExcess('[[[[[', limits)).toBe('it is nested deeper than 4 levels');
  expect(jsonExcess('[{"a":[{"b":[]}]}]', limits)).toBe('it is nested deeper than 4 levels');
  // Behind a string that ends in a backslash.
  expect(jsonExcess('["\\\\",[[[[', limits)).toBe('it is nested deeper than 4 levels');
  for (const text of [
    '[0,0,0,0,0,0,0,0,0,0,0]',
    `[${'[],'.repeat(6)}0]`,
    `{${Array.from({ length: 6 }, (_, i) => `"${i}":0`).join(',')}}`,
  ])
    expect(jsonExcess(text, limits), text).toBe('it has more than 10 parts');
  expect(jsonExcess(']]]][[[[', limits)).toBeUndefined();
});

it('looks at each character once, whatever the text is', () => {
  const n = 200_000;
  for (const text of ['\\'.repeat(n), `"${'\\'.repeat(n)}`, '"\\"'.repeat(n), `"${'\\"'.repeat(n)}"`, '"'.repeat(n)]) {
    let looks = 0;
    const counted = {
      length: text.length,
      charCodeAt: (i: number) => (looks++, text.charCodeAt(i)),
      indexOf: (s: string, from: number) => text.indexOf(s, from),
    };
    jsonExcess(counted as unknown as string, limits);
    expect(looks).toBeLessThanOrEqual(3 * text.length);
  }
});

it('parses the rest as JSON.parse does', () => {
  expect(parseJson('{"a":[1,"x"]}', limits)).toEqual({ a: [1, 'x'] });
  expect(() => parseJson('{"a":', limits)).toThrow(SyntaxError);
  expect(() => parseJson('[[[[[]]]]]', limits)).toThrow('nested deeper');
});
