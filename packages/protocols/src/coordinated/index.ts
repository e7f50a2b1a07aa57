/**
 * Coordinated checkpointing (blocking-vs-nonblocking, sections 3 and 4): without blocking, by waves of Chandy and
 * Lamport, as MPICH-Vcl has it (`vcl`), and with blocking, as MPICH2-Pcl has it (`pcl`). Nothing is logged between
 * waves; a loss takes all tasks back to the last wave. The two differ in one thing: under `pcl` the channels are empty
 * when the images are taken, but for what waits behind the marks.
 */
import type { Manifest, VProtocol } from '../contract/index.ts';
import { commdOf } from './commd.ts';
import { CountingEndpoint } from './endpoint.ts';
import { imagesOf } from './images.ts';
import { waveLog } from './log.ts';
import * as manifests from './manifest.ts';
import { startOf } from './position.ts';
import { waveService } from './waves-of-job.ts';

function coordinated(manifest: Manifest): VProtocol {
  const protocol = manifest.name;
  return {
    manifest,
    rank: (task, size, position, { incarnation }) => new CountingEndpoint(protocol, task, size, position, incarnation),
    commd: commdOf(protocol),
    log: waveLog(protocol),
    images: imagesOf(protocol),
    recovery: {
      restarts: true,
      together: true,
      start: startOf(protocol),
      lost: () => undefined,
      lacks: () => undefined,
      serverRestarted: () => undefined,
    },
    service: waveService(),
  };
}

export const vcl = coordinated(manifests.vcl);
export const pcl = coordinated(manifests.pcl);
