/** REST of reports of runs, and whether a report may be read without a token. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError, jobId, publicReport, type JobId, type JobView, type JobReport } from '@mayfly/wire';
import { clock } from '../clock.ts';
import { compareRuns, reported } from '../jobs/compare-runs.ts';
import { profileOf } from '../jobs/profile.ts';
import { reportOf } from '../jobs/report.ts';
import type { WrittenHashes } from '../jobs/written-output.ts';
import type { Runtime } from '../runtime.ts';

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

  app.route({ ...at('GET /api/jobs/:id/report'), handler: async (request) => report(need(request.params.id)) });

  app.route({
    ...at('GET /api/reports/:id'),
    handler: async (request) => {
      // A job that is not shared and one that is not there look alike.
      const view = runtime.view(jobId(request.params.id));
      if (!view || (await registry.get(sharedKey(view.id))) === undefined) throw missing(request.params.id);
      return publicReport(await report(view));
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/share'),
    handler: async (request) => ({
      shared: (await registry.get(sharedKey(need(request.params.id).id))) !== undefined,
    }),
  });

  for (const [method, on] of [
    ['PUT', true],
    ['DELETE', false],
  ] as const)
    app.route({
      ...at(`${method} /api/jobs/:id/share`),
      handler: async (request) => {
        const { id } = need(request.params.id);
        await registry.commit([[sharedKey(id), on ? { at: clock() } : undefined]]);
        return { ok: true as const };
      },
    });
}

const missing = (id: string): MayflyError =>
  new MayflyError('NOT_FOUND', `There is no report of job ${id}, or its owner does not share it.`);
