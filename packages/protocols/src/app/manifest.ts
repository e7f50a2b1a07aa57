/** What a job may ask for under `app`. */
import type { Manifest } from '../contract/manifest.ts';

export const manifest: Manifest = {
  name: 'app',
  goesBack: 'nothing',
  refuses: {
    teams: 'every message passes through the server',
    parity: 'no checkpoints are kept',
    clusters: 'the ranks form no clusters',
    checkpoints: 'no rank restarts from one',
    pause: 'nothing is kept to resume a rank from',
    moves: 'no rank is restarted on another node',
    strict: 'messages are kept in the memory of the server only',
  },
  leastCheckpointMs: 0,
  findsCheckpointMs: false,
  texts: {
    choice: 'The other ranks learn of a loss, and the program decides',
    costs:
      'user-level failure mitigation (ULFM) or FT-MPI: nothing is logged, and a rank that starts again starts from ' +
      'main; for programs that handle the loss of a rank themselves',
    summary: 'app: the program handles the loss of a rank itself (ULFM, FT-MPI)',
    protection: 'app: the program handles the loss of a rank itself (ULFM, FT-MPI)',
    noFaults: 'No rank that is lost is restored: the others learn of it, and the program decides what to do.',
    kept: '',
    strict: '',
  },
};
