/** REST of what a job reads and writes: streams, result files, standard input. */
import { isOver, ownerOf } from '@mayfly/protocols';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Readable } from 'node:stream';
import { at } from '@mayfly/rest';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { MayflyError, taskId } from '@mayfly/wire';
import type { ServerLimits } from '../options.ts';
import type { Quotas } from '../quotas.ts';
import type { Runtime } from '../runtime.ts';

/** Content types of result files that a browser may show; all else is a download. */
const TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
};

export function outputRoutes(plain: FastifyInstance, runtime: Runtime, quotas: Quotas, limits: ServerLimits): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  for (const stream of ['stdout', 'stderr'] as const)
    app.route({
      ...at(`GET /api/jobs/:id/tasks/:task/${stream}`),
      handler: async (request, reply) => {
        const view = runtime.need(request.params.id);
        const task = taskId(request.params.task);
        if (task >= view.size)
          throw new MayflyError('NOT_FOUND', `Job ${view.id} has the tasks 0 to ${view.size - 1}.`);
        const from = request.query.from ?? 0;
        const size = await runtime.world.outputs.size(view.id, task, stream);
        void reply.header('mayfly-next', String(Math.max(size, from)));
        void reply.header('mayfly-ended', isOver(view.state) ? '1' : '0');
        void reply.type('application/octet-stream').header('x-content-type-options', 'nosniff');
        if (from >= size) return raw(reply, Buffer.alloc(0));
        return raw(reply, readable(runtime.world.outputs.stream(view.id, task, stream)(from, size)));
      },
    });

  app.route({
    ...at('GET /api/jobs/:id/files/*'),
    handler: async (request, reply) => {
      const view = runtime.need(request.params.id);
      // TypeBox cannot convert a property named '*', so the schema leaves it out.
      const path = (request.params as { '*'?: string })['*'] ?? '';
      const file = await runtime.world.outputs.file(view.id, path);
      const size = await runtime.world.outputs.fileBytes(view.id, path);
      if (!file || size === undefined)
        throw new MayflyError('NOT_FOUND', `Job ${view.id} has no result file '${path}'.`);
      const name = path.split('/').at(-1)!;
      const type = TYPES[name.split('.').at(-1)!.toLowerCase()];
      // A colon is no part of a file's name on Windows. Written by a stranger's program: never rendered as a page of
      // this origin.
      void reply
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('x-content-type-options', 'nosniff')
        .header('cross-origin-resource-policy', 'same-origin')
        .header('content-length', size)
        .header(
          'content-disposition',
          `${type === undefined ? 'attachment' : 'inline'}; filename="${name.replaceAll(':', '_')}"`,
        )
        .type(type ?? 'application/octet-stream');
      return raw(reply, readable(file(0, size)));
    },
  });

  app.route({
    ...at('POST /api/jobs/:id/stdin'),
    bodyLimit: limits.stdinBytes,
    handler: async (request) => {
      const view = runtime.need(request.params.id);
      if (isOver(view.state)) throw new MayflyError('CONFLICT', `The job has ended (${view.state}).`);
      const body = request.body as unknown;
      if (body !== undefined && body !== null && !Buffer.isBuffer(body))
        throw new MayflyError('BAD_REQUEST', 'Send the bytes as application/octet-stream.');
      return {
        bytes: await runtime.intake.appendStdin(
          view.id,
          new Uint8Array(body ?? new Uint8Array(0)),
          request.query.end === '1',
          request.query.offset,
          (more) => quotas.grows(ownerOf(runtime.spec(view.id)!), more, runtime),
        ),
      };
    },
  });
}

const readable = (parts: AsyncIterable<Uint8Array>): Readable => Readable.from(parts, { objectMode: false });

/** Bytes and streams pass the schema of the answer by. */
const raw = (reply: FastifyReply, payload: unknown): never => reply.send(payload) as never;
