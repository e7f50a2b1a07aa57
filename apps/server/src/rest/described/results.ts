/** Routes of what a job has written, and of what is made of it: reports, comparisons, archives. */
import { ID, AT, ok, report } from './examples.ts';
import type { Described } from './route-description.ts';

export const RESULTS: Readonly<Record<string, Described>> = {
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
};
