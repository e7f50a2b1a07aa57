/**
 * What the pages of layout.spec.ts show: the same things before anything has happened, with little, and with as much to
 * say of them as they ordinarily have.
 */
import { deflateRawSync } from 'node:zlib';
import {
  incarnation,
  LANE_KINDS,
  SLOT_KINDS,
  taskId,
  type Fault,
  type JobView,
  type NodeView,
  type TaskView,
  type WavesView,
} from '@mayfly/wire';
import { NOW, type Answers } from './alone.ts';

/** Before anything has happened; a little; a lot. */
export const STAGES = ['none', 'short', 'long'] as const;
export type Stage = (typeof STAGES)[number];

const SECOND = 1000;
const HOUR = 3_600_000;
/** When the jobs began, ms: what has happened since stands at its time. */
const BEGUN = NOW - 26 * HOUR;
const SIZE = 4;
const RANKS = Array.from({ length: SIZE }, (_, i) => i);
const packed = (bytes: Uint8Array): string => deflateRawSync(bytes).toString('base64');

/** A number that is small, or as great as it may be. */
const numberOf = (stage: Stage, small: number, great: number): number => (stage === 'long' ? great : small);

function wave(stage: Stage, n: number, cluster?: number): WavesView['recent'][number] {
  const long = stage === 'long';
  return {
    // one that is under way, and what becomes of it
    wave: numberOf(stage, n, 120 + n),
    at: NOW - (10 - n) * SECOND,
    state: !long ? 'underWay' : n === 1 ? 'committed' : 'abandoned',
    ...(long && { ms: 754_000 }),
    ...(long && n === 2 && { reason: 'rank 3 was lost before it had stored its image of this wave' }),
    ...(long && n === 1 && cluster !== undefined && { forced: true as const }),
    ...(cluster !== undefined && { cluster }),
    images: long ? SIZE : 0,
    imageBytes: numberOf(stage, 0, 999e6),
    sentBytes: numberOf(stage, 0, 999e6),
    recorded: numberOf(stage, 0, 12_345),
    recordedBytes: numberOf(stage, 0, 123_456),
    held: numberOf(stage, 0, 12_345),
    heldBytes: numberOf(stage, 0, 123_456),
    ...(long && { stallMs: { mean: 1234, most: 65_000 } }),
  };
}

function waves(stage: Stage, clusters: boolean): WavesView {
  const some = stage !== 'none';
  const long = stage === 'long';
  const rollback = (n: number): WavesView['rolledBack'][number] => ({
    at: NOW - (6 - n) * SECOND,
    epoch: n,
    wave: numberOf(stage, 0, 128),
    ...(clusters && { cluster: n }),
    cause: 'killed',
    ranks: [taskId(0), taskId(1)],
    lostMs: numberOf(stage, 20, 754_000),
    mostMs: numberOf(stage, 10, 624_000),
  });
  return {
    ...(clusters && {
      clusters: [0, 1].map((c) => ({
        cluster: c,
        ranks: [taskId(2 * c), taskId(2 * c + 1)],
        sn: numberOf(stage, 1, 12_345),
        ddv: [numberOf(stage, 0, 12_345), numberOf(stage, 0, 12_345)],
        stored: numberOf(stage, 1, 1234),
        forced: numberOf(stage, 0, 12_345),
        timed: numberOf(stage, 0, 12_345),
        waiting: numberOf(stage, 0, 1234),
      })),
    }),
    ...(some && { periodMs: numberOf(stage, 900, 754_000) }),
    chosen: false,
    ...(some && !long && { nextAt: NOW + HOUR }),
    committed: numberOf(stage, 0, 128),
    abandoned: numberOf(stage, 0, 12),
    rollbacks: some ? 1 : 0,
    lostMs: numberOf(stage, 0, 754_000),
    recent: some ? [1, 2].map((n) => wave(stage, n, clusters ? n - 1 : undefined)) : [],
    // the second one waits until its reader asks for it
    rolledBack: !some ? [] : long ? [rollback(0), rollback(1)] : [rollback(0)],
  };
}

function task(stage: Stage, n: number): TaskView {
  const long = stage === 'long';
  return {
    task: taskId(n),
    state: 'running',
    incarnation: incarnation(numberOf(stage, 0, 12)),
    ...(stage !== 'none' && { nodeName: long ? 'a-laboratory-machine-with-a-long-name' : 'a' }),
    ...(stage !== 'none' && {
      activity: {
        state: long ? 'waiting' : 'computing',
        ...(long && { call: 'MPI_Neighbor_alltoallw', peer: taskId(1), place: 'exchange_halo (halo_exchange.c:1240)' }),
        arrivals: 1,
        sends: 1,
      },
      activitySince: NOW - numberOf(stage, SECOND, HOUR),
    }),
    messagesIn: numberOf(stage, 0, 123_456),
    bytesIn: numberOf(stage, 0, 999e6),
    messagesOut: stage === 'none' ? 0 : numberOf(stage, 1, 123_456),
    bytesOut: numberOf(stage, 0, 999e6),
    images: numberOf(stage, 0, 128),
    imageBytes: numberOf(stage, 0, 999e6),
    ...(long && { lastImageAt: NOW - 754_000, stallMs: 1234 }),
    ...(stage === 'short' && { uploading: { sentBytes: 0, ofBytes: 0 } }),
  };
}

const fault = (stage: Stage, n: number): Fault => ({
  at: NOW - (5 - n) * SECOND,
  task: taskId(n),
  incarnation: incarnation(0),
  cause: 'killed',
  ...(stage === 'long' && { assignedAfterMs: 65_000, startedAfterMs: 130_000, recoveredAfterMs: 754_000 }),
});

export const idOf = (protocol: string): string => `${protocol}aaaaaaaaaaaa`.slice(0, 12);

export function job(stage: Stage, protocol: JobView['protocol'], name = 'halo', begun = BEGUN): JobView {
  const long = stage === 'long';
  return {
    id: idOf(protocol) as JobView['id'],
    name,
    state: 'running',
    size: SIZE,
    protocol,
    durability: 'behind',
    program: { language: 'c', entry: 'main.c', hash: '0'.repeat(64) as JobView['program']['hash'] },
    args: [],
    owner: 'ada',
    submittedAt: begun,
    startedAt: begun,
    ...(long && { computed: 0.85, progress: { fraction: 0.437, repeating: [taskId(0)], remainingMs: 7_540_000 } }),
    tasks: RANKS.map((n) => task(stage, n)),
    faults: stage === 'none' ? [] : long ? [fault(stage, 0), fault(stage, 1)] : [fault(stage, 0)],
    ...((protocol === 'pcl' || protocol === 'hc3i') && { waves: waves(stage, protocol === 'hc3i') }),
    outputs:
      stage === 'none'
        ? []
        : [
            { path: 'a.txt', bytes: numberOf(stage, 1, 999e6), task: taskId(0) },
            { path: 'field-of-the-last-step-0001.txt', bytes: numberOf(stage, 0, 999e6), task: taskId(3) },
          ],
    outputBytes: 0,
  };
}

const stretch = (columns: number) => ({
  since: BEGUN,
  until: NOW,
  now: NOW,
  ended: false,
  // the last of it: who reads it asks again when half a column is over
  from: NOW - columns * SECOND,
  widthMs: SECOND,
  columns,
});

/** REST, of one job. */
export function jobAnswers(stage: Stage, protocol: JobView['protocol']): Answers {
  const id = idOf(protocol);
  const long = stage === 'long';
  const columns = long ? 60 : 3;
  const series = (small: number, great: number) => Array.from({ length: columns }, () => numberOf(stage, small, great));
  const at = `jobs/${id}`;
  return {
    ...everywhere(stage),
    [at]: job(stage, protocol),
    [`${at}/images`]:
      stage === 'none'
        ? []
        : RANKS.flatMap((rank) =>
            [2, 1].map((serial) => ({
              task: rank,
              serial,
              at: NOW - numberOf(stage, SECOND, 3_540_000),
              bytes: numberOf(stage, 1, 999e6),
              sentBytes: numberOf(stage, 1, 999e6),
              incarnation: 0,
            })),
          ),
    [`${at}/timeline`]: {
      job: id,
      size: SIZE,
      kinds: LANE_KINDS,
      ...stretch(columns),
      first: 0,
      last: SIZE - 1,
      shares: packed(new Uint8Array(columns * SIZE * LANE_KINDS.length).fill(long ? 28 : 1)),
      events: RANKS.map((rank) => ({
        at: NOW - (9 - rank) * SECOND,
        kind: 'assigned',
        task: rank,
        incarnation: numberOf(stage, 0, 12),
        ...(stage !== 'none' && { nodeName: 'a' }),
      })),
      eventsLeftOut: 0,
    },
    [`${at}/matrix`]: {
      job: id,
      size: SIZE,
      src: [0, SIZE - 1],
      dst: [0, SIZE - 1],
      binned: 1,
      cells: stage === 'none' ? [] : [[0, 1, numberOf(stage, 1, 1_234_567), numberOf(stage, 1, 999e9)]],
    },
    [`${at}/charts`]: {
      job: id,
      ...stretch(columns),
      values: {
        messages: series(1, 12_345),
        bytes: series(1, 999e6),
        logBytes: series(1, 999e6),
        imageBytes: series(1, 999e6),
      },
    },
    [`${at}/profile`]: {
      job: id,
      ranks: RANKS.map((rank) => ({
        rank,
        // all of it of one kind, so that this is 100 % and another less than one
        ms:
          stage === 'none'
            ? {}
            : Object.fromEntries(
                LANE_KINDS.map((k, i) => [k, numberOf(stage, i === 0 ? 99_000 : i === 1 ? 3 : 0, 754_000)]),
              ),
        calls:
          stage === 'none'
            ? []
            : [
                {
                  call: 'MPI_Neighbor_alltoallw',
                  ms: numberOf(stage, 3, 754_000),
                  times: numberOf(stage, 1, 123_456),
                  places: [{ place: 'exchange_halo (halo_exchange.c:1240)', ms: numberOf(stage, 1, 754_000) }],
                },
              ],
      })),
    },
    [`${at}/share`]: { shared: false },
    [`${at}/comparison`]: { runs: [] },
  };
}

export function node(stage: Stage, name: string): NodeView {
  const long = stage === 'long';
  return {
    id: `${name}0123456789`.slice(0, 10) as NodeView['id'],
    name: `${name}-laboratory-machine-with-a-long-name`,
    engine: 'Chrome 152 on Windows',
    slots: 2,
    busy: numberOf(stage, 0, 2),
    ...(long && { cores: 128, room: 'K7M2QX', rttMs: 1234, speed: 12_345, faults: 128, presentMs: 26 * HOUR }),
    state: long ? 'suspect' : 'here',
    since: NOW - numberOf(stage, SECOND, 26 * HOUR),
    lastSeen: NOW,
  };
}

/** How slots were used: not at all, or in every way that is ordinary. */
function use(stage: Stage, nodes: readonly string[]) {
  const columns = 120;
  const cells = new Uint16Array(nodes.length * columns * SLOT_KINDS.length);
  const kinds = stage === 'long' ? ['computing', 'waiting', 'resting', 'idle'] : ['idle'];
  for (let i = 0; i < cells.length; i++)
    if (kinds.includes(SLOT_KINDS[i % SLOT_KINDS.length]!)) cells[i] = 200 / kinds.length;
  return {
    kinds: SLOT_KINDS,
    now: NOW,
    from: NOW - columns * 5000,
    widthMs: 5000,
    columns,
    nextMs: 5000,
    nodes,
    slots: packed(new Uint8Array(cells.buffer)),
    memory: Array.from({ length: columns }, () => (stage === 'long' ? 999e6 : null)),
  };
}

/** REST, of what all pages of the dashboard ask for. */
export function everywhere(stage: Stage): Answers {
  const nodes = ['a', 'b'].map((name) => node(stage, name));
  const ids = nodes.map((n) => n.id);
  const seated = (task: number) => ({
    job: idOf('pcl'),
    name: stage === 'long' ? 'a-job-with-quite-a-long-name' : 'halo',
    task: numberOf(stage, task, 1000 + task),
    incarnation: numberOf(stage, 0, 12),
    state: stage === 'long' ? 'recovering' : 'running',
    ...(stage === 'long' && {
      activity: { state: 'waiting', call: 'MPI_Neighbor_alltoallw', peer: taskId(1), arrivals: 1, sends: 1 },
      activitySince: NOW - HOUR,
    }),
  });
  const entry = (place: number) => ({
    place,
    name: stage === 'long' ? `Augusta Ada King, Countess of Lovelace ${place}` : `Ada ${place}`,
    ...(stage === 'long' && { team: 'Analytical Engines' }),
    usefulMs: numberOf(stage, SECOND, 26 * HOUR),
    replayedMs: 0,
    finished: 1,
    jobs: numberOf(stage, 1, 12_345),
    here: stage === 'long',
  });
  return {
    me: { name: 'ada', role: 'owner' },
    info: { version: '1.0.0' },
    nodes,
    jobs: [
      job(stage, 'pcl', 'halo', NOW - numberOf(stage, SECOND, 26 * HOUR)),
      job(stage, 'hc3i', 'coupled', NOW - numberOf(stage, SECOND, 26 * HOUR)),
    ],
    'nodes/timeline': use(stage, ids),
    [`nodes/${ids[0]}`]: {
      now: NOW,
      node: nodes[0],
      ranks: stage === 'none' ? [] : [seated(0)],
      ...(stage === 'long' && { memory: 999e6 }),
      losses:
        stage === 'none'
          ? []
          : [0, 1].map((n) => ({
              at: NOW - numberOf(stage, SECOND, 3_540_000),
              job: idOf('pcl'),
              name: 'halo',
              task: n,
              incarnation: 0,
              cause: 'silent',
              ...(stage === 'long' && { recoveredAfterMs: 754_000 }),
            })),
      lossesLeftOut: 0,
    },
    [`nodes/${ids[0]}/timeline`]: use(stage, ids.slice(0, 1)),
    tokens: ['ada', 'grace'].map((name) => ({
      id: name,
      name,
      role: 'submitter',
      login: 'browser',
      createdAt: NOW - 26 * HOUR,
      ...(stage === 'long' && { lastUsedAt: NOW - 40 * 24 * HOUR }),
    })),
    quotas: ['ada', 'grace'].map((owner) => ({
      owner,
      used: { slots: numberOf(stage, 0, 1234), jobs: numberOf(stage, 0, 1234), bytes: numberOf(stage, 1, 999e6) },
      limits: stage === 'long' ? { slots: 1234, jobs: 1234, bytes: 999e6 } : {},
    })),
    rooms: [{ code: 'K7M2QX', name: 'Lab', createdAt: NOW - HOUR, nodes: 1, slots: 1, free: 1, jobs: 1 }],
    server: { servers: [] },
    'rooms/K7M2QX/board': {
      since: NOW - 26 * HOUR,
      names: 2,
      entries: [entry(1), entry(2)],
      teams: [],
      anonymous: { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
    },
  };
}
