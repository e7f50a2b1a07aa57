/** Routes of jobs: how they are submitted, watched, paused and ended. */
import { ID, AT, job, submission, ok } from './examples.ts';
import type { Described } from './route-description.ts';

export const JOBS: Readonly<Record<string, Described>> = {
  'POST /api/jobs': {
    description:
      'Compiles the program and queues the job; the job starts when there are slots for all its ranks. A ' +
      'program is TypeScript, C or C++ sources, a module of WebAssembly, or an archive (docs/programs.md); ' +
      'files and standard input are base64. `further` lists programs that share MPI_COMM_WORLD with it, each with ' +
      'ranks and arguments of its own (MPMD). The job carries the name of the token as its owner. With notify, the ' +
      'server posts the end of the job to that URL (docs/server.md, Webhooks).',
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
      'CONFLICT for a job of the protocol none, or one that has ended. With vcl and pcl all ranks take one ' +
      'checkpoint together; without it they resume from the one before.',
    request: { waitMs: 15_000 },
    answer: ok,
  },
  'POST /api/jobs/:id/resume': {
    description:
      'The job goes on from its images and logs as soon as there are slots for its ranks. Refused with ' +
      'CONFLICT when it is not paused.',
    answer: ok,
  },
  'POST /api/jobs/:id/checkpoint': {
    description:
      'Every rank takes an image at its next MPI call, or while it waits in one. The images come later: GET ' +
      '/api/jobs/{id}/images.',
    answer: { asked: [0, 1, 2, 3] },
  },
  'POST /api/jobs/:id/tasks/:task/checkpoint': {
    description: 'The one rank takes an image at its next MPI call, or while it waits in one. With vcl and pcl all do.',
    answer: ok,
  },
  'POST /api/jobs/:id/tasks/:task/kill': {
    description:
      'Ends the incarnation that runs now, as a closed tab would. The next one takes over and the answer of ' +
      'the job stays the same; with vcl and pcl all ranks go back to their last checkpoint; a job of the ' +
      'protocol none fails. CONFLICT while the rank is at no node.',
    answer: ok,
  },
  'GET /api/jobs/:id/images': {
    description:
      'Complete checkpoint images that a restart could begin from, oldest first per rank; at most two are kept. ' +
      'With vcl and pcl those of a checkpoint under way are listed too.',
    answer: [{ task: 0, image: `${ID}-0-1-2`, serial: 2, incarnation: 1, bytes: 65_536, sentBytes: 12_288, at: AT }],
  },
};
