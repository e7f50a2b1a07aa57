/**
 * Long JSON answers leave compressed where the row of the route allows it (`compressed`, which says where not).
 * Streams, files, refusals and answers to HEAD leave as they are; scripts and styles have compressed copies from the
 * build (static.ts).
 */
import type { FastifyInstance } from 'fastify';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { routeOf } from '../access.ts';

const packed = promisify(gzip);
/** Bytes. A shorter answer fits one packet either way. */
const LEAST = 1024;
/** Answers that were sent last: some are the same for everybody, and nobody shall keep the processor busy with them. */
const KEPT = 8;
const MOST_KEPT_CHARACTERS = 1 << 20;

export function compressAnswers(app: FastifyInstance): void {
  const kept = new Map<string, Promise<Buffer>>();
  const packedOnce = (text: string): Promise<Buffer> => {
    const known = kept.get(text);
    if (known) return known;
    const made = packed(text);
    if (text.length > MOST_KEPT_CHARACTERS) return made;
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value!);
    kept.set(text, made);
    return made;
  };
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    if (request.method !== 'GET' || !routeOf('GET', request.routeOptions.url ?? '')?.compressed) return payload;
    if (typeof payload !== 'string' || reply.statusCode !== 200 || Buffer.byteLength(payload) <= LEAST) return payload;
    void reply.header('vary', 'accept-encoding');
    if (!takesGzip(request.headers['accept-encoding'])) return payload;
    void reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return packedOnce(payload);
  });
}

/** `gzip`, or `*` where gzip is not named; `q=0` forbids it. */
export function takesGzip(accepted: string | string[] | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of String(accepted ?? '').split(',')) {
    const [, coding, weight = '1'] = /^\s*([^\s;]+)\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
