/** Documents as pages: what links where, and that every link between them arrives. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { render } from '../../markdown.ts';
import { DOCUMENTS } from './documents.ts';

const served = new Set(DOCUMENTS.map((d) => d.name));
const pages = new Map(
  DOCUMENTS.map((d) => [
    d.name,
    render(readFileSync(new URL(`../../../../docs/${d.name}.md`, import.meta.url), 'utf8'), served),
  ]),
);

test('a link leads to a page of the site, within the page, outside, or is plain text', () => {
  const { html } = render(
    '[a](programs.md#x) [b](#y) [c](https://example.org/) [d](../examples) [e](javascript:alert(1)) <x> & `<y>`',
    served,
  );
  expect(html).toContain(
    '<a href="/docs/programs#x">a</a> <a href="#y">b</a> <a href="https://example.org/" rel="noreferrer">c</a> d e',
  );
});

test('equal headings have different anchors; the first one is the title', () => {
  const { html, title, sections } = render('# The `top`\n\n## Same\n\n## Same\n', served);
  expect([title, ...sections.map((s) => s.id)]).toEqual(['The top', 'same', 'same-1']);
  expect(html).toContain('<h2 id="same-1">');
});

test.each([...pages])('every link of %s arrives', (_name, page) => {
  expect(page.title).not.toBe('');
  const missing = [...page.html.matchAll(/href="(?:\/docs\/([a-z-]+))?#([^"]+)"/g)].filter(
    ([, other, id]) => !(other === undefined ? page : pages.get(other)!).html.includes(`id="${id}"`),
  );
  expect(missing.map((m) => m[0])).toEqual([]);
});
