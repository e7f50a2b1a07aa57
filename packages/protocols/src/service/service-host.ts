/** What the composed cores need of their host (job-service.ts). */
import type { JobId, SpawnGroup } from '@mayfly/wire';
import type { DispatcherEffect } from '../dispatcher/effects.ts';
import type { CheckpointServerEffect } from '../images/events.ts';
import type { WaveNews } from './part.ts';

/** Effects that leave the cores. Hosts only note down `taskDone` and `complete`. */
export type DispatcherIo = Exclude<
  DispatcherEffect,
  {
    type:
      | 'fenceCs'
      | 'fenceCm'
      | 'teams'
      | 'exitedInTeam'
      | 'unattended'
      | 'goesBack'
      | 'rolledBack'
      | 'wantsWave'
      | 'taskDead';
  }
>;
export type ImagesIo = Exclude<
  CheckpointServerEffect,
  { type: 'cover' | 'uncover' | 'trim' | 'chosen' | 'lost' | 'waveChecked' | 'nearStored' | 'waveDamaged' }
>;

export interface ServiceHost {
  /** ms since the epoch. */
  now(): number;
  dispatcher(effect: DispatcherIo): void;
  images(effect: ImagesIo): void;
  /** A core threw: a defect. Throws it again, or continues with the next event. */
  defect(core: 'dispatcher' | 'images' | 'part', event: string, error: unknown): void;
  /** Makes changes durable, in the order of all commits, then calls `then`; never, if the process ends before. */
  commit(changes: readonly (readonly [key: string, value: unknown])[], then: () => void): void;
  /** The job gets these tasks: answered by {@link JobService.spawned}. Absent: no job is under FT-MPI's modes. */
  replace?(job: JobId, group: SpawnGroup): void;
  /** Of the waves of a job, for people. */
  log(level: 'info' | 'warn' | 'error', job: JobId, message: string): void;
  /** What the waves of a job are ({@link JobService.waves}) has changed; `news`: for a time line. */
  waves?(job: JobId, news: WaveNews | undefined): void;
}
