/** Which kinds of programs a node says that it runs; undefined: it says nothing. */
import { PROGRAM_KINDS, type ProgramKind } from '@mayfly/wire';
import { Random } from './random.ts';
import type { Simulation } from './simulation.ts';

export const kindsOf = (world: Simulation, name: string): readonly ProgramKind[] | undefined =>
  Random.named(world.seed, `kinds of ${name}`).pick([undefined, PROGRAM_KINDS, [world.setup.kind]]);
