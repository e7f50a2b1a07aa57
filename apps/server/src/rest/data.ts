/**
 * GETs under /data, for nodes: the program, input files, images. Each needs a capability of the job; answers
 * carry CORS `*` without credentials, because a sandboxed frame has an opaque origin.
 */
import { isOver } from '@mayfly/protocols';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { at } from '@mayfly/rest';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { distinctPages } from '@mayfly/checkpoint';
import { MayflyError, PAGE_BYTES, type ImageId, type JobId, type Manifest } from '@mayfly/wire';
import { dataHeaders } from '@mayfly/node/frame-headers';
import type { Runtime } from '../runtime.ts';
import type { Holder, Secrets } from '../secrets.ts';

const MOST_PICTURE_BYTES = 1024 * 1024;

/** @throws MayflyError NOT_FOUND */
function bytes(parts: AsyncIterable<Uint8Array> | undefined, orElse: string): Readable {
  if (!parts) throw new MayflyError('NOT_FOUND', orElse);
  return Readable.from(parts, { objectMode: false });
}

export function dataRoutes(plain: FastifyInstance, runtime: Runtime, secrets: Secrets): void {
  plain.addHook('onRequest', async (_request, reply) => {
    void reply.headers(dataHeaders);
  });
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  /** @throws MayflyError FORBIDDEN, UNKNOWN_JOB, FENCED */
  const holder = (cap: string, job: string): Holder => {
    const h = secrets.holder(cap);
    if (!h || h.job !== job) throw new MayflyError('FORBIDDEN', 'The capability does not cover this job.');
    const record = runtime.dispatcher.core.core.jobs.get(h.job);
    if (!record || isOver(record.record.state)) throw new MayflyError('UNKNOWN_JOB', `The job ${job} has ended.`);
    const acting = record.tasks[h.task]?.incarnation;
    if (acting !== undefined && h.incarnation < acting)
      throw new MayflyError(
        'FENCED',
        `Incarnation ${h.incarnation} of task ${h.task} is no longer current; incarnation ${acting} is running.`,
      );
    return h;
  };
  const imageOf = async (cap: string, of: { job: string; task: number; image: string }): Promise<Manifest> => {
    const h = holder(cap, of.job);
    const m = await runtime.checkpoints.manifest(of.image as ImageId);
    if (!m || m.job !== h.job || m.task !== h.task || m.task !== of.task)
      throw new MayflyError('NOT_FOUND', 'The task does not have this image.');
    return m;
  };
  const whole = (reply: FastifyReply): FastifyReply =>
    reply.header('cache-control', 'private, max-age=3600, immutable');

  app.route({
    ...at('GET /data/program/:job'),
    handler: async (request, reply) => {
      const { job, task } = holder(request.query.cap, request.params.job);
      const program = runtime.programOf(job, task)!;
      return whole(reply)
        .type(program.language === 'typescript' ? 'text/javascript; charset=utf-8' : 'application/wasm')
        .send(bytes(await runtime.store.streamProgram(job, program), 'The program of this job is missing.'));
    },
  });

  app.route({
    ...at('GET /data/files/:job/:hash'),
    handler: async (request, reply) => {
      holder(request.query.cap, request.params.job);
      const parts = await runtime.store.streamInput(request.params.job as JobId, request.params.hash);
      return whole(reply).type('application/octet-stream').send(bytes(parts, 'The job does not have this input file.'));
    },
  });

  // For the volunteer who computes it: a picture of what the job has written so far, if it is small and there is one.
  app.route({
    ...at('GET /data/picture/:job'),
    handler: async (request, reply) => {
      const { job } = holder(request.query.cap, request.params.job);
      const picture = (await runtime.world.outputs.files(job)).findLast(
        (f) => f.bytes > 0 && f.bytes <= MOST_PICTURE_BYTES && /\.(png|jpe?g|gif|webp|bmp|p[bgpn]m)$/i.test(f.path),
      );
      const file = picture && (await runtime.world.outputs.file(job, picture.path));
      if (!file) return reply.status(204).send();
      return reply
        .type('application/octet-stream')
        .header('mayfly-path', picture!.path)
        .send(await buffer(file(0, MOST_PICTURE_BYTES)));
    },
  });

  app.route({
    ...at('GET /data/images/:job/:task/:image'),
    handler: async (request, reply) => {
      return reply.send(await imageOf(request.query.cap, request.params));
    },
  });

  app.route({
    ...at('GET /data/images/:job/:task/:image/pages'),
    handler: async (request, reply) => {
      const { params, query } = request;
      // Pages have no address but their place in an image of the task: a hash can be guessed.
      const m = await imageOf(query.cap, params);
      const names = distinctPages(m).slice(query.from, query.from + query.count);
      const bytes = names.reduce((n, { length }) => n + length, 0);
      const run = runtime.checkpoints.run(names.map(({ name }) => name));
      // Before the head of the answer: what is wrong with it can still be said.
      const first = await run.next();
      const pages = async function* (): AsyncGenerator<Uint8Array> {
        if (!first.done) yield first.value;
        yield* run;
      };
      return reply
        .type('application/octet-stream')
        .header('content-length', bytes)
        .send(Readable.from(pages(), { objectMode: false, highWaterMark: 4 * PAGE_BYTES }));
    },
  });
}
