/** Documents as pages: what links where, and that every link between them arrives. */
import { ERRORS } from '@mayfly/wire';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { render } from '../../markdown.ts';
import { DOCUMENTS, type DocumentText } from './documents.ts';

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

test('a link to a document without a page is an error', () => {
  expect(() => render('[x](nothing.md)', served)).toThrow('nothing.md');
});

test('every document of docs/ has a page, and no page lacks its document', () => {
  const files = readdirSync(new URL('../../../../docs', import.meta.url)).filter((f) => f.endsWith('.md'));
  expect([...served].toSorted()).toEqual(files.map((f) => f.slice(0, -3)).toSorted());
});

/** Links of a text that lead to no document, no anchor of it, or no figure. */
function leadNowhere(html: string, self?: DocumentText): string[] {
  const dead: string[] = [];
  for (const [link, figure] of html.matchAll(/\{figure:([^}]*)\}/g))
    if (!existsSync(new URL(`../../../../docs/figures/${figure}`, import.meta.url))) dead.push(link);
  for (const [link, name, id] of html.matchAll(/href="(?:\/docs\/([^"#]*))?(?:#([^"]*))?"/g)) {
    const page = name === undefined ? self : pages.get(name);
    if (!page || (id !== undefined && !page.html.includes(` id="${id}"`))) dead.push(link);
  }
  return dead;
}

test.each([...pages])('every link of %s arrives', (_name, page) => {
  expect(page.title).not.toBe('');
  expect(leadNowhere(page.html, page)).toEqual([]);
});

test('a link that leads nowhere is found', () => {
  const link = (href: string): string => `<a href="${href}">x</a>`;
  const good = ['/docs/protocols', '/docs/codes#waves', '#x'].map(link).join('');
  const bad = ['/docs/nothing', '/docs/codes#nothing', '#nothing'].map(link).join('');
  const { html } = render('# X\n\n![f](figures/pingpong.svg) ![g](figures/nothing.svg)', served);
  expect(leadNowhere(good + bad + html, render('# X', served))).toEqual([
    '{figure:nothing.svg}',
    'href="/docs/nothing"',
    'href="/docs/codes#nothing"',
    'href="#nothing"',
  ]);
});

const sources = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.tsx?$/.test(f) && !/\.test\./.test(f))
  .map((f) => [f, readFileSync(new URL(`../${f}`, import.meta.url), 'utf8')] as const);

test('every link from a page of the app to a document arrives', () => {
  const links = sources.flatMap(([file, text]) =>
    [...text.matchAll(/to="\/docs\/\$name"\s+params=\{\{ name: '([^']*)' \}\}(?:\s+hash="([^"]*)")?/g)].map(
      ([, name, hash]) => ({ file, html: `href="/docs/${name}${hash === undefined ? '' : `#${hash}`}"` }),
    ),
  );
  expect(links.map((l) => l.file)).toContain('dashboard/submit/Options.tsx');
  expect(links.filter((l) => leadNowhere(l.html).length > 0)).toEqual([]);
});

test('every document that a comment, a text or an error message names is there', () => {
  const named = [...sources.map(([, text]) => text), JSON.stringify(ERRORS)].flatMap((text) =>
    [...text.matchAll(/\bdocs\/([a-z-]+)\.md/g)].map((m) => m[1]!),
  );
  expect(named).toContain('programs');
  expect(named.filter((n) => !served.has(n))).toEqual([]);
});
