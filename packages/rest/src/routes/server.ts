/** Routes of the server itself: what it is, its state, its examples, its pages. */
import { Type } from 'typebox';
import { CountSchema, ExampleEntry, ExampleView, InfoView, PeerView, ServerView } from '@mayfly/wire';
import { AT } from '../examples.ts';
import type { Route } from '../route.ts';
import { refusals } from '../schemas.ts';

const Backup = Type.Object({
  path: Type.String(),
  format: Type.Integer(),
  version: Type.String(),
  at: CountSchema,
  files: CountSchema,
  bytes: CountSchema,
  pauseMs: Type.Number(),
});

export const SERVER = {
  'GET /api/info': {
    access: 'anyone',
    schema: {
      summary: 'About this server; needs no token',
      description:
        'Name and version of the server, the slots that are here, whether volunteers need a join code, limits of a ' +
        'submission, and what a job has by default.',
      tags: ['server'],
      response: { 200: InfoView },
    },
    answer: {
      name: 'mayfly',
      version: '0.2.0',
      roomNeeded: false,
      slots: { total: 12, free: 8, nodes: 4 },
      maxSubmissionBytes: 67_108_864,
      maxInputBytes: 50_331_648,
      maxMemoryBytes: 1_073_741_824,
      defaults: { graceMs: 3000, memoryBytes: 1_073_741_824 },
    },
  },
  'GET /healthz': {
    access: 'anyone',
    schema: {
      summary: 'Is it up?',
      description:
        'For load balancers and service managers: 200 while the server serves, 503 from the moment when it stops.',
      tags: ['server'],
    },
    answer: { status: 'ok' },
  },
  'GET /metrics': {
    access: 'anyone',
    schema: {
      summary: 'Prometheus metrics',
      description: 'The text format of Prometheus. The names are listed in docs/server.md.',
      tags: ['server'],
    },
    bytes: true,
  },
  'GET /api/examples': {
    access: 'viewer',
    compressed: true,
    schema: {
      summary: 'Programs that come with the server',
      description: 'What each of them does, without its sources: `GET /api/examples/{name}` has the whole program.',
      tags: ['server'],
      response: { 200: Type.Array(ExampleEntry), ...refusals(401) },
    },
    answer: [{ name: 'pi', title: 'Pi', description: 'By integration', size: 4, language: 'typescript' }],
  },
  'GET /api/examples/:name': {
    access: 'viewer',
    compressed: true,
    schema: {
      summary: 'A program that comes with the server',
      description: 'With sources, arguments and the names of its input files, ready to be submitted.',
      tags: ['server'],
      params: Type.Object({ name: Type.String() }),
      response: { 200: ExampleView, ...refusals(401, 404) },
    },
    answer: {
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
  },
  'GET /api/examples/:name/files/*': {
    access: 'viewer',
    schema: {
      summary: 'Input file of an example',
      description: 'The bytes of an input file that an example names.',
      tags: ['server'],
      params: Type.Object({ name: Type.String() }),
      response: refusals(401, 404),
    },
    bytes: true,
  },
  'POST /api/backup': {
    access: 'owner',
    takesSpace: true,
    schema: {
      summary:
        'Backup of the data directory as it is now, jobs running or not, into a new folder beside it on the server',
      description:
        'What kill -9 at this moment would have left, in a folder beside the data directory. Jobs stand still ' +
        'for `pauseMs`. `mayfly restore` makes a data directory of it.',
      tags: ['server'],
      response: { 201: Backup, ...refusals(401, 409, 507) },
    },
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
    access: 'owner',
    schema: {
      summary: 'Lets a server that stands by serve instead of this one, which stands by from then on',
      description:
        'Only where several servers share a database (`mayfly server --store`). Jobs stand still until the other ' +
        'server has them, about a second; ranks keep running. As on SIGTERM, but the process goes on and stands by. ' +
        'Which of those that stand by serves is for them to settle.',
      tags: ['server'],
      response: { 202: Type.Object({ standBys: Type.Array(PeerView) }), ...refusals(401, 409) },
    },
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
    access: 'viewer',
    schema: {
      summary: 'State of the server: storage, message rate, event loop, connections',
      description:
        'Storage by kind, the free disk and whether jobs are paused because it is full, counters of messages, ' +
        'delay of the event loop, memory. Two answers make a rate.',
      tags: ['server'],
      response: { 200: ServerView, ...refusals(401) },
    },
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
  'GET /openapi.json': {
    access: 'anyone',
    compressed: true,
    schema: { hide: true },
  },
  'GET /': {
    access: 'anyone',
    schema: { hide: true },
  },
  'GET /*': {
    access: 'anyone',
    schema: { hide: true },
  },
  'GET /frame/*': {
    access: 'anyone',
    schema: { hide: true },
  },
} satisfies Readonly<Record<string, Route>>;
