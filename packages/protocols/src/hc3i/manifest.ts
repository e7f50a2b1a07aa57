/** What a job may ask for under `hc3i`. */
import type { Manifest } from '../contract/manifest.ts';
import { TOGETHER } from '../coordinated/manifest.ts';

export const manifest: Manifest = {
  ...TOGETHER,
  name: 'hc3i',
  goesBack: 'cluster',
  refuses: {
    ...TOGETHER.refuses,
    parity: 'checkpoints of several clusters count together, so the server has all of them',
    spawn: 'a spawned process would be in no cluster',
  },
  texts: {
    choice: 'Its cluster goes back, and others as far as they depend on it',
    costs:
      'clusters of ranks that take checkpoints on their own: messages between clusters are logged, and wait for a ' +
      'checkpoint when they make a new dependency; best for parts that talk much within and little between each other',
    summary: 'hc3i: clusters with checkpoints of their own; a loss takes its cluster back, and those that depend on it',
    protection:
      'the ranks of a cluster take a checkpoint together, and a loss takes their cluster back to its last one, and ' +
      'others as far as they depend on what is undone',
    noFaults: 'The ranks of its cluster go back to their last checkpoint and continue.',
    kept:
      'The ranks of a cluster take a checkpoint together. The server keeps all that a loss in any cluster may need. ' +
      'A lost rank takes its cluster back to its newest, and others as far as they depend on what is undone.',
    strict: '',
  },
};
