/** The programs of the documentation run (that the compiler takes them is shown in packages/toolchain). */
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { WorldMode } from '@mayfly/wire';
import { Fabric, textOf } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const blocks = ['README.md', 'docs/programs.md'].flatMap((path) =>
  [
    ...readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8').matchAll(/^([^\n]*)\n\n```ts\n(.*?)^```$/gms),
  ].map(([, before, code]) => ({ title: `${path}: ${before!}`, code: code! })),
);

// New processes are started by a server: packages/node runs such a program.
test.each(blocks.filter((b) => !b.code.includes('.spawn(')))('$title', async ({ code }) => {
  const { answers } = await fabric.run(
    4,
    'source',
    transformSync(code, { loader: 'ts', format: 'cjs', target: 'es2023' }).code,
    { patience: 60_000 },
  );
  expect(answers.map((a) => a.error?.stack ?? a.exit)).toEqual(answers.map(() => undefined));
  expect(answers.map((a) => a.left.requests)).toEqual([0, 0, 0, 0]);
  if (code.includes('console.log')) expect(textOf(answers[0]!.log.outputs, WorldMode.STDOUT)).toMatch(/\d/);
});
