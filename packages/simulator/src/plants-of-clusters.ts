/** Planted bugs of clusters (`hc3i`): planted-clusters.ts has what each does. */
import { plant } from './plant.ts';

/** CLCs follow each other closely; what only damages disks strikes elsewhere. */
const CLCS = {
  setup: { protocol: 'hc3i', checkpointMs: 300 },
  only: [
    'crash',
    'rank crash',
    'close',
    'reload',
    'zombie',
    'kill server',
    'server and nodes',
    'kill CM',
    'power loss',
    'broken link',
    'delay',
    'cut off',
  ],
} as const;

export const PLANTED_CLUSTERS = [
  plant('resent-if-greater', 'G10: after a rollback everything above the counts of the CLC comes again', 200, CLCS),
  plant(
    'delivered-before-its-clc',
    'G9: a message of a new interval is delivered after the CLC that it forces',
    100,
    CLCS,
  ),
  plant(
    'merge-takes-the-first',
    'N1: requests for a CLC merge: it names the highest interval of each cluster',
    200,
    CLCS,
  ),
  plant('undone-accepted', 'G8, G11: nothing of a dead interval is accepted, or stays in a log', 200, CLCS),
  plant('clc-number-reused', 'N5: numbers of CLCs are never used twice', 100, CLCS),
  plant(
    'garbage-depth-one',
    'The newest CLC of a failed cluster may be damaged: the one before is kept, too',
    100,
    CLCS,
  ),
  plant('back-to-the-last', 'A cluster goes back to the first CLC that depends on what is undone', 200, CLCS),
  plant('alerts-not-cascaded', 'Who goes back takes back who depends on it', 200, {
    ...CLCS,
    setup: { ...CLCS.setup, checkpointMs: 1000, clusters: [0, 0, 1, 2, 3, 3], channelMemories: 4, rooms: undefined },
    spec: { size: 6, rounds: 24, sparse: true },
  }),
  plant('second-cluster-forgotten', 'N4: a line is that of all clusters that have failed', 100, CLCS),
  plant('stamped-before-the-commit', 'S1: no stamp names the interval before its sender’s cut', 200, CLCS),
  plant('cluster-requests-at-once', 'Y4: the file service sees a request when it can never be undone', 100, {
    ...CLCS,
    spec: { files: true },
  }),
  plant('log-trimmed-by-newest', 'G12: a log keeps what the oldest kept CLC lacks', 100, CLCS),
  plant('sent-not-awaited', 'S2: a CLC counts when what its cluster had sent to others is durable there', 200, CLCS),
  plant('line-during-a-commit', 'N3: a loss waits for the outcome of commits', 200, CLCS),
] as const;
