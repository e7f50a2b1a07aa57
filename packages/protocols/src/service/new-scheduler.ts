/** The checkpoint scheduler of a job that is opened, if its protocol has one. */
import { taskId, wholeEveryOf } from '@mayfly/wire';
import type { JobSpec } from '../dispatcher/events.ts';
import type { VProtocol } from '../contract/index.ts';
import { ClustersOfJob } from './clusters-of-job.ts';
import type { SchedulerOfJob } from './scheduler-of-job.ts';
import { WavesOfJob, type WavesHost } from './waves-of-job.ts';

/** A first wave that takes longer is abandoned, ms. */
const WAVE_MS = 60_000;

export function newScheduler(
  { scheduler, clusters }: Pick<VProtocol, 'scheduler' | 'clusters'>,
  { id: job, size, channelMemories, checkpointMs, clusterCheckpointMs: timers, parity, clusters: homes = [] }: JobSpec,
  host: WavesHost,
): SchedulerOfJob | undefined {
  const settings = {
    periodMs: checkpointMs > 0 ? checkpointMs : undefined,
    waveMs: WAVE_MS,
    wholeEvery: parity && wholeEveryOf(parity),
  };
  if (clusters) {
    const tasks = Array.from({ length: channelMemories }, (_, cluster) =>
      homes.flatMap((home, t) => (home === cluster ? [taskId(t)] : [])),
    );
    const scheduled = clusters({ job, tasks, settings, timers });
    return new ClustersOfJob(job, tasks, scheduled, host, checkpointMs > 0 || timers !== undefined);
  }
  const participants = [...Array.from({ length: channelMemories }, (_, cm) => `cm${cm}`), 'images'];
  const core = scheduler?.({ job, tasks: size, participants, settings });
  return core && new WavesOfJob(job, core, host, checkpointMs > 0);
}
