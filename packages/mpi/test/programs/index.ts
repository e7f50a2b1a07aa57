/** Programs that the fabric's workers can run, by name. */
import { checkCollectives } from './oracle.ts';
import { checkpointPrograms } from './checkpoint.ts';
import { communicatorPrograms } from './communicators.ts';
import { datatypePrograms } from './datatypes.ts';
import { environmentPrograms } from './environment.ts';
import { filePrograms } from './files.ts';
import { oneSidedPrograms } from './one-sided.ts';
import { intercommunicatorPrograms } from './intercommunicators.ts';
import { pointToPointPrograms } from './point-to-point.ts';
import type { Program } from './program.ts';

export const programs: Record<string, Program> = {
  /** A program as users write it, as CommonJS. */
  source: (m, code: string) => void new Function('require', 'console', code)(() => m, m.console),
  collectives: (m, { seed, cases, long }: { seed: number; cases: number; long: boolean }) =>
    checkCollectives(m, m.COMM_WORLD, seed, cases, long),
  /** On communicators of a random split, ranks reversed. */
  'split collectives': (m, { seed, cases }: { seed: number; cases: number }) => {
    const { rank } = m.COMM_WORLD;
    const part = m.COMM_WORLD.split((rank * 7 + seed) % 3, -rank)!;
    return checkCollectives(m, part, seed + part.size, cases, false);
  },
  ...pointToPointPrograms,
  ...communicatorPrograms,
  ...datatypePrograms,
  ...intercommunicatorPrograms,
  ...environmentPrograms,
  ...checkpointPrograms,
  ...oneSidedPrograms,
  ...filePrograms,
};
