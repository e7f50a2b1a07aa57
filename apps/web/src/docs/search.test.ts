import { expect, test } from 'vitest';
import { sectionsOf } from '../../markdown.ts';
import { searched } from './search.ts';

const index = sectionsOf(
  'deploy',
  '<h1 id="a">A server</h1>\n<p>Its &lt;port&gt;.</p>' +
    '<h2 id="backup">Backup</h2><p>Run <code>mayfly backup</code>.</p>' +
    `<h2 id="proxies">Proxies</h2><p>${'far '.repeat(60)}the backup of a proxy ${'away '.repeat(60)}</p>`,
);

test('a document is cut at its headings, as text', () => {
  expect(index.slice(0, 2)).toEqual([
    { doc: 'deploy', id: 'a', heading: 'A server', text: 'Its <port>.' },
    { doc: 'deploy', id: 'backup', heading: 'Backup', text: 'Run mayfly backup.' },
  ]);
});

test('a section has every word, and one with a word in its heading comes first', () => {
  expect(searched(index, 'BACKUP').map((h) => h.id)).toEqual(['backup', 'proxies']);
  expect(searched(index, 'backup prox').map((h) => h.id)).toEqual(['proxies']);
  expect([searched(index, ' '), searched(index, 'nowhere')]).toEqual([[], []]);
});

test('a hit shows what stands around the word', () => {
  const [hit] = searched(index, 'backup prox');
  expect(hit!.excerpt).toMatch(/^… .*the backup of a proxy.* …$/);
  expect(hit!.excerpt.length).toBeLessThan(150);
});

test('a word that stands nowhere is forgiven one typing error: a letter less, more, another, or two swapped', () => {
  for (const typed of ['bckup', 'bacckup', 'bickup', 'bakcup', 'backups', 'ackup'])
    expect(searched(index, `${typed} proxies`).map((h) => h.id)).toEqual(['proxies']);
  expect(searched(index, 'bakcup')[0]!.excerpt).toBe('Run mayfly backup.');
  for (const typed of ['bkcup', 'backupss', 'pot', 'akcupb']) expect(searched(index, typed)).toEqual([]);
  // A part of a word that is there is no error.
  expect(searched(index, 'prox').map((h) => h.id)).toEqual(['proxies']);
});
