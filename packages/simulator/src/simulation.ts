/**
 * What every part of a simulated run may ask of the run. A part that asks more declares it in its own file, so that no
 * part imports the run (world.ts) that it belongs to.
 */
import type { VProtocol } from '@mayfly/protocols';
import type { Agenda } from './agenda.ts';
import type { Checkers } from './checkers/index.ts';
import type { Rule } from './planted.ts';
import type { Random } from './random.ts';
import type { Setup } from './setup.ts';

export interface Simulation {
  readonly setup: Setup;
  readonly seed: number;
  readonly agenda: Agenda;
  readonly random: Random;
  readonly checkers: Checkers;
  /** The rule that the run breaks on purpose. */
  readonly undone: Rule | undefined;
  /** The V-protocol that all participants ask. */
  readonly protocol: VProtocol;
  /** Incarnations (`task.incarnation`) of which a false position was stated. */
  readonly lies: Set<string>;
  /** Writes one step into a transcript, if there is one. */
  readonly trace: ((line: string) => void) | undefined;
  /** A line for the report of a failing seed. */
  note(text: string): void;
  /** Adds `n` (default 1) to a count of the run's report. */
  count(what: string, n?: number): void;
}
