/** REST of running a job again, and of comparing what its runs wrote. */
import { isOver } from '@mayfly/protocols';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import { MayflyError } from '@mayfly/wire';
import { compareRuns } from '../jobs/compare-runs.ts';
import type { WrittenHashes } from '../jobs/written-output.ts';
import { askerOf, submit, type JobRoutes } from './jobs.ts';

export function comparisonRoutes(plain: FastifyInstance, o: JobRoutes & { hashes: WrittenHashes }): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const { runtime } = o;

  app.route({
    ...at('POST /api/jobs/:id/again'),
    handler: async (request, reply) => {
      const first = runtime.need(request.params.id);
      if (!isOver(first.state))
        throw new MayflyError(
          'CONFLICT',
          `The job has not ended (${first.state}); what is typed into it may not be complete.`,
        );
      const spec = runtime.spec(first.id)!;
      const { room: _room, rooms: _rooms, options, ...submission } = await runtime.store.submission(first.id, false);
      // What was typed into an interactive job is its input too; the second run gets all of it at once.
      const stdin = await runtime.intake.stdinOf(first.id, o.limits.inputBytes);
      const { room, rooms } = request.body?.room === undefined && !request.body?.rooms ? spec : request.body;
      const name = `${first.name.replace(/ \(again\)$/, '').slice(0, 72)} (again)`;
      const created = await submit(
        o,
        {
          ...submission,
          name,
          ...(room === undefined || room === null ? {} : { room }),
          ...(rooms && { rooms }),
          ...(options === undefined ? {} : { options: { ...options, interactive: false } }),
        },
        request.principal!.name,
        {
          asker: askerOf(request, reply),
          stdin,
          again: { seed: spec.seed, compareWith: spec.compareWith ?? first.id },
        },
      );
      request.log.info({ job: created.id, again: first.id }, 'job submitted');
      return reply.status(201).header('location', `/api/jobs/${created.id}`).send(created);
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/comparison'),
    handler: async (request) => compareRuns(runtime, o.hashes, runtime.need(request.params.id)),
  });
}
