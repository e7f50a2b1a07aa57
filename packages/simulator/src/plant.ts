/** What a planted bug is: planted.ts lists them. */
import type { FaultKind } from './fault-kinds.ts';
import type { ProgramSpec } from './program.ts';
import type { Setup } from './setup.ts';

/** What seeds are held to, where a rule speaks of one mode, or of few kinds of faults. */
export interface Held {
  readonly setup?: Partial<Setup>;
  readonly spec?: Partial<ProgramSpec>;
  readonly only?: readonly FaultKind[];
  /** Mean time between faults, ms. */
  readonly faultEveryMs?: number;
}

export interface Planted {
  /** What is undone. */
  readonly rule: string;
  /** The sentence of the docs or of the paper that it breaks. */
  readonly says: string;
  /** Seeds within which the campaign must find it. */
  readonly within: number;
  readonly held?: Held;
}

export const plant = <const R extends string>(
  rule: R,
  says: string,
  within: number,
  held?: Planted['held'],
): Planted & { readonly rule: R } => ({ rule, says, within, ...(held ? { held } : {}) });
