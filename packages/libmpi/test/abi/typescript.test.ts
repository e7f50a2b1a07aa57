/** Every function of the standard has a spelling in the module 'mayfly', or a reason for none. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { spelled, typescriptCoverageText } from '../../src/abi/typescript.ts';

const declarations = readFileSync(new URL('../../../mpi/types/mayfly.d.ts', import.meta.url), 'utf8');

test('docs/typescript-coverage.md is current: a spelling or a reason for each function, never both', async () => {
  const list = spelled(declarations);
  expect(list.filter((f) => f.spelling.length === 0 && !f.reason).map((f) => f.name)).toEqual([]);
  expect(
    list.filter((f) => f.spelling.length > 0 && f.reason).map((f) => `${f.name}: ${f.spelling.join(', ')}`),
  ).toEqual([]);
  await expect(typescriptCoverageText(declarations)).toMatchFileSnapshot('../../../../docs/typescript-coverage.md');
});
