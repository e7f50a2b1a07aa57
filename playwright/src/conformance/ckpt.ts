/**
 * `npm run conformance -- --ckpt`: programs that make operation-level checkpoints (packages/libmpi/conformance/ckpt),
 * under the protocol `app` on a real server and headless nodes of one slot each. recovers.c loses processes at given
 * places, then nodes at drawn calls.
 */
import { join } from 'node:path';
import { ROOT } from '../server.ts';
import { Losing, type UlfmRun } from './ulfm.ts';

const CONFORMANCE = join(ROOT, 'packages', 'libmpi', 'conformance');

/** Options of recovers.c (`ranks` is the size of the job), and how many processes fail. */
const LOSSES: readonly (readonly [args: string, lost: number])[] = [
  ['', 0],
  ['lose=5:3:0 least=4', 1],
  // Two losses one behind the other; the second is that of the neighbour whose copy was lost with the first (C3).
  ['lose=5:4:0 lose=5:3:1 least=4', 2],
  ['lose=0:2:0 lose=11:0:1 how=trap', 2],
  // With its node, at its first call.
  ['fault=3:1', 1],
  // Neighbours at once.
  ['nof=2 lose=6:2:0 lose=6:3:0 least=5', 2],
  ['nof=1 lose=6:2:0 lose=6:3:0 expect=lost', 2],
  ['nof=1 ratio=3 lose=7:2:0 lose=7:3:0 least=6', 2],
  ['algorithm=2 lose=4:1:0 lose=4:0:0 least=3', 2],
  // Checksums: of up to four members; of two; the holder of one and a member of it, one behind the other.
  ['algorithm=4 lose=5:3:0 lose=7:4:1 least=4', 2],
  ['algorithm=4 group=2 lose=6:2:0 least=5', 1],
  ['algorithm=5 nof=2 lose=6:0:0 lose=6:1:0 lose=9:4:1 least=5', 3],
  ['algorithm=5 nof=3 group=2 lose=6:0:0 lose=6:1:0 lose=6:2:0 least=5', 3],
  ['algorithm=4 lose=6:0:0 lose=6:1:0 expect=lost', 2],
  // From the disk; checksums are made again, and bring back the next one.
  ['algorithm=4 ratio=3 lose=7:2:0 lose=7:3:0 lose=8:0:1 least=6', 3],
  // One of each pair; one, then its partner; both of a pair at once.
  ['ranks=4 algorithm=3 lose=6:0:0 lose=6:3:0 least=5', 2],
  ['ranks=4 algorithm=3 lose=5:3:0 lose=7:2:1 least=4', 2],
  ['ranks=4 algorithm=3 lose=6:0:0 lose=6:1:0 expect=lost', 2],
  // Whole numbers come back rounded, so in every bit.
  ['algorithm=6 nof=2 lose=6:0:0 lose=6:1:0 least=5', 2],
  ['algorithm=6 lose=6:2:0 least=5', 1],
];

/** The same of figure1.c. */
const FIGURE_1: readonly (readonly [args: string, lost: number])[] = [
  ['', 0],
  ['lose=4:1', 1],
  ['lose=2:3 lose=6:0 lose=6:2 how=trap', 3],
];

/** @returns lines that are wrong */
export async function ckpt(run: UlfmRun, kills: number, wanted = (_program: string): boolean => true): Promise<number> {
  const programs = new Losing(run, join(CONFORMANCE, 'ckpt'), join(CONFORMANCE, 'ulfm'), join(CONFORMANCE, 'ft-mpi'));
  if (wanted('calls')) programs.expect((await programs.job('calls', [])).lost, 0);
  for (const [args, lost] of wanted('figure1') ? FIGURE_1 : []) {
    const options = { ft: { communicators: 'rebuild', messages: 'reset' } } as const;
    programs.expect((await programs.job('figure1', args.split(' ').filter(Boolean), true, options)).lost, lost);
  }
  if (!wanted('recovers')) return programs.wrong;
  for (const [args, lost] of LOSSES)
    programs.expect((await programs.job('recovers', args.split(' ').filter(Boolean), true)).lost, lost);
  const ranks = programs.ranksOf('recovers');
  const made = await run.calls((await programs.job('recovers', [], true)).id, ranks);
  for (let k = 0; k < kills; k++) {
    const t = run.draw(ranks);
    await programs.job(
      'recovers',
      [k % 2 === 0 ? 'nof=1' : 'algorithm=5', `fault=${t}:${1 + run.draw(made[t]!)}`],
      true,
    );
  }
  return programs.wrong;
}
