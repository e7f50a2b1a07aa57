/** Routes of what has happened in a job over time. */
import { Type } from 'typebox';
import { ChartsView, MatrixView, ProfileView, TimelineView } from '@mayfly/wire';
import { ID, AT } from '../examples.ts';
import type { Route } from '../route.ts';
import { JobParams, refusals } from '../schemas.ts';

const Rank = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));
const Moment = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));

export const HISTORY = {
  'GET /api/jobs/:id/timeline': {
    access: 'viewer',
    schema: {
      summary:
        'What the time of each rank went to, in columns, and what happened; from and to in ms of the ' +
        'server’s clock, columns as wanted at most',
      description:
        'Shares of time by kind, rank and column, as raw deflate in base64 of one byte each (255: the whole ' +
        'column), with faults, images and assignments as events.',
      tags: ['history'],
      params: JobParams,
      querystring: Type.Object({
        from: Moment,
        to: Moment,
        first: Rank,
        last: Rank,
        columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 2048 })),
        events: Type.Optional(Type.Union([Type.Literal('0'), Type.Literal('1')])),
      }),
      response: { 200: TimelineView, ...refusals(400, 401, 404) },
    },
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
    access: 'viewer',
    compressed: true,
    schema: {
      summary: 'Where the time of each rank went, in sum: by kind, and of the time that it waited, by MPI call',
      description:
        'In ms, over all incarnations of a rank. `ms` has the kinds of the time line; `calls` divide the time ' +
        'that the rank waited, with the number of times that it had to, and from where in the program, as ' +
        'sampled. Told every few seconds; of incarnations that were lost before the server’s last start only ' +
        'starting, dead and paused are known.',
      tags: ['history'],
      params: JobParams,
      response: { 200: ProfileView, ...refusals(401, 404) },
    },
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
    access: 'viewer',
    compressed: true,
    schema: {
      summary: 'Messages and bytes from rank to rank, as logged; bins of ranks where there are more than `bins`',
      description:
        'Who sent how much to whom. A cell is [bin of sources, bin of destinations, messages, bytes]; a bin ' +
        'holds `binned` ranks.',
      tags: ['history'],
      params: JobParams,
      querystring: Type.Object({
        srcFirst: Rank,
        srcLast: Rank,
        dstFirst: Rank,
        dstLast: Rank,
        bins: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
      }),
      response: { 200: MatrixView, ...refusals(400, 401, 404) },
    },
    answer: { job: ID, size: 4, src: [0, 3], dst: [0, 3], binned: 1, cells: [[0, 1, 12, 9600]] },
  },
  'GET /api/jobs/:id/charts': {
    access: 'viewer',
    compressed: true,
    schema: {
      summary:
        'Throughput, size of the log and size of the images over the life of a job, in columns, as many as ' +
        'wanted at most',
      description:
        'By column: messages and bytes between ranks per second; bytes in the log of messages, and of the ' +
        'newest image of each rank (means). null: the server was away. Columns are a second times a power of ' +
        'two wide.',
      tags: ['history'],
      params: JobParams,
      querystring: Type.Object({ columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 2048 })) }),
      response: { 200: ChartsView, ...refusals(400, 401, 404) },
    },
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
} satisfies Readonly<Record<string, Route>>;
