/** FT-MPI's modes by the command line, on real nodes: a rank that is lost is started again (docs/ft-mpi.md). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from './built.ts';

const FOLDER = join(import.meta.dirname, '../../../packages/libmpi/conformance/ft-mpi');

it.each([
  ['rebuild', 5, 'two_at_once'],
  ['blank', 6, 'collectives'],
])(
  'mpiexec --ft-comm %s',
  async (mode, ranks, test) => {
    const options = ['--protocol', 'app', '--ft-comm', mode, '--ft-msg', 'cont', '--cc-flags', `-I${FOLDER}`];
    const words = ['messages=cont', 'style=handler', 'how=trap'];
    const cwd = await mkdtemp(join(tmpdir(), 'mayfly-ft-mpi-'));
    const command = ['mpiexec', '-q', '--local', '-n', String(ranks), ...options, join(FOLDER, `${mode}.c`), ...words];
    const r = await run(command, { cwd });
    await rm(cwd, { recursive: true });
    expect(r.code).toBe(0);
    const lines = r.stdout.split('\n').filter(Boolean);
    expect(lines.filter((line) => !/^\d \w+: ok $/.test(line))).toEqual([]);
    expect(lines).toContain(`0 ${test}: ok `);
  },
  120_000,
);
