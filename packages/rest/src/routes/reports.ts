/** Routes of what is made of a run: its report, and the comparison with other runs. */
import { Type } from 'typebox';
import { ComparisonView, JobReport } from '@mayfly/wire';
import { ID, ok, report } from '../examples.ts';
import type { Route } from '../route.ts';
import { JobParams, Ok, refusals } from '../schemas.ts';

const Shared = Type.Object({ shared: Type.Boolean() });

export const REPORTS = {
  'GET /api/jobs/:id/report': {
    access: 'viewer',
    schema: {
      summary: 'Report of a run: program, options, ranks, nodes, faults, times, hashes of what it wrote',
      description:
        'The run in numbers, also while it is running. `version` rises when a field changes its meaning or ' +
        'goes. Hashes of what it wrote (SHA-256) are there when it has ended. Phases of a fault are ms.',
      tags: ['reports'],
      params: JobParams,
      response: { 200: JobReport, ...refusals(401, 404) },
    },
    answer: { ...report, nodes: [{ name: 'desk-4', engine: 'Chromium 140', ranks: [0] }] },
  },
  'GET /api/reports/:id': {
    access: 'anyone',
    schema: {
      summary: 'The report of a run whose owner shares it: needs no token, and has no names of volunteers',
      description:
        'The report of a job that is shared, without names of volunteers and without the text of an error. ' +
        'NOT_FOUND for a job that is not shared, as for one that is not there.',
      tags: ['reports'],
      params: JobParams,
      response: { 200: JobReport, ...refusals(404) },
    },
    answer: report,
  },
  'GET /api/jobs/:id/comparison': {
    access: 'viewer',
    schema: {
      summary: 'Other runs of the same job with the same input, and whether they wrote the same, byte for byte',
      description:
        'The first run and all that were made of it with POST /api/jobs/{id}/again. Compared are how they ' +
        'ended, standard output of every rank and result files; not standard error, and nothing of a run that ' +
        'was cancelled or has not ended (`same` is absent then).',
      tags: ['reports'],
      params: JobParams,
      response: { 200: ComparisonView, ...refusals(401, 404) },
    },
    answer: {
      job: ID,
      streams: 1,
      files: 1,
      bytes: 36,
      runs: [{ job: 'm2w8c4r6t1yz', name: 'pi (again)', state: 'done', faults: 0, same: true, differences: [] }],
    },
  },
  'GET /api/jobs/:id/share': {
    access: 'viewer',
    schema: {
      summary: 'Whether the report of a job is shared',
      description: 'Whether GET /api/reports/{id} answers without a token.',
      tags: ['reports'],
      params: JobParams,
      response: { 200: Shared, ...refusals(401, 404) },
    },
    answer: { shared: true },
  },
  'PUT /api/jobs/:id/share': {
    access: 'own',
    schema: {
      summary: 'Share the report of a job: anyone with its address can read it without a token',
      description: 'From now on GET /api/reports/{id} and the page /report/{id} need no token.',
      tags: ['reports'],
      params: JobParams,
      response: { 200: Ok, ...refusals(401, 404, 507) },
    },
    answer: ok,
  },
  'DELETE /api/jobs/:id/share': {
    access: 'own',
    schema: {
      summary: 'Stop sharing the report',
      description: 'GET /api/reports/{id} and the page /report/{id} need a token again.',
      tags: ['reports'],
      params: JobParams,
      response: { 200: Ok, ...refusals(401, 404, 507) },
    },
    answer: ok,
  },
} satisfies Readonly<Record<string, Route>>;
