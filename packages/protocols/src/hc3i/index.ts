/**
 * Clusters that checkpoint independently (hc3i): coordinated checkpoints within a cluster, as under `vcl`; between
 * clusters a message forces a checkpoint of the receivers when it makes a new dependency. A loss takes its cluster back
 * to its last checkpoint, and others only as far as they depend on what is undone. Messages between clusters are
 * logged.
 */
import type { VProtocol } from '../contract/index.ts';
import { commdOf } from '../coordinated/commd.ts';
import { CountingEndpoint } from '../coordinated/endpoint.ts';
import { imagesOf } from '../coordinated/images.ts';
import { startOf } from '../coordinated/position.ts';
import { clusterService } from './clusters-of-job.ts';
import { clusterLog } from './log.ts';
import { manifest } from './manifest.ts';

export const hc3i: VProtocol = {
  manifest,
  rank: (task, size, position, { incarnation }) => new CountingEndpoint('hc3i', task, size, position, incarnation),
  commd: commdOf('hc3i'),
  log: clusterLog(),
  images: imagesOf('hc3i'),
  recovery: {
    restarts: true,
    together: true,
    start: startOf('hc3i'),
    lost: () => undefined,
    lacks: () => undefined,
    serverRestarted: () => undefined,
  },
  service: clusterService(),
};
