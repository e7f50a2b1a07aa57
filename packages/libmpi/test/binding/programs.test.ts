/**
 * The binding through real C programs, by chapter of the standard: on several ranks, odd counts included, and again
 * with an image and a restore of every rank at suspending calls and inside their first wait. The programs check
 * themselves; the sentences of the standard stand beside the checks.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { SUSPENDING } from '../../src/index.ts';
import { CFabric, ok } from '../fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'mpi.h': file('../../include/mpi.h'), 'check.h': file('programs/check.h') };
const suspending = SUSPENDING.map((n) => `env.${n}`);

let fabric: CFabric;
const modules = new Map<string, WebAssembly.Module>();
beforeAll(() => void (fabric = new CFabric()));
afterAll(() => fabric.close());

function module(name: string, width = '-mlong64'): WebAssembly.Module {
  const source = name.includes('.') ? name : `${name}.c`;
  let m = modules.get(name + width);
  if (!m)
    modules.set(
      name + width,
      (m = new WebAssembly.Module(
        buildModule({ [`/${source}`]: file(`programs/${source}`) }, { includes, suspending, flags: ['-O1', width] })
          .wasm as Uint8Array<ArrayBuffer>,
      )),
    );
  return m;
}

/**
 * Every how many calls: the long programs would take long with an image at each one; all have images inside waits. An
 * argument bids programs be brief then.
 */
const EVERY: Readonly<Record<string, number>> = {
  'one-sided': 10,
  'point-to-point': 2,
  datatypes: 1,
  collectives: 5,
  communicators: 1,
  intercommunicators: 120,
  sessions: 1,
  processes: 1,
  ckpt: 1,
  topologies: 1,
  sizes: 3,
  'sizes-templates.cc': 1,
};

describe.each(Object.keys(EVERY))('%s', (name) => {
  test.each([1, 2, 3, 4])('on %i ranks', async (size) => {
    const ranks = await fabric.run(module(name), size);
    expect(ranks.map((r) => r.exit?.abort ?? r.died)).toEqual(ranks.map(() => undefined));
    expect(ranks.map((r) => r.stdout)).toEqual(ranks.map((_, i) => `${i}: ok\n`));
    ok(ranks);
  });
  test('stored and restored at the calls', async () => {
    const ranks = await fabric.run(module(name), 3, { cycle: EVERY[name]!, args: ['brief'] });
    expect(ranks.map((r) => r.stdout)).toEqual(ranks.map((_, i) => `${i}: ok\n`));
    for (const r of ok(ranks)) expect(r.images).toBeGreaterThan(5);
  });
});

test.each(['datatypes', 'collectives', 'one-sided', 'ckpt'])('%s with a long of 32 bits', async (name) => {
  const ranks = ok(await fabric.run(module(name, '-mno-long64'), 3));
  expect(ranks.map((r) => r.stdout)).toEqual(ranks.map((_, i) => `${i}: ok\n`));
});
