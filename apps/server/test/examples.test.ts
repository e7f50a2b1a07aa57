/** The examples as the form lists them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Examples } from '../src/serve/examples.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

it('the first one is the first job of the README, and those with a picture come next', async () => {
  const examples = new Examples(`${root}examples`);
  const list = await examples.list();
  const first = /then the first example, \*([^*]+)\*, .* with (\d+) ranks/.exec(
    readFileSync(`${root}README.md`, 'utf8'),
  );
  expect([list[0]!.title, String(list[0]!.size)]).toEqual(first?.slice(1));
  const pictured = await Promise.all(list.slice(0, 4).map((e) => examples.view(e.name)));
  expect(pictured.every((e) => Object.keys(e!.sources).some((path) => /png\.(ts|c)$/.test(path)))).toBe(true);
  const others = list.slice(6).map((e) => e.name);
  expect(others).toEqual([...others].sort());
});

it('the list is short; an example that is asked for has all that a submission needs', async () => {
  const examples = new Examples(`${root}examples`);
  const list = await examples.list();
  expect(JSON.stringify(list).length).toBeLessThan(20_000);
  for (const entry of list) {
    const view = (await examples.view(entry.name))!;
    expect(view).toMatchObject(entry);
    expect(Object.keys(view.sources)).toContain(view.entry);
  }
  expect(await examples.view('nothing')).toBeUndefined();
});
