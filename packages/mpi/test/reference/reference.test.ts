/**
 * docs/typescript-reference.md is what types/mayfly.d.ts says. Write it anew: npx vitest run
 * packages/mpi/test/reference -u
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reference } from './markdown.ts';

const source = readFileSync(new URL('../../types/mayfly.d.ts', import.meta.url), 'utf8');

test('docs/typescript-reference.md is current, and names every export', async () => {
  const text = reference(source);
  const exported = [
    ...source.matchAll(/^export (?:declare )?(?:abstract )?(?:interface|class|type|const|function) (\w+)/gm),
  ].map((m) => m[1]!);
  expect(exported.length).toBeGreaterThan(100);
  expect(
    exported.filter((n) => !new RegExp(`(?:^### ${n}$|\\b(?:const|type|function) ${n}\\b)`, 'm').test(text)),
  ).toEqual([]);
  await expect(text).toMatchFileSnapshot('../../../../docs/typescript-reference.md');
});
