/**
 * Our differential set (packages/libmpi/conformance): programs whose tests quote the standard print on the fabric what they print natively under MPICH. `npm run conformance` runs
 * the same on nodes and a server, with ranks killed.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { collate, judge, programs, recorded } from '../conformance/outputs.ts';
import { SUSPENDING } from '../src/index.ts';
import { CFabric, ok } from './fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'mpi.h': file('../include/mpi.h'), 'check.h': file('../conformance/check.h') };
const suspending = SUSPENDING.map((n) => `env.${n}`);

let fabric: CFabric;
beforeAll(() => void (fabric = new CFabric()));
afterAll(() => fabric.close());

describe.each(programs())('$name', (program) => {
  const module = new WebAssembly.Module(buildModule({ [`/${program.name}.c`]: program.source }, { includes, suspending, flags: ['-w'] }).wasm as Uint8Array<ArrayBuffer>);
  test.each(program.ranks)('on %i ranks', async (size) => {
    const ranks = ok(await fabric.run(module, size));
    const collated = collate(program, ranks.map((r) => r.stdout));
    expect(judge(program, size, collated, recorded(program, size)).problems).toEqual([]);
  });
});
