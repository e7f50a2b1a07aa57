/** REST of the server itself: info, examples, health, metrics. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type, type Static } from 'typebox';
import { CountSchema, ExampleView, InfoView, MayflyError, PeerView, ServerView } from '@mayfly/wire';
import type { Examples } from '../serve/examples.ts';
import type { Oidc } from '../login/oidc.ts';
import type { Metrics } from '../metrics.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Runtime } from '../runtime.ts';
import type { ServerHealth } from '../server-view.ts';
import { refusals } from './schemas.ts';

/** What anybody may know. */
export function infoRoute(
  app: FastifyInstance,
  runtime: Runtime,
  options: ResolvedOptions,
  oidc: Oidc | undefined,
): void {
  app.get(
    '/api/info',
    { schema: { summary: 'About this server; needs no token', tags: ['server'], response: { 200: InfoView } } },
    async (): Promise<InfoView> => {
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
      };
    },
  );
}

/** For the operator's machines: neither token nor rate limit. */
export function openRoutes(app: FastifyInstance, metrics: Metrics, stopping: () => boolean): void {
  app.get('/healthz', { schema: { summary: 'Is it up?', tags: ['server'] } }, async (_request, reply) =>
    stopping() ? reply.status(503).send({ status: 'stopping' }) : { status: 'ok' },
  );

  app.get('/metrics', { schema: { summary: 'Prometheus metrics', tags: ['server'] } }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}

const Backup = Type.Object({
  path: Type.String(),
  format: Type.Integer(),
  version: Type.String(),
  at: CountSchema,
  files: CountSchema,
  bytes: CountSchema,
  pauseMs: Type.Number(),
});

/**
 * Routes behind the token. `backup` resolves to a backup of this moment, in a folder of its own on the server's disk.
 */
export function serverRoutes(
  plain: FastifyInstance,
  o: {
    examples: Examples;
    backup(): Promise<Static<typeof Backup>>;
    health: ServerHealth;
    /** Another server will serve. */
    drain: (() => void) | undefined;
  },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.post(
    '/api/backup',
    {
      schema: {
        summary:
          'Backup of the data directory as it is now, jobs running or not, into a new folder beside it on the server',
        tags: ['server'],
        response: { 201: Backup, ...refusals(401, 409, 507) },
      },
    },
    async (_request, reply) => reply.status(201).send(await o.backup()),
  );

  app.post(
    '/api/server/drain',
    {
      schema: {
        summary: 'Lets a server that stands by serve instead of this one, which stands by from then on',
        tags: ['server'],
        response: { 202: Type.Object({ standBys: Type.Array(PeerView) }), ...refusals(401, 409) },
      },
    },
    async (_request, reply) => {
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
  );

  app.get(
    '/api/server',
    {
      schema: {
        summary: 'State of the server: storage, message rate, event loop, connections',
        tags: ['server'],
        response: { 200: ServerView, ...refusals(401) },
      },
    },
    async () => o.health.view(),
  );

  app.get(
    '/api/examples',
    {
      schema: {
        summary: 'Programs that come with the server',
        tags: ['server'],
        response: { 200: Type.Array(ExampleView), ...refusals(401) },
      },
    },
    async () => o.examples.list(),
  );

  app.get(
    '/api/examples/:name/files/*',
    {
      schema: {
        summary: 'Input file of an example',
        tags: ['server'],
        params: Type.Object({ name: Type.String() }),
        response: refusals(401, 404),
      },
    },
    async (request, reply) => {
      const file = await o.examples.file(request.params.name, (request.params as { '*'?: string })['*'] ?? '');
      if (file === undefined) throw new MayflyError('NOT_FOUND', 'There is no such file of an example.');
      return reply.type('application/octet-stream').send(file as never) as never;
    },
  );
}
