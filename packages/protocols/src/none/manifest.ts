/** What a job may ask for under `none`. */
import type { Manifest } from '../contract/manifest.ts';

export const manifest: Manifest = {
  name: 'none',
  goesBack: 'nothing',
  refuses: {
    parity: 'no checkpoints are kept',
    clusters: 'the ranks form no clusters',
    checkpoints: 'no rank restarts from one',
    pause: 'nothing is kept to resume a rank from',
    ft: 'a loss ends the job',
    moves: 'no rank is restarted on another node',
    strict: 'messages are kept in the memory of the server only',
  },
  leastCheckpointMs: 0,
  findsCheckpointMs: false,
  texts: {
    choice: 'The job ends',
    costs: 'nothing is logged and no rank can restart: for a short trial, and the baseline for measuring',
    summary: 'none: a lost rank ends the job',
    protection: 'none: a lost rank ends the job',
    noFaults: 'The first fault ends this job, because its protocol keeps nothing to restart a rank from.',
    kept: '',
    strict: '',
  },
};
