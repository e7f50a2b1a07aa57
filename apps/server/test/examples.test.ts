/** The examples as the form lists them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Examples } from '../src/serve/examples.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

it('the first one is the first job of the README, and those with a picture come next', async () => {
  const list = await new Examples(`${root}examples`).list();
  const first = /then the first example, \*([^*]+)\*, .* with (\d+) ranks/.exec(
    readFileSync(`${root}README.md`, 'utf8'),
  );
  expect([list[0]!.title, String(list[0]!.size)]).toEqual(first?.slice(1));
  expect(list.slice(0, 4).every((e) => Object.keys(e.sources).some((path) => /png\.(ts|c)$/.test(path)))).toBe(true);
  const others = list.slice(6).map((e) => e.name);
  expect(others).toEqual([...others].sort());
});
