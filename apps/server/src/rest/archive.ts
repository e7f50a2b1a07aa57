/**
 * REST of the archive: all that a job has written as one tar file, made while it is sent.
 *
 *   <name>-<job>/files/<path>          result files
 *   <name>-<job>/stdout/rank-<n>.txt   by rank, where there is something; stderr/ likewise
 *
 * A browser's download sends no token, so a page asks for a ticket first: an address for one download, that is good for
 * a minute.
 *
 * Owns: the tickets that are out.
 *  T1  Each token has OF_TOKEN of them: one more takes the place of its own oldest, and never of another's.
 *  T2  At most MOST_TICKETS are out together; whoever asks for one more waits until some have expired.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { packTar, type TarSource } from 'modern-tar/fs';
import { Readable } from 'node:stream';
import type { Range } from '@mayfly/storage/ports';
import { FIRST_TOKEN, MayflyError, type JobId, type JobView } from '@mayfly/wire';
import { writtenFiles } from '../jobs/written-output.ts';
import { clock } from '../clock.ts';
import type { Runtime } from '../runtime.ts';
import { randomId } from '../secrets.ts';

const TICKET_MS = 60_000;
const OF_TOKEN = 20;
const MOST_TICKETS = 10_000;

interface Ticket {
  job: JobId;
  /** Id of the token that asked for it. */
  owner: string;
  until: number;
}

export function archiveRoutes(plain: FastifyInstance, runtime: Runtime, now = clock): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const tickets = new Map<string, Ticket>();

  app.route({
    ...at('GET /api/jobs/:id/archive'),
    handler: async (request, reply) => send(reply, runtime, runtime.need(request.params.id)),
  });

  app.route({
    ...at('POST /api/jobs/:id/archive'),
    handler: async (request, reply) => {
      const view = runtime.need(request.params.id);
      const at = now();
      const owner = request.principal!.id ?? FIRST_TOKEN;
      const own: string[] = [];
      for (const [t, { until, owner: of }] of tickets)
        if (until < at) tickets.delete(t);
        else if (of === owner) own.push(t);
      if (own.length >= OF_TOKEN) tickets.delete(own[0]!);
      if (tickets.size >= MOST_TICKETS)
        throw new MayflyError('TOO_MANY', `${MOST_TICKETS} downloads were asked for. Try again in a minute.`);
      const ticket = randomId(32);
      tickets.set(ticket, { job: view.id, owner, until: at + TICKET_MS });
      return reply.status(201).send({ url: `/api/downloads/${ticket}`, expiresAt: at + TICKET_MS });
    },
  });

  app.route({
    ...at('GET /api/downloads/:ticket'),
    handler: async (request, reply) => {
      const t = tickets.get(request.params.ticket);
      tickets.delete(request.params.ticket);
      if (!t || t.until < now())
        throw new MayflyError('NOT_FOUND', 'This download link was already used or has expired. Request a new one.');
      return send(reply, runtime, runtime.need(t.job));
    },
  });
}

async function send(reply: FastifyReply, runtime: Runtime, view: JobView): Promise<never> {
  const folder = `${
    view.name
      .replace(/[^\w.+-]+/g, '_')
      .replace(/^\.+/, '')
      .slice(0, 60) || 'job'
  }-${view.id}`;
  const width = String(Math.max(0, view.size - 1)).length;
  const mtime = new Date(view.endedAt ?? Date.now());
  const sources = (await writtenFiles(runtime, view)).flatMap((f): TarSource[] =>
    f.read === undefined
      ? []
      : [
          {
            type: 'stream',
            target: `${folder}/${f.kind === 'files' ? `files/${f.path}` : `${f.kind}/rank-${String(f.rank).padStart(width, '0')}.txt`}`,
            size: f.bytes,
            mtime,
            content: Readable.from(exactly(f.read, f.bytes, f.path)),
          },
        ],
  );
  void reply
    .type('application/x-tar')
    .header('content-disposition', `attachment; filename="${folder}.tar"`)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  return reply.send(packTar(sources, { concurrency: 1 })) as never;
}

/**
 * So many bytes of a file, which is opened when its turn comes: one that grows is cut, one that has shrunk meanwhile
 * breaks the download off.
 */
async function* exactly(read: Range, bytes: number, path: string): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of read(0, bytes)) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new Error(`${path} has shrunk while it was read`);
}
