/** Stacks come from nodes: whatever stands in one, mapping it takes as long as it is, not its square. */
import { expect, it } from 'vitest';
import { stackMapper, symboliser } from './index.ts';
import { replacePlaces } from './replace-places.ts';

/** How often `ends` is asked: the cost, without a clock. */
function cost(stack: string): number {
  let asked = 0;
  const ends = /[\s()@]/;
  const test = ends.test.bind(ends);
  ends.test = (c) => (asked++, test(c));
  replacePlaces(stack, /place:(\d+)/g, ends, () => '!');
  return asked;
}

it('takes an address away with its place, up to a blank, a bracket or an @', () => {
  const map = (stack: string): string =>
    replacePlaces(stack, /p:(\d+)/g, /[\s()@]/, (text, line) => `<${text}|${line}>`);
  expect(map('at f (http://x/a/p:12)\nf@blob:p:3 p:4')).toBe('at f (<http://x/a/p:12|12>)\nf@<blob:p:3|3> <p:4|4>');
  expect(map('nothing here')).toBe('nothing here');
});

it('costs no more than the stack is long', () => {
  const n = 65_536;
  for (const stack of [
    'a'.repeat(n),
    `${'a'.repeat(n - 8)}place:12`,
    'place:1'.repeat(n / 8),
    `${'aaaa'.repeat(n / 4)} place:1 ${'b'.repeat(n)}`,
  ])
    expect(cost(stack)).toBeLessThanOrEqual(stack.length);
});

it('a map, or a section of lines, that would keep the server busy is left alone', () => {
  const stack = 'f@mayfly-program.js:1:1';
  const map = { version: 3, sources: ['main.ts'], sourcesContent: [''], names: [], mappings: 'AAAA' };
  expect(stackMapper(JSON.stringify(map))(stack)).toBe('f@main.ts:1:1');
  expect(stackMapper(JSON.stringify({ ...map, sourcesContent: ['x'.repeat(5 << 20)] }))(stack)).toBe(stack);
  // A module that brings a section `mayfly.lines` of millions of places.
  const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
  const moduleWith = (places: number): Uint8Array => {
    const name = new TextEncoder().encode('mayfly.lines');
    const head = [1, 1, 6, ...new TextEncoder().encode('main.c'), ...leb(places)];
    const body = new Uint8Array(name.length + 1 + head.length + 3 * places).fill(1);
    body.set([name.length, ...name, ...head]);
    return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, ...leb(body.length), ...body]);
  };
  const place = 'f (wasm-function[1]:0x1)';
  expect(symboliser(moduleWith(100))(place)).toBe('f (main.c:1)');
  expect(symboliser(moduleWith(1_000_000))(place)).toBe(place);
});
