/** Routes of jobs: how they are submitted, watched, paused and ended. */
import { Type } from 'typebox';
import { JobSubmission, JobView, RoomCode } from '@mayfly/wire';
import { ID, AT, job, submission, ok } from '../examples.ts';
import type { Route } from '../route.ts';
import { Asked, Created, Images, JobParams, Ok, Pause, TaskParams, refusals } from '../schemas.ts';

/** `room`: null for none. `rooms`: one for each cluster (`hc3i`). Neither: the rooms of the first run. */
const Again = Type.Object(
  {
    room: Type.Optional(Type.Union([RoomCode, Type.Null()])),
    rooms: JobSubmission.properties.rooms,
  },
  { additionalProperties: false },
);

export const JOBS = {
  'POST /api/jobs': {
    access: 'submitter',
    takesSpace: true,
    schema: {
      summary: 'Submit a job',
      description:
        'Compiles the program and queues the job; the job starts when there are slots for all its ranks. A ' +
        'program is TypeScript, C or C++ sources, a module of WebAssembly, or an archive (docs/programs.md); ' +
        'files and standard input are base64. `further` lists programs that share MPI_COMM_WORLD with it, each with ' +
        'ranks and arguments of its own (MPMD). The job carries the name of the token as its owner. With notify, the ' +
        'server posts the end of the job to that URL (docs/server.md, Webhooks). With an Idempotency-Key it may be ' +
        'sent again within 24 hours: the same key and body of the same owner answer with the first job.',
      tags: ['jobs'],
      headers: Type.Object({
        'idempotency-key': Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' })),
      }),
      body: JobSubmission,
      response: { 201: Created, ...refusals(400, 401, 409, 413, 422, 429, 507) },
    },
    request: submission,
    answer: { id: ID, warnings: [] },
  },
  'GET /api/jobs': {
    access: 'viewer',
    schema: {
      summary: 'All jobs, newest first, without tasks',
      description:
        'All jobs that the server still keeps, without tasks, faults and result files: ask for one job to see them.',
      tags: ['jobs'],
      response: { 200: Type.Array(JobView), ...refusals(401) },
    },
    answer: [{ ...job, tasks: [], faults: [], outputs: [] }],
  },
  'GET /api/jobs/:id': {
    access: 'viewer',
    schema: {
      summary: 'One job',
      description: 'State, ranks with what each does and where, faults with the time that recovery took, result files.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: JobView, ...refusals(401, 404) },
    },
    answer: job,
  },
  'GET /api/jobs/:id/submission': {
    access: 'viewer',
    schema: {
      summary: 'The submission, as the server received it',
      description: 'As it was sent with POST /api/jobs. Sending it again creates an identical new job.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: JobSubmission, ...refusals(401, 404) },
    },
    answer: submission,
  },
  'POST /api/jobs/:id/cancel': {
    access: 'own',
    schema: {
      summary: 'End a job',
      description: 'Its ranks stop at once; what it has written stays. Refused with CONFLICT when the job has ended.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: Ok, ...refusals(401, 404, 409, 507) },
    },
    answer: ok,
  },
  'DELETE /api/jobs/:id': {
    access: 'own',
    schema: {
      summary: 'Delete an ended job and all its files',
      description:
        'Output, result files and submission are removed for good. Refused with CONFLICT while the job waits or runs.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: Ok, ...refusals(401, 404, 409, 507) },
    },
    answer: ok,
  },
  'POST /api/jobs/:id/pause': {
    access: 'own',
    schema: {
      summary:
        'Pause a job: each rank takes an image (for at most `waitMs`, default 15 s) and gives its slot ' +
        'back; the job stays so until it is resumed',
      description:
        'Ranks take images and leave; the job keeps its logs and waits for its resumption. Refused with ' +
        'CONFLICT for a job of the protocol none, or one that has ended. With vcl and pcl all ranks take one ' +
        'checkpoint together; without it they resume from the one before.',
      tags: ['jobs'],
      params: JobParams,
      body: Type.Optional(Type.Union([Pause, Type.Null()])),
      response: { 200: Ok, ...refusals(400, 401, 404, 409, 507) },
    },
    request: { waitMs: 15_000 },
    answer: ok,
  },
  'POST /api/jobs/:id/resume': {
    access: 'own',
    schema: {
      summary: 'Resume a paused job as soon as there are slots for its ranks',
      description:
        'The job goes on from its images and logs as soon as there are slots for its ranks. Refused with ' +
        'CONFLICT when it is not paused.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: Ok, ...refusals(401, 404, 409, 507) },
    },
    answer: ok,
  },
  'POST /api/jobs/:id/checkpoint': {
    access: 'own',
    schema: {
      summary:
        'Ask every rank of a job that has not ended for a checkpoint, now or as soon as it runs; answers ' +
        'which were asked',
      description:
        'Every rank takes an image at its next MPI call, or while it waits in one. The images come later: GET ' +
        '/api/jobs/{id}/images.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: Asked, ...refusals(401, 404, 409) },
    },
    answer: { asked: [0, 1, 2, 3] },
  },
  'POST /api/jobs/:id/tasks/:task/checkpoint': {
    access: 'own',
    schema: {
      summary: 'Ask a rank for a checkpoint now',
      description:
        'The one rank takes an image at its next MPI call, or while it waits in one. With vcl and pcl all do.',
      tags: ['jobs'],
      params: TaskParams,
      response: { 200: Ok, ...refusals(401, 404, 409) },
    },
    answer: ok,
  },
  'POST /api/jobs/:id/tasks/:task/kill': {
    access: 'own',
    schema: {
      summary: 'Kill the running incarnation of a rank (the server restarts the rank)',
      description:
        'Ends the incarnation that runs now, as a closed tab would. The next one takes over and the answer of ' +
        'the job stays the same; with vcl and pcl all ranks go back to their last checkpoint; a job of the ' +
        'protocol none fails. CONFLICT while the rank is at no node.',
      tags: ['jobs'],
      params: TaskParams,
      response: { 200: Ok, ...refusals(401, 404, 409) },
    },
    answer: ok,
  },
  'GET /api/jobs/:id/images': {
    access: 'viewer',
    schema: {
      summary: 'Complete checkpoint images of a running job',
      description:
        'Complete checkpoint images that a restart could begin from, oldest first per rank; at most two are kept. ' +
        'With vcl and pcl those of a checkpoint under way are listed too.',
      tags: ['jobs'],
      params: JobParams,
      response: { 200: Images, ...refusals(401, 404) },
    },
    answer: [{ task: 0, image: `${ID}-0-1-2`, serial: 2, incarnation: 1, bytes: 65_536, sentBytes: 12_288, at: AT }],
  },
  'POST /api/jobs/:id/again': {
    access: 'submitter',
    takesSpace: true,
    schema: {
      summary:
        'Run an ended job once more, with the same input, seed and options; the two runs are compared when ' +
        'it has ended',
      description:
        'The second run gets the input of an interactive job at once. Random numbers are the same in both ' +
        'runs; a program that reads the clock, or prints who came first, can legitimately differ. Refused with ' +
        'CONFLICT while the job has not ended.',
      tags: ['jobs'],
      params: JobParams,
      body: Type.Optional(Type.Union([Again, Type.Null()])),
      response: { 201: Created, ...refusals(400, 401, 404, 409, 422, 429, 507) },
    },
    request: { room: null },
    answer: { id: 'm2w8c4r6t1yz', warnings: [] },
  },
} satisfies Readonly<Record<string, Route>>;
