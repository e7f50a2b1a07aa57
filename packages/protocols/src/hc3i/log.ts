/**
 * Clusters at the Channel Memory: within the cluster as under coordinated checkpointing; messages from other clusters
 * are logged, and pass a stage of their own before.
 */
import type { LogPolicy } from '../channel-memory/state.ts';
import { waveLog, waveRules } from '../coordinated/log.ts';
import { WaveStage } from '../coordinated/wave-stage.ts';
import { ClusterGate } from './cluster-gate.ts';
import { InterCluster } from './inter-cluster.ts';
import { Links } from './links.ts';

/** @param OfLinks a planted bug is another class */
export const clusterLog = (OfLinks: typeof Links = Links): LogPolicy => ({
  ...waveLog('hc3i'),
  inOneProcess: true, // Y6 of clusters-of-job.ts
  stages: {
    letters: ['x', 'v'],
    begin(s) {
      const { homes = [0], index } = s.options;
      const waves = new WaveStage(s, { ...waveRules, gate: (tasks, home) => new ClusterGate(tasks, home) });
      return [new InterCluster(s, new OfLinks(homes, index), waves), waves];
    },
  },
});
