/** Routes of the server itself: what it is, who may use it, lessons and examples. */
import { AT, ok } from './examples.ts';
import type { Described } from './route-description.ts';

export const SERVER: Readonly<Record<string, Described>> = {
  'GET /api/info': {
    description: 'Name and version of the server, the slots that are here, and whether volunteers need a join code.',
    answer: {
      name: 'mayfly',
      version: '0.2.0',
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
  'POST /api/logout': {
    description:
      'Ends what a login made: the session of this browser (its cookie goes), or the token of a terminal. The ' +
      'session at the issuer stays.',
    answer: ok,
  },
  'POST /api/me/token': {
    description:
      'For `mayfly login` and scripts: a token with the name and the role of the person who is signed in on a page, ' +
      'for 30 days. Only this answer shows it.',
    answer: {
      id: 'a1b2c3d4e5',
      name: 'ada@example.org',
      role: 'submitter',
      login: 'terminal',
      createdAt: AT,
      expiresAt: AT + 30 * 86_400_000,
      token: 'mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123',
    },
  },
  'GET /api/quota': {
    description:
      'What the jobs with the name of this token use now: slots, jobs that have not ended, stored bytes; and their ' +
      'limits. A limit that is absent does not exist.',
    answer: { owner: 'Ada', used: { slots: 4, jobs: 2, bytes: 1_250_000 }, limits: { slots: 8, bytes: 2_000_000_000 } },
  },
  'GET /api/quotas': {
    description:
      'The same for every owner that has jobs, a quota or a token. `own` is what was set for this owner; if it is ' +
      'absent, nothing was.',
    answer: [
      {
        owner: 'Ada',
        used: { slots: 4, jobs: 2, bytes: 1_250_000 },
        limits: { slots: 16, jobs: 10 },
        own: { slots: 16, bytes: null },
      },
      { owner: 'owner', used: { slots: 0, jobs: 0, bytes: 0 }, limits: {} },
    ],
  },
  'PUT /api/quotas/:owner': {
    description:
      'Replaces what was set for this owner before. A number is the limit, null is no limit, and what is absent ' +
      'keeps the limit that all owners have. Nothing that runs is stopped.',
    request: { slots: 16, bytes: null },
    answer: {
      owner: 'Ada',
      used: { slots: 4, jobs: 2, bytes: 1_250_000 },
      limits: { slots: 16, jobs: 10 },
      own: { slots: 16, bytes: null },
    },
  },
  'DELETE /api/quotas/:owner': {
    description: 'The owner has the limits of all owners again. It is no error if nothing was set.',
    answer: ok,
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
  'POST /api/lesson': {
    description:
      'For the page /lesson: a fixed program, bounded in number, time and what its ranks may send, in a room of its ' +
      'own that the visitor’s page serves. `room` is the join code, where the server has one.',
    request: { room: 'QX7PKM' },
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
      version: '0.2.0',
      at: AT,
      files: 120,
      bytes: 52_428_800,
      pauseMs: 14,
    },
  },
  'POST /api/server/drain': {
    description:
      'Only where several servers share a database (`mayfly server --store`). Jobs stand still until the other ' +
      'server has them, about a second; ranks keep running. As on SIGTERM, but the process goes on and stands by. ' +
      'Which of those that stand by serves is for them to settle.',
    answer: {
      standBys: [
        {
          who: 'process 4711 on beta',
          address: 'beta.example.org:7070',
          owns: false,
          memories: 0,
          jobs: 0,
          messagesPerSecond: 0,
        },
      ],
    },
  },
  'GET /api/server': {
    description:
      'Storage by kind, the free disk and whether jobs are paused because it is full, counters of messages, ' +
      'delay of the event loop, memory. Two answers make a rate.',
    answer: {
      version: '0.2.0',
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
      servers: [
        {
          who: 'process 812 on alpha',
          address: '10.0.0.5:7070',
          owns: true,
          memories: 2,
          jobs: 2,
          messagesPerSecond: 310,
        },
        {
          who: 'process 790 on beta',
          address: '10.0.0.6:7070',
          owns: false,
          memories: 3,
          jobs: 2,
          messagesPerSecond: 1240,
        },
      ],
    },
  },
};
