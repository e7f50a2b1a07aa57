/** What the fabric asks of the worker of a rank, and what that answers. */
import type { ExitReport } from '@mayfly/wire';
import type { DeviceOptions } from '@mayfly/mpi/test-fabric';

export interface Job {
  rank: number;
  size: number;
  inboxes: SharedArrayBuffer[];
  module: WebAssembly.Module;
  args: string[];
  files: Record<string, Uint8Array>;
  cycle: number | undefined;
  fresh: number | undefined;
  unwind: number | undefined;
  reenter: boolean;
  memoryBytes: number;
  scratch: boolean;
  options: DeviceOptions;
  spawned?: { first: number; root: number; appnum: number };
}

export interface RankResult {
  exit: ExitReport | undefined;
  stdout: string;
  stderr: string;
  /** The messages that both came in: 'out …' or 'err …'. */
  written: string[];
  /** Result files as the world has them at the end. */
  files: Record<string, Uint8Array>;
  /**
   * Result files of all ranks as the server has them: what stdio wrote and what went through MPI-IO. The same object at
   * every rank.
   */
  shared: Record<string, Uint8Array>;
  /** Images taken (and restored). */
  images: number;
  /** The host's own failure. */
  died: string | undefined;
}

export type Answer = Omit<RankResult, 'shared'>;
