/** REST of reports of runs, and whether a report may be read without a token. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Registry } from '@mayfly/storage/ports';
import { JobReport, MayflyError, jobId, publicReport, type JobId, type JobView } from '@mayfly/wire';
import { Type } from 'typebox';
import { clock } from '../clock.ts';
import { compareRuns, reported } from '../jobs/compare-runs.ts';
import { profileOf } from '../jobs/profile.ts';
import { reportOf } from '../jobs/report.ts';
import type { WrittenHashes } from '../jobs/written-output.ts';
import type { Runtime } from '../runtime.ts';
import { JobParams, Ok, refusals } from './schemas.ts';

/** Registry `shared/<job>`: its report needs no token. */
const sharedKey = (job: JobId): string => `shared/${job}`;

export function reportRoutes(
  plain: FastifyInstance,
  o: { runtime: Runtime; registry: Registry; hashes: WrittenHashes; version: string },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const { runtime, registry } = o;
  const need = (id: string): JobView => {
    const view = runtime.view(jobId(id));
    if (!view) throw missing(id);
    return view;
  };
  const report = async (view: JobView): Promise<JobReport> => {
    const run = await runtime.chronicle.runLog.of(view.id);
    const profile = profileOf(view.tasks.length, run, await runtime.chronicle.history.of(view.id));
    return reportOf({
      view,
      spec: runtime.spec(view.id)!,
      run,
      profile,
      outputs: await o.hashes.of(view),
      comparisons: reported(await compareRuns(runtime, o.hashes, view)),
      version: o.version,
      now: clock(),
    });
  };

  app.get(
    '/api/jobs/:id/report',
    {
      schema: {
        summary: 'Report of a run: program, options, ranks, nodes, faults, times, hashes of what it wrote',
        tags: ['reports'],
        params: JobParams,
        response: { 200: JobReport, ...refusals(401, 404) },
      },
    },
    async (request) => report(need(request.params.id)),
  );

  app.get(
    '/api/reports/:id',
    {
      schema: {
        summary: 'The report of a run whose owner shares it: needs no token, and has no names of volunteers',
        tags: ['reports'],
        params: JobParams,
        response: { 200: JobReport, ...refusals(404) },
      },
    },
    async (request) => {
      // A job that is not shared and one that is not there look alike.
      const view = runtime.view(jobId(request.params.id));
      if (!view || (await registry.get(sharedKey(view.id))) === undefined) throw missing(request.params.id);
      return publicReport(await report(view));
    },
  );

  app.get(
    '/api/jobs/:id/share',
    {
      schema: {
        summary: 'Whether the report of a job is shared',
        tags: ['reports'],
        params: JobParams,
        response: { 200: Shared, ...refusals(401, 404) },
      },
    },
    async (request) => ({
      shared: (await registry.get(sharedKey(need(request.params.id).id))) !== undefined,
    }),
  );

  for (const [method, on] of [
    ['PUT', true],
    ['DELETE', false],
  ] as const)
    app.route({
      method,
      url: '/api/jobs/:id/share',
      schema: {
        summary: on
          ? 'Share the report of a job: anyone with its address can read it without a token'
          : 'Stop sharing the report',
        tags: ['reports'],
        params: JobParams,
        response: { 200: Ok, ...refusals(401, 404, 507) },
      },
      handler: async (request) => {
        const { id } = need(request.params.id);
        await registry.commit([[sharedKey(id), on ? { at: clock() } : undefined]]);
        return { ok: true as const };
      },
    });
}

const Shared = Type.Object({ shared: Type.Boolean() });
const missing = (id: string): MayflyError =>
  new MayflyError('NOT_FOUND', `There is no report of job ${id}, or its owner does not share it.`);
