/** REST of a job's history: the time line, the matrix of messages, and the charts. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { LANE_KINDS, MayflyError, jobId, type JobId } from '@mayfly/wire';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { clock } from '../clock.ts';
import { binsOf, cellsOf, columnsOf } from '../history/columns.ts';
import { JobHistory } from '../history/job-history.ts';
import { profileOf } from '../jobs/profile.ts';
import type { Runtime } from '../runtime.ts';

const deflate = promisify(deflateRaw);
const DEFAULT_COLUMNS = 512;
const DEFAULT_CHART = 240;

export function historyRoutes(plain: FastifyInstance, runtime: Runtime): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const need = (id: string): { job: JobId; size: number } => {
    const job = jobId(id);
    if (!runtime.spec(job)) throw new MayflyError('NOT_FOUND', `There is no job ${id}.`);
    return { job, size: runtime.tasksOf(job) };
  };

  app.route({
    ...at('GET /api/jobs/:id/timeline'),
    handler: async (request) => {
      const { job, size } = need(request.params.id);
      // A job that never began, or whose history is lost, has an empty one.
      const now = clock();
      const known = await runtime.chronicle.history.of(job);
      const h = known ?? emptyHistory(size, runtime.view(job)?.startedAt ?? now);
      const q = request.query;
      const to = Math.max(h.since, Math.min(q.to ?? h.until, h.until));
      const from = Math.min(to, Math.max(q.from ?? h.since, h.since));
      const c = columnsOf(h, {
        from,
        to,
        first: q.first ?? 0,
        last: q.last ?? size - 1,
        widthMs: Math.max(1, (to - from) / (q.columns ?? DEFAULT_COLUMNS)),
      });
      const events =
        q.events === '0'
          ? []
          : runtime.chronicle.history.events(job, h).filter((e) => e.at >= from && e.at <= to + 1000);
      return {
        job,
        size,
        kinds: [...LANE_KINDS],
        since: h.since,
        until: h.until,
        now,
        ended: h.ended,
        from: c.from,
        widthMs: c.widthMs,
        columns: c.columns,
        first: c.first,
        last: c.last,
        shares: (await deflate(c.shares, { level: 4 })).toString('base64'),
        events,
        eventsLeftOut: h.leftOut,
      };
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/profile'),
    handler: async (request) => {
      const { job, size } = need(request.params.id);
      const { runLog, history } = runtime.chronicle;
      return { job, ranks: profileOf(size, await runLog.of(job), await history.of(job)) };
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/matrix'),
    handler: async (request) => {
      const { job, size } = need(request.params.id);
      const q = request.query;
      const rows = await runtime.chronicle.history.matrix(job);
      const b = binsOf(rows ? [rows] : [], size, {
        src: [q.srcFirst ?? 0, q.srcLast ?? size - 1],
        dst: [q.dstFirst ?? 0, q.dstLast ?? size - 1],
        bins: q.bins ?? 64,
      });
      return { job, size, src: b.src, dst: b.dst, binned: b.binned, cells: cellsOf(b) };
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/charts'),
    handler: async (request) => {
      const { job, size } = need(request.params.id);
      const now = clock();
      const known = await runtime.chronicle.history.of(job);
      const h = known ?? emptyHistory(size, runtime.view(job)?.startedAt ?? now);
      return {
        job,
        since: h.since,
        until: h.until,
        now,
        ended: h.ended,
        ...h.gauges.columns(h.since, h.until, request.query.columns ?? DEFAULT_CHART),
      };
    },
  });
}

function emptyHistory(size: number, at: number): JobHistory {
  const h = new JobHistory(size, at);
  h.end(at);
  return h;
}
