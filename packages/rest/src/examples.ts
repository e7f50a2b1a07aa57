/** Values that the examples of several routes are made of: one job, its ranks, nodes and people. */

export const ID = 'k3v9x0q2m7ab';
export const HASH = '9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8';
export const AT = 1_760_000_000_000;
export const task = {
  task: 0,
  state: 'running',
  incarnation: 1,
  node: 'n0d3n0d3n0d3n0d3',
  nodeName: 'desk-4',
  messagesIn: 120,
  bytesIn: 96_000,
  messagesOut: 118,
  bytesOut: 94_400,
  images: 2,
  imageBytes: 65_536,
  lastImageAt: AT + 40_000,
};
export const job = {
  id: ID,
  name: 'pi',
  state: 'running',
  size: 1,
  protocol: 'pessimistic',
  durability: 'behind',
  program: { language: 'typescript', entry: 'main.ts', hash: HASH },
  args: ['1000000'],
  owner: 'Ada',
  submittedAt: AT,
  startedAt: AT + 2000,
  tasks: [task],
  faults: [
    {
      at: AT + 30_000,
      task: 0,
      incarnation: 0,
      node: 'n0d3n0d3n0d3n0d4',
      cause: 'disconnected',
      assignedAfterMs: 420,
      startedAfterMs: 530,
      recoveredAfterMs: 610,
    },
  ],
  outputs: [{ path: 'out/pi.txt', bytes: 18, task: 0 }],
  outputBytes: 36,
};
export const submission = {
  name: 'pi',
  program: {
    language: 'typescript',
    entry: 'main.ts',
    sources: {
      'main.ts': "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('rank', comm.rank, 'of', comm.size);\n",
    },
  },
  size: 4,
  args: ['1000000'],
  options: { checkpointMs: 30_000 },
};
export const slotTime = {
  kinds: ['computing', 'waiting'],
  now: AT + 61_500,
  from: AT,
  widthMs: 5000,
  columns: 12,
  nextMs: 5000,
  nodes: ['n0d3n0d3n0d3n0d3'],
  slots: 'Y2AAAA==',
};
export const room = { code: 'QX7PKM', name: 'Class 7b', createdAt: AT, nodes: 5, slots: 15, free: 11, jobs: 1 };
export const board = { usefulMs: 5_400_000, replayedMs: 60_000, finished: 14 };
export const ada = { place: 1, name: 'Ada', team: 'physics', ...board, jobs: 3, here: true };
export const ok = { ok: true };
export const digest = { path: 'out/pi.txt', bytes: 18, rank: 0, sha256: HASH };
export const report = {
  format: 'mayfly-report',
  version: 1,
  at: AT + 70_000,
  server: { version: '0.2.0' },
  job: {
    id: ID,
    name: 'pi',
    state: 'done',
    program: job.program,
    args: ['1000000'],
    size: 1,
    inputs: [],
    seed: 42,
    options: {
      protocol: 'pessimistic',
      durability: 'behind',
      checkpointMs: 30_000,
      memoryBytes: 268_435_456,
      channelMemories: 1,
    },
    submittedAt: AT,
    startedAt: AT + 2000,
    endedAt: AT + 62_000,
    runMs: 60_000,
    pausedMs: 0,
    exitCode: 0,
  },
  ranks: [
    {
      rank: 0,
      state: 'done',
      exitCode: 0,
      incarnations: 2,
      messagesIn: 120,
      bytesIn: 96_000,
      messagesOut: 118,
      bytesOut: 94_400,
      images: 2,
      imageBytes: 65_536,
    },
  ],
  nodes: [{ engine: 'Chromium 140', ranks: [0] }],
  faults: [
    {
      at: AT + 30_000,
      rank: 0,
      incarnation: 0,
      cause: 'disconnected',
      slotMs: 420,
      startMs: 110,
      replayMs: 80,
      recoveredAfterMs: 610,
    },
  ],
  totals: {
    messages: 118,
    bytes: 94_400,
    images: 2,
    imageBytes: 65_536,
    incarnations: 2,
    faults: 1,
    usefulMs: 59_000,
    replayedMs: 80,
    spentMs: { computing: 59_000, replaying: 80 },
  },
  outputs: { stdout: [], stderr: [], files: [digest] },
};
