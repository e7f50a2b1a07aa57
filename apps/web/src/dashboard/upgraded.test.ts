import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hasOtherScript } from './upgraded.ts';

const page = (script: string): string =>
  `<!doctype html><head><script>inline()</script><script type="module" crossorigin src="${script}"></script></head>`;

it('a document with another script is another version', () => {
  const own = '/assets/index-1a2b.js';
  expect(hasOtherScript(page('/assets/index-3c4d.js'), own)).toBe(true);
  expect(hasOtherScript(page(own), own)).toBe(false);
});

it('what is no such document tells nothing', () => {
  expect(hasOtherScript('<h1>502 Bad Gateway</h1>', '/assets/index-1a2b.js')).toBe(false);
  expect(hasOtherScript(page('/assets/index-3c4d.js'), undefined)).toBe(false);
});

it('finds the script of the real document', () => {
  const html = readFileSync(new URL('../../index.html', import.meta.url), 'utf8');
  expect(hasOtherScript(html, '/src/main.tsx')).toBe(false);
  expect(hasOtherScript(html, '/src/old.tsx')).toBe(true);
});
