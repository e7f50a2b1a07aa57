/** What a job may ask for under `pessimistic`. */
import type { Manifest } from '../contract/manifest.ts';

export const manifest: Manifest = {
  name: 'pessimistic',
  goesBack: 'rank',
  refuses: {
    clusters: 'the ranks form no clusters',
    ft: 'a lost rank restarts, so the program does not learn of its loss',
  },
  leastCheckpointMs: 0,
  findsCheckpointMs: false,
  texts: {
    choice: 'It restarts with the ranks of its tab, and the others continue',
    costs:
      'pessimistic message logging: every message between tabs goes through a log on the server; the ranks of a ' +
      'lost tab repeat their own work since their last checkpoint; best where ranks are lost often, for programs ' +
      'that write much while they run, and whenever in doubt',
    summary: 'pessimistic message logging',
    protection:
      'every message between nodes is logged before it is delivered (pessimistic message logging); a checkpoint of ' +
      'each rank',
    noFaults: 'The rank restarts and continues.',
    kept:
      'The server keeps the two newest of each rank. A lost rank restarts from the newest and replays the work since ' +
      'then.',
    strict: 'write each message to disk before forwarding it; slower, survives a power cut of the server',
  },
};
