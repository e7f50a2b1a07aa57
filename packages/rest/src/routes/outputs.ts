/** Routes of what a job reads and writes: output, result files, standard input, all of it as one archive. */
import { Type } from 'typebox';
import { AT } from '../examples.ts';
import type { Route } from '../route.ts';
import { JobParams, TaskParams, refusals } from '../schemas.ts';

const TicketView = Type.Object({ url: Type.String(), expiresAt: Type.Integer() });

const streamRoute = (name: 'stdout' | 'stderr') =>
  ({
    access: 'viewer',
    schema: {
      summary: `Bytes of ${name} of one rank, from an offset; the header mayfly-next says where to go on`,
      description:
        'Raw bytes from the offset `from` on. The header `mayfly-next` says where to go on, `mayfly-ended` is ' +
        '1 when the job has ended.',
      tags: ['outputs'],
      params: TaskParams,
      querystring: Type.Object({ from: Type.Optional(Type.Integer({ minimum: 0 })) }),
      response: refusals(401, 404),
    },
    bytes: true,
  }) satisfies Route;

export const OUTPUTS = {
  'GET /api/jobs/:id/tasks/:task/stdout': streamRoute('stdout'),
  'GET /api/jobs/:id/tasks/:task/stderr': streamRoute('stderr'),
  'GET /api/jobs/:id/files/*': {
    access: 'viewer',
    schema: {
      summary: 'A result file',
      description:
        'The bytes of a file that the job has written, also while it still writes. Pictures and text are shown ' +
        'by a browser, all else is a download.',
      tags: ['outputs'],
      params: JobParams,
      response: refusals(401, 404),
    },
    bytes: true,
  },
  'POST /api/jobs/:id/stdin': {
    access: 'own',
    takesSpace: true,
    schema: {
      summary: 'Adds raw bytes to standard input of rank 0; durable when answered. With `offset` it may be repeated',
      description:
        'Appends bytes to standard input of rank 0; they are durable when this answers. `end=1` closes it. ' +
        'With `offset` (bytes sent before) the same request may be said again without doubling anything.',
      tags: ['outputs'],
      params: JobParams,
      querystring: Type.Object({
        end: Type.Optional(Type.Union([Type.Literal('0'), Type.Literal('1')])),
        offset: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      response: { 200: Type.Object({ bytes: Type.Integer() }), ...refusals(401, 404, 409, 413, 507) },
    },
    sendsBytes: true,
    answer: { bytes: 18 },
  },
  'GET /api/jobs/:id/archive': {
    access: 'viewer',
    schema: {
      summary: 'All output of a job as one tar file: result files, and output by rank',
      description:
        'Result files under files/, standard output and error by rank under stdout/ and stderr/. Made while it ' +
        'is sent, of what there is at the moment; a file that shrinks meanwhile breaks it off.',
      tags: ['outputs'],
      params: JobParams,
      response: refusals(401, 404),
    },
    bytes: true,
  },
  'POST /api/jobs/:id/archive': {
    access: 'viewer',
    schema: {
      summary: 'An address from which the archive can be downloaded once, within a minute, without a token',
      description: 'For links of pages: a browser’s download sends no token.',
      tags: ['outputs'],
      params: JobParams,
      response: { 201: TicketView, ...refusals(401, 404, 429) },
    },
    answer: { url: '/api/downloads/0123456789abcdefghijklmnopqrstuv', expiresAt: AT + 60_000 },
  },
  'GET /api/downloads/:ticket': {
    access: 'anyone',
    schema: {
      summary: 'A download that was asked for: needs its ticket, and no token',
      description: 'The archive that POST /api/jobs/{id}/archive has promised. A ticket serves once.',
      tags: ['outputs'],
      params: Type.Object({ ticket: Type.String({ pattern: '^[0-9a-z]{32}$' }) }),
      response: refusals(404),
    },
    bytes: true,
  },
} satisfies Readonly<Record<string, Route>>;
