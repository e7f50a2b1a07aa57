/**
 * What OpenAPI says of each route beyond its schema: a description, and examples of what is sent and answered. A test
 * holds it complete and the examples valid.
 */

export interface Described {
  description: string;
  /** JSON that is sent. */
  request?: unknown;
  /** JSON that is answered. */
  answer?: unknown;
  /** The answer is raw bytes. */
  bytes?: true;
  /** What is sent is raw bytes. */
  sendsBytes?: true;
}

const ID = 'k3v9x0q2m7ab';
const HASH = '9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8';
const AT = 1_760_000_000_000;
const task = {
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
const job = {
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
const submission = {
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
const slotTime = {
  kinds: ['computing', 'waiting'],
  now: AT + 61_500,
  from: AT,
  widthMs: 5000,
  columns: 12,
  nextMs: 5000,
  nodes: ['n0d3n0d3n0d3n0d3'],
  slots: 'Y2AAAA==',
};
const room = { code: 'QX7PKM', name: 'Class 7b', createdAt: AT, nodes: 5, slots: 15, free: 11, jobs: 1 };
const board = { usefulMs: 5_400_000, replayedMs: 60_000, finished: 14 };
const ada = { place: 1, name: 'Ada', team: 'physics', ...board, jobs: 3, here: true };
const ok = { ok: true };
const digest = { path: 'out/pi.txt', bytes: 18, rank: 0, sha256: HASH };
const report = {
  format: 'mayfly-report',
  version: 1,
  at: AT + 70_000,
  server: { version: '0.1.0' },
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

export const DESCRIBED: Readonly<Record<string, Described>> = {
  'GET /api/info': {
    description: 'Name and version of the server, the slots that are here, and whether volunteers need a join code.',
    answer: {
      name: 'mayfly',
      version: '0.1.0',
      roomNeeded: false,
      slots: { total: 12, free: 8, nodes: 4 },
      maxSubmissionBytes: 67_108_864,
      maxInputBytes: 50_331_648,
    },
  },
  'GET /healthz': {
    description:
      'For load balancers and service managers: 200 while the server serves, 503 from the moment on in which it stops.',
    answer: { status: 'ok' },
  },
  'GET /metrics': {
    description: 'The text format of Prometheus. The names are listed in docs/server.md.',
    bytes: true,
  },
  'GET /api/me': {
    description: 'Name, role and expiry of the token of this request.',
    answer: { name: 'Ada', role: 'submitter' },
  },
  'GET /api/tokens': {
    description:
      'Names and roles, when each was made and last used (to a minute). Never the tokens themselves, which ' +
      'are kept as hashes.',
    answer: [
      { name: 'owner', role: 'owner', lastUsedAt: AT },
      { id: 'a1b2c3d4e5', name: 'Ada', role: 'submitter', createdAt: AT, lastUsedAt: AT + 60_000 },
    ],
  },
  'POST /api/tokens': {
    description: 'Creates a token. Only this answer shows it. Names are unique among the active tokens.',
    request: { name: 'Ada', role: 'submitter', expiresAt: AT },
    answer: {
      id: 'a1b2c3d4e5',
      name: 'Ada',
      role: 'submitter',
      createdAt: AT - 86_400_000,
      expiresAt: AT,
      token: 'mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123',
    },
  },
  'DELETE /api/tokens/:id': {
    description: 'The token stops working, and sockets opened with it are closed. Its jobs stay.',
    answer: ok,
  },
  'POST /api/jobs': {
    description:
      'Compiles the program and queues the job; the job starts when there are slots for all its ranks. A ' +
      'program is TypeScript, C or C++ sources, a module of WebAssembly, or an archive (docs/programs.md); ' +
      'files and standard input are base64. The job carries the name of the token as its owner.',
    request: submission,
    answer: { id: ID, warnings: [] },
  },
  'GET /api/jobs': {
    description:
      'All jobs that the server still keeps. Without tasks, faults and result files: ask for the one job to see those.',
    answer: [{ ...job, tasks: [], faults: [], outputs: [] }],
  },
  'GET /api/jobs/:id': {
    description: 'State, ranks with what each does and where, faults with the time that recovery took, result files.',
    answer: job,
  },
  'GET /api/jobs/:id/submission': {
    description: 'As it was sent with POST /api/jobs. Sending it again creates an identical new job.',
    answer: submission,
  },
  'POST /api/jobs/:id/cancel': {
    description: 'Its ranks stop at once; what it has written stays. Refused with CONFLICT when the job has ended.',
    answer: ok,
  },
  'DELETE /api/jobs/:id': {
    description:
      'Output, result files and submission are removed for good. Refused with CONFLICT while the job waits or runs.',
    answer: ok,
  },
  'POST /api/jobs/:id/pause': {
    description:
      'Ranks take images and leave; the job keeps its logs and waits for its resumption. Refused with ' +
      'CONFLICT for a job of the protocol none, or one that has ended.',
    request: { waitMs: 15_000 },
    answer: ok,
  },
  'POST /api/jobs/:id/resume': {
    description:
      'The job goes on from its images and logs as soon as there are slots for its ranks. Refused with ' +
      'CONFLICT when it is not paused.',
    answer: ok,
  },
  'GET /api/jobs/:id/timeline': {
    description:
      'Shares of time by kind, rank and column, as raw deflate in base64 of one byte each (255: the whole ' +
      'column), with faults, images and assignments as events.',
    answer: {
      job: ID,
      size: 1,
      kinds: ['computing', 'waiting'],
      since: AT,
      until: AT + 60_000,
      now: AT + 60_500,
      ended: false,
      from: AT,
      widthMs: 1000,
      columns: 60,
      first: 0,
      last: 0,
      shares: 'Y2AAAA==',
      events: [{ at: AT + 30_000, kind: 'fault', task: 0, incarnation: 0, cause: 'disconnected' }],
      eventsLeftOut: 0,
    },
  },
  'GET /api/jobs/:id/profile': {
    description:
      'In ms, over all incarnations of a rank. `ms` has the kinds of the time line; `calls` divide the time ' +
      'that the rank waited, with the number of times that it had to, and from where in the program, as ' +
      'sampled. Told every few seconds; of incarnations that were lost before the server’s last start only ' +
      'starting, dead and paused are known.',
    answer: {
      job: ID,
      ranks: [
        {
          rank: 0,
          ms: { computing: 51_200, waiting: 7_900, starting: 640 },
          calls: [
            { call: 'MPI_Allreduce', ms: 7_100, times: 940, places: [{ place: 'residual (cg.c:88)', ms: 7_090 }] },
            { call: 'MPI_Recv', ms: 800, times: 31, places: [{ place: 'exchange (halo.c:40)', ms: 795 }] },
          ],
        },
      ],
    },
  },
  'GET /api/jobs/:id/matrix': {
    description:
      'Who sent how much to whom. A cell is [bin of sources, bin of destinations, messages, bytes]; a bin ' +
      'holds `binned` ranks.',
    answer: { job: ID, size: 4, src: [0, 3], dst: [0, 3], binned: 1, cells: [[0, 1, 12, 9600]] },
  },
  'GET /api/jobs/:id/charts': {
    description:
      'By column: messages and bytes between ranks per second; bytes in the log of messages, and of the ' +
      'newest image of each rank (means). null: the server was away. Columns are a second times a power of ' +
      'two wide.',
    answer: {
      job: ID,
      since: AT,
      until: AT + 2000,
      now: AT + 2100,
      ended: false,
      from: AT,
      widthMs: 1000,
      columns: 2,
      values: { messages: [120, null], bytes: [96_000, null], logBytes: [48_000, null], imageBytes: [0, null] },
    },
  },
  'POST /api/lesson': {
    description:
      'For the page /lesson: a fixed program, bounded in number and time, in a room of its own that the ' +
      'visitor’s page serves.',
    answer: { code: 'QX7PKM' },
  },
  'GET /api/lesson/:code': {
    description: 'State of each rank with the length of its log, faults and what rank 0 has printed.',
    answer: {
      state: 'running',
      steps: 2,
      ranks: [{ rank: 0, state: 'running', incarnation: 0, logged: 4, read: 4 }],
      faults: [],
      output: 'lap 1\n',
    },
  },
  'POST /api/lesson/:code/step': {
    description: 'The ranks pass the token round their ring once, which makes one message for each of them.',
    answer: ok,
  },
  'DELETE /api/lesson/:code': {
    description: 'Ends the job of the lesson, forgets it, and closes its room.',
    answer: ok,
  },
  'POST /api/jobs/:id/checkpoint': {
    description:
      'Every rank takes an image at its next MPI call, or while it waits in one. The images come later: GET ' +
      '/api/jobs/{id}/images.',
    answer: { asked: [0, 1, 2, 3] },
  },
  'POST /api/jobs/:id/tasks/:task/checkpoint': {
    description: 'The one rank takes an image at its next MPI call, or while it waits in one.',
    answer: ok,
  },
  'POST /api/jobs/:id/tasks/:task/kill': {
    description:
      'Ends the incarnation that runs now, as a closed tab would. The next one takes over and the answer of ' +
      'the job stays the same; a job of the protocol none fails. CONFLICT while the rank is at no node.',
    answer: ok,
  },
  'GET /api/jobs/:id/images': {
    description:
      'Complete checkpoint images that a restart could begin from, oldest first per rank; at most two are kept.',
    answer: [{ task: 0, image: `${ID}-0-1-2`, serial: 2, incarnation: 1, bytes: 65_536, sentBytes: 12_288, at: AT }],
  },
  'GET /api/jobs/:id/tasks/:task/stdout': {
    description:
      'Raw bytes from the offset `from` on. The header `mayfly-next` says where to go on, `mayfly-ended` is ' +
      '1 when the job has ended.',
    bytes: true,
  },
  'GET /api/jobs/:id/tasks/:task/stderr': {
    description:
      'Raw bytes from the offset `from` on. The header `mayfly-next` says where to go on, `mayfly-ended` is ' +
      '1 when the job has ended.',
    bytes: true,
  },
  'GET /api/jobs/:id/files/*': {
    description:
      'The bytes of a file that the job has written, also while it still writes. Pictures and text are shown ' +
      'by a browser, all else is a download.',
    bytes: true,
  },
  'POST /api/jobs/:id/stdin': {
    description:
      'Appends bytes to standard input of rank 0; they are durable when this answers. `end=1` closes it. ' +
      'With `offset` (bytes sent before) the same request may be said again without doubling anything.',
    sendsBytes: true,
    answer: { bytes: 18 },
  },
  'GET /api/jobs/:id/report': {
    description:
      'The run in numbers, also while it is running. `version` rises when a field changes its meaning or ' +
      'goes. Hashes of what it wrote (SHA-256) are there when it has ended. Phases of a fault are ms.',
    answer: { ...report, nodes: [{ name: 'desk-4', engine: 'Chromium 140', ranks: [0] }] },
  },
  'GET /api/reports/:id': {
    description:
      'The report of a job that is shared, without names of volunteers and without the text of an error. ' +
      'NOT_FOUND for a job that is not shared, as for one that is not there.',
    answer: report,
  },
  'POST /api/jobs/:id/again': {
    description:
      'The second run gets the input of an interactive job at once. Random numbers are the same in both ' +
      'runs; a program that reads the clock, or prints who came first, can legitimately differ. Refused with ' +
      'CONFLICT while the job has not ended.',
    request: { room: null },
    answer: { id: 'm2w8c4r6t1yz', warnings: [] },
  },
  'GET /api/jobs/:id/comparison': {
    description:
      'The first run and all that were made of it with POST /api/jobs/{id}/again. Compared are how they ' +
      'ended, standard output of every rank and result files; not standard error, and nothing of a run that ' +
      'was cancelled or has not ended (`same` is absent then).',
    answer: {
      job: ID,
      streams: 1,
      files: 1,
      bytes: 36,
      runs: [{ job: 'm2w8c4r6t1yz', name: 'pi (again)', state: 'done', faults: 0, same: true, differences: [] }],
    },
  },
  'GET /api/jobs/:id/archive': {
    description:
      'Result files under files/, standard output and error by rank under stdout/ and stderr/. Made while it ' +
      'is sent, of what there is at the moment; a file that shrinks meanwhile breaks it off.',
    bytes: true,
  },
  'POST /api/jobs/:id/archive': {
    description: 'For links of pages: a browser’s download sends no token.',
    answer: { url: '/api/downloads/0123456789abcdefghijklmnopqrstuv', expiresAt: AT + 60_000 },
  },
  'GET /api/downloads/:ticket': {
    description: 'The archive that POST /api/jobs/{id}/archive has promised. A ticket serves once.',
    bytes: true,
  },
  'GET /api/jobs/:id/share': {
    description: 'Whether GET /api/reports/{id} answers without a token.',
    answer: { shared: true },
  },
  'PUT /api/jobs/:id/share': {
    description: 'From now on GET /api/reports/{id} and the page /report/{id} need no token.',
    answer: ok,
  },
  'DELETE /api/jobs/:id/share': {
    description: 'GET /api/reports/{id} and the page /report/{id} need a token again.',
    answer: ok,
  },
  'GET /api/nodes': {
    description:
      'Volunteers that are here or were until lately: engine, slots, room, round trip of a heartbeat, ' +
      'measured speed, and how often ranks were lost there.',
    answer: [
      {
        id: 'n0d3n0d3n0d3n0d3',
        name: 'desk-4',
        engine: 'Chromium 140',
        slots: 3,
        busy: 1,
        cores: 4,
        rttMs: 2.5,
        faults: 0,
        record: true,
        runs: ['wasm', 'typescript'],
        state: 'here',
        since: AT,
        lastSeen: AT + 1000,
      },
    ],
  },
  'GET /api/nodes/timeline': {
    description:
      'How many slots of each node did what, in the mean over each column: `slots` is raw deflate in base64 ' +
      'of u16 (little endian) by node, column and kind, in hundredths of a slot. A column comes when it is ' +
      'over; who asks again with `from` gets what is new. Nodes that left are in it for ten minutes.',
    answer: slotTime,
  },
  'GET /api/nodes/:id': {
    description:
      'The node, the ranks that have its slots now, and the incarnations that were lost there, newest first, ' +
      'as far as their jobs are remembered. NOT_FOUND ten minutes after it left.',
    answer: {
      now: AT + 60_000,
      node: {
        id: 'n0d3n0d3n0d3n0d3',
        name: 'desk-4',
        engine: 'Chromium 140',
        slots: 3,
        busy: 1,
        cores: 4,
        rttMs: 2.5,
        faults: 1,
        state: 'here',
        since: AT,
        lastSeen: AT + 59_000,
      },
      ranks: [{ job: ID, name: 'pi', task: 0, incarnation: 1, state: 'running' }],
      memory: 16_777_216,
      losses: [
        { at: AT + 30_000, job: ID, name: 'pi', task: 0, incarnation: 0, cause: 'crashed', recoveredAfterMs: 900 },
      ],
      lossesLeftOut: 0,
    },
  },
  'GET /api/nodes/:id/timeline': {
    description:
      'As GET /api/nodes/timeline, of one node; and the bytes of the linear memories of its C and C++ ranks, ' +
      'by column.',
    answer: { ...slotTime, memory: Array<number>(12).fill(16_777_216) },
  },
  'GET /api/rooms': {
    description: 'Rooms that are open, each with its join code and how many nodes, slots and jobs it has.',
    answer: [room],
  },
  'POST /api/rooms': {
    description: 'The answer has the join code. Volunteers who join with it run only the room’s jobs.',
    request: { name: 'Class 7b' },
    answer: { ...room, nodes: 0, slots: 0, free: 0, jobs: 0 },
  },
  'DELETE /api/rooms/:code': {
    description: 'Its code stops working. Refused with CONFLICT while a job of the room waits or runs.',
    answer: ok,
  },
  'GET /api/rooms/:code/board': {
    description:
      'Time of ranks that volunteers with a name have given in the room, the most first, teams summed. `-` ' +
      'in place of the code: volunteers without a room. With `name` and `team`: where that one stands.',
    answer: {
      since: AT,
      names: 1,
      entries: [ada],
      you: ada,
      teams: [{ team: 'physics', names: 1, ...board }],
      anonymous: { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
    },
  },
  'GET /api/checkpoint-advice': {
    description:
      '√(2·C·M) of Young and Daly, from the cost C of an image and the mean time M to a loss, both measured ' +
      'in the room. `measured` is false while too little is known.',
    answer: { checkpointMs: 21_000, measured: true, costMs: 40, mtbfMs: 5_500_000, faults: 6, rankMs: 33_000_000 },
  },
  'GET /api/examples': {
    description: 'Complete programs with sources, arguments and the names of their input files, ready to be submitted.',
    answer: [
      {
        name: 'pi',
        title: 'Pi',
        description: 'By integration',
        size: 4,
        args: ['1000000'],
        language: 'typescript',
        flags: [],
        entry: 'main.ts',
        sources: { 'main.ts': 'export {};' },
        files: [],
      },
    ],
  },
  'GET /api/examples/:name/files/*': { description: 'The bytes of an input file that an example names.', bytes: true },
  'POST /api/backup': {
    description:
      'What kill -9 at this moment would have left, in a folder beside the data directory. Jobs stand still ' +
      'for `pauseMs`. `mayfly restore` makes a data directory of it.',
    answer: {
      path: '/var/lib/mayfly-backups/2026-01-01T00-00-00.000',
      format: 1,
      version: '0.1.0',
      at: AT,
      files: 120,
      bytes: 52_428_800,
      pauseMs: 14,
    },
  },
  'GET /api/server': {
    description:
      'Storage by kind, the free disk and whether jobs are paused because it is full, counters of messages, ' +
      'delay of the event loop, memory. Two answers make a rate.',
    answer: {
      version: '0.1.0',
      node: 'v20.20.2',
      startedAt: AT,
      now: AT + 60_000,
      nodes: 4,
      slots: 12,
      busy: 4,
      jobs: { running: 1 },
      dashboards: 1,
      dataLinks: 4,
      imageLinks: 4,
      appends: 12_000,
      appendedBytes: 9_600_000,
      receivedBytes: 9_900_000,
      sentBytes: 9_800_000,
      logBytes: 4_194_304,
      storage: {
        at: AT + 50_000,
        log: 4_194_304,
        images: 8_388_608,
        jobs: 1_048_576,
        registry: 262_144,
        freeBytes: 50_000_000_000,
        limitBytes: 21_474_836_480,
      },
      disk: {
        state: 'ok',
        directory: '/var/lib/mayfly',
        freeBytes: 50_000_000_000,
        totalBytes: 200_000_000_000,
        reserveBytes: 268_435_456,
      },
      eventLoopMs: { mean: 0.2, p99: 1.4, max: 12 },
      memoryBytes: 120_000_000,
      cpu: 0.05,
    },
  },
};
