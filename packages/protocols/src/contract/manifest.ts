/**
 * The manifest of a V-protocol: what a job may ask for under it, and what people read about it. Plain data, which the
 * server, the pages, the command line and the documents share; no code of a protocol comes with it.
 *
 * Example: `vcl` refuses `teams` with the reason "every message passes through the server". So the form greys the field
 * out and shows the reason, the server refuses the option with the same reason, and docs/protocols.md has a row of it.
 */
import type { ProtocolName } from '@mayfly/wire';

/** What the loss of one rank takes back, and so what takes its checkpoints together. `nothing`: no rank runs again. */
export type GoesBack = 'rank' | 'cluster' | 'job' | 'nothing';

/** What a job may ask for, and a protocol may refuse. */
export const FEATURES = [
  'scripts',
  'teams',
  'parity',
  'clusters',
  'spawn',
  'checkpoints',
  'pause',
  'moves',
  'ft',
  'strict',
] as const;
export type Feature = (typeof FEATURES)[number];

export interface Manifest {
  readonly name: ProtocolName;
  readonly goesBack: GoesBack;
  /** By what is refused: the reason, which follows a colon. Whatever is not here is accepted. */
  readonly refuses: Readonly<Partial<Record<Feature, string>>>;
  /** The shortest time between checkpoints that a job may ask for, ms. */
  readonly leastCheckpointMs: number;
  /** Of a job that asks for no time between checkpoints, Mayfly finds it while the job runs. */
  readonly findsCheckpointMs: boolean;
  readonly texts: {
    /** What happens when a rank is lost, as the form offers it. */
    readonly choice: string;
    /** What it costs, and for which jobs it is best: docs/protocols.md has the measurements. */
    readonly costs: string;
    /** In a line: its name and what it is. */
    readonly summary: string;
    /** How the job is protected; the time between checkpoints may follow. */
    readonly protection: string;
    /** What follows a lost rank, while none was lost. */
    readonly noFaults: string;
    /** Which checkpoints the server keeps. Empty: none. */
    readonly kept: string;
    /** What strict durability does, where it is accepted. */
    readonly strict: string;
  };
}
