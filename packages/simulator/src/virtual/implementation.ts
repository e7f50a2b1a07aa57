/** What distinguishes the implementations that the paper compares, and what a test may break. */
import type { TaskId } from '@mayfly/wire';
import { Freeze, Gate, type WaveOptions, Waves } from '@mayfly/protocols';

export interface Implementation {
  readonly name: string;
  /** `none`: no waves. */
  readonly protocol: 'none' | 'vcl' | 'pcl';
  /** A message on its way through communication daemons: ms, and bytes/ms of their copies. */
  readonly daemon?: { readonly latency: number; readonly rate: number };
  /**
   * When a rank computes again after its image. `copied`: "the main process releases the delayed requests and
   * continues the MPI computation" (section 4.2), which is what Mayfly does. `stored`: "When the images are completely
   * stored, the process sends a message to rank 0 … and continues its execution" (section 3).
   */
  readonly resumes: 'copied' | 'stored';
}

/** The production cores, or wrong ones of a test. */
export interface Cores {
  readonly waves: (options: WaveOptions) => Waves;
  readonly gate: (tasks: number, home: (task: TaskId) => boolean) => Gate;
  readonly freeze: <Frame>() => Freeze<Frame>;
}

export const CORES: Cores = {
  waves: (options) => new Waves(options),
  gate: (tasks, home) => new Gate(tasks, home),
  freeze: () => new Freeze(),
};
