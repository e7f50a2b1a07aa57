/** REST of the server itself: info, examples, health, metrics. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { Answer } from '@mayfly/rest/client';
import type { FastifyInstance } from 'fastify';
import { MayflyError, type InfoView } from '@mayfly/wire';
import type { Examples } from '../serve/examples.ts';
import type { Oidc } from '../login/oidc.ts';
import type { Metrics } from '../metrics.ts';
import { rankMemoryOf } from '../jobs/program.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Runtime } from '../runtime.ts';
import type { ServerHealth } from '../server-view.ts';

/** What anybody may know. */
export function infoRoute(
  app: FastifyInstance,
  runtime: Runtime,
  options: ResolvedOptions,
  oidc: Oidc | undefined,
): void {
  app.route({
    ...at('GET /api/info'),
    handler: async (): Promise<InfoView> => {
      const nodes = runtime.nodes().filter((n) => n.state === 'here');
      const total = nodes.reduce((n, x) => n + x.slots, 0);
      return {
        name: 'mayfly',
        version: options.version,
        ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
        roomNeeded: options.room !== undefined,
        slots: {
          total,
          free: nodes.reduce((n, x) => n + (x.quarantinedUntil === undefined ? Math.max(0, x.slots - x.busy) : 0), 0),
          nodes: nodes.length,
        },
        ...(oidc && { login: { by: oidc.host, ready: oidc.ready } }),
        maxSubmissionBytes: options.limits.submissionBytes,
        maxInputBytes: options.limits.inputBytes,
        maxMemoryBytes: options.limits.rankMemoryBytes,
        defaults: {
          graceMs: runtime.dispatcher.core.core.settings.graceMs,
          memoryBytes: rankMemoryOf(undefined, options.limits.rankMemoryBytes),
        },
      };
    },
  });
}

/** For the operator's machines: neither token nor rate limit. */
export function openRoutes(app: FastifyInstance, metrics: Metrics, stopping: () => boolean): void {
  app.route({
    ...at('GET /healthz'),
    handler: async (_request, reply) =>
      stopping() ? reply.status(503).send({ status: 'stopping' }) : { status: 'ok' },
  });

  app.route({
    ...at('GET /metrics'),
    handler: async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  });
}

/**
 * Routes behind the token. `backup` resolves to a backup of this moment, in a folder of its own on the server's disk.
 */
export function serverRoutes(
  plain: FastifyInstance,
  o: {
    examples: Examples;
    backup(): Promise<Answer<'POST', '/api/backup'>>;
    health: ServerHealth;
    /** Another server will serve. */
    drain: (() => void) | undefined;
  },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...at('POST /api/backup'),
    handler: async (_request, reply) => reply.status(201).send(await o.backup()),
  });

  app.route({
    ...at('POST /api/server/drain'),
    handler: async (_request, reply) => {
      const { drain } = o;
      if (!drain)
        throw new MayflyError('CONFLICT', 'This server has its own data directory: nobody else can serve its jobs.');
      const standBys = (await o.health.peers()).filter((s) => !s.owns);
      if (standBys.length === 0)
        throw new MayflyError(
          'CONFLICT',
          'No other server of the database stands by. Start one first, or stop this one: its jobs wait until then.',
        );
      reply.raw.once('finish', () => setImmediate(drain));
      return reply.status(202).send({ standBys });
    },
  });

  app.route({ ...at('GET /api/server'), handler: async () => o.health.view() });

  app.route({ ...at('GET /api/examples'), handler: async () => o.examples.list() });

  app.route({
    ...at('GET /api/examples/:name'),
    handler: async (request) => {
      const { name } = request.params as { name: string };
      const example = await o.examples.view(name);
      if (example === undefined) throw new MayflyError('NOT_FOUND', `There is no example “${name}”.`);
      return example;
    },
  });

  app.route({
    ...at('GET /api/examples/:name/files/*'),
    handler: async (request, reply) => {
      const file = await o.examples.file(request.params.name, (request.params as { '*'?: string })['*'] ?? '');
      if (file === undefined) throw new MayflyError('NOT_FOUND', 'There is no such file of an example.');
      return reply.type('application/octet-stream').send(file as never) as never;
    },
  });
}
