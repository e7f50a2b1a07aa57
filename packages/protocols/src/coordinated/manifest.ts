/** What a job may ask for under `vcl` and `pcl`. */
import type { Manifest } from '../contract/manifest.ts';

/** What follows from checkpoints that are taken together, wherever the ranks are. */
export const TOGETHER = {
  refuses: {
    scripts:
      'its ranks take a checkpoint together, wherever they are, and a TypeScript rank takes one only where its ' +
      'program asks for it',
    teams: 'every message passes through the server',
    ft: 'a lost rank restarts, so the program does not learn of its loss',
    strict: 'output is final only when a checkpoint on disk covers it, so a power cut undoes nothing',
  },
  leastCheckpointMs: 100,
  findsCheckpointMs: true,
} as const;

const both = {
  ...TOGETHER,
  goesBack: 'job',
  refuses: { ...TOGETHER.refuses, clusters: 'the ranks form no clusters' },
} as const;

const texts = {
  noFaults: 'All ranks go back to the last checkpoint and continue from there.',
  kept:
    'All ranks take a checkpoint together. The server keeps the two newest that all ranks have. A lost rank takes ' +
    'all of them back to the newest.',
  strict: '',
} as const;

const protection = (kind: string): string =>
  `all ranks take a checkpoint together, and a loss takes all of them back to the last one (${kind})`;

export const vcl: Manifest = {
  ...both,
  name: 'vcl',
  texts: {
    ...texts,
    choice: 'All ranks go back to the last checkpoint',
    costs:
      'coordinated checkpointing: nothing is logged between checkpoints; all ranks repeat their work since the last ' +
      'one; output is final some seconds late; best for programs that exchange many messages and seldom lose a rank',
    summary: 'vcl: coordinated checkpointing; a loss takes all ranks back to the last checkpoint',
    protection: protection('coordinated checkpointing'),
  },
};

export const pcl: Manifest = {
  ...both,
  name: 'pcl',
  texts: {
    ...texts,
    choice: 'All ranks go back, and checkpoints stop the sending',
    costs:
      'blocking coordinated checkpointing: as before, but for each checkpoint a rank holds back what it sends until ' +
      'all ranks do so and it has taken its own; for comparing the two',
    summary: 'pcl: blocking coordinated checkpointing; a loss takes all ranks back to the last checkpoint',
    protection: protection('blocking coordinated checkpointing'),
  },
};
