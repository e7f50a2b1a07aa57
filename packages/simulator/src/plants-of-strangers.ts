/** Planted bugs that nodes bring to light which run none of their ranks, and programs that no node can run. */
import { plant } from './plant.ts';

const STRANGERS = { only: ['false crash', 'close'] } as const;
/** …and short programs end while the node of their team leaves, which they had alone. */
const ENDS_AMONG_STRANGERS = {
  setup: {
    team: 4,
    protocol: 'pessimistic',
    mapBy: 'slot',
    nodes: 1,
    slots: 4,
    diskMs: 250,
    replaceMs: 8000,
  },
  spec: { size: 4, rounds: 8, files: false },
  only: [...STRANGERS.only, 'kill CM', 'reload'],
  faultEveryMs: 300,
} as const;

export const PLANTED_STRANGERS = [
  plant('strangers-end-jobs', 'Failures of strangers never count towards the end of a job', 100, STRANGERS),
  plant(
    'no-quarantine',
    'A node in quarantine gets no new ranks; each quarantine lasts twice as long as the previous one',
    200,
    STRANGERS,
  ),
  plant(
    'credit-to-the-last-node',
    'R1: credit for an exit goes to the node of the incarnation that sent it',
    200,
    ENDS_AMONG_STRANGERS,
  ),
  plant('no-comparison', 'A rank without visible progress for long starts on another node', 100, {
    only: ['silence', 'close'],
  }),
  plant('words-believed', "A node's reports about its rank's calls do not count", 100, { only: ['silence', 'close'] }),
  plant(
    'blame-kept',
    "If the program turns out to be at fault, the nodes' blame is taken back, and with it the quarantine",
    200,
    { only: ['crashing program'] },
  ),
] as const;
