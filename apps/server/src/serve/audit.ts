/**
 * Who did what: a line of the log for each request with a token that changes something, or would have (U1); what it is
 * about by id (U2), and no secret: no token, join code, query string or body (U3). docs/server.md describes the line.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request has made, by its id. */
    made: string | undefined;
  }
}

const CHANGES_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);

export function audit(app: FastifyInstance): void {
  app.decorateRequest('made', undefined);
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    if (request.method === 'POST' && typeof payload === 'object' && payload !== null && 'id' in payload)
      request.made = typeof payload.id === 'string' ? payload.id : undefined;
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const line = auditOf(request, reply.statusCode);
    if (line) request.log.info(line, 'audit');
    done();
  });
}

function auditOf(request: FastifyRequest, status: number): object | undefined {
  const { principal } = request;
  const { url } = request.routeOptions;
  if (!principal || url === undefined || CHANGES_NOTHING.has(request.method)) return undefined;
  // Rooms have a join code in their place: it is a secret.
  const { id, task, owner } = (request.params ?? {}) as { id?: string; task?: string; owner?: string };
  return {
    who: principal.name,
    ...(principal.id === undefined ? {} : { tokenId: principal.id }),
    role: principal.role,
    did: `${request.method} ${url}`,
    ...((id ?? owner) === undefined ? {} : { of: id ?? owner }),
    ...(task === undefined ? {} : { task }),
    ...(request.made === undefined || request.made === id ? {} : { made: request.made }),
    status,
    address: request.ip,
  };
}
