/**
 * Errors of REST: every refusal leaves as {code, message} of the registry in packages/wire/src/errors.ts, compile
 * errors with diagnostics.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { storageStop } from '@mayfly/storage';
import { ERRORS, MayflyError, type ApiError, type Diagnostic, type ErrorCode } from '@mayfly/wire';
import { throwAway } from '../hosts/unfinished.ts';

/** Status for a code; codes that describe programs (status 0) cross REST only as data of a job. */
export const statusOf = (code: ErrorCode): number => ERRORS[code].status || 500;

/**
 * Errors of the file system that are the machine's, whatever was asked for. A missing file may be a defect of ours as
 * well.
 */
const PASSES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

export function toApiError(error: unknown): { status: number; body: ApiError } {
  if (error instanceof MayflyError) {
    const diagnostics = (error.detail as { diagnostics?: Diagnostic[] } | undefined)?.diagnostics;
    return {
      status: statusOf(error.code),
      body: { code: error.code, message: error.message, ...(diagnostics ? { diagnostics } : {}) },
    };
  }
  const e = error as Partial<FastifyError> & { status?: number };
  const status = e.statusCode ?? e.status ?? 500;
  if (e.validation) return { status: 400, body: { code: 'BAD_REQUEST', message: e.message ?? 'bad request' } };
  const code: ErrorCode =
    status === 413
      ? 'TOO_LARGE'
      : status === 429
        ? 'TOO_MANY'
        : status === 401
          ? 'UNAUTHORIZED'
          : status === 403
            ? 'FORBIDDEN'
            : status === 404
              ? 'NOT_FOUND'
              : status < 500
                ? 'BAD_REQUEST'
                : 'INTERNAL';
  if (code !== 'INTERNAL')
    return { status: status < 400 ? 400 : status, body: { code, message: e.message ?? ERRORS[code].advice } };
  const stop = PASSES.has((e as NodeJS.ErrnoException).code ?? '')
    ? storageStop(error, 'The server cannot handle the request right now')
    : undefined;
  if (stop) return { status: statusOf(stop.code), body: { code: stop.code, message: `${stop.message}.` } };
  return { status: 500, body: { code: 'INTERNAL', message: 'Internal server error. See the server log.' } };
}

/** The rest of a refused body is taken and thrown away while it comes: so long without a byte, and in all. */
const DISCARD_MS = 10_000;
const DISCARD_ALL_MS = 100_000;

/**
 * A client that still writes when the connection closes sees a broken pipe, not the answer: let it finish first, within
 * limits.
 */
function discard(body: IncomingMessage, then: () => void): void {
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    clearTimeout(late);
    clearTimeout(last);
    then();
  };
  const late = setTimeout(end, DISCARD_MS);
  const last = setTimeout(end, DISCARD_ALL_MS);
  throwAway(body);
  body
    .once('end', end)
    .once('close', end)
    .on('data', () => late.refresh())
    .resume();
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = toApiError(error);
  if ((error as Partial<FastifyError>).code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    body.message = `The body of this request has more than the ${request.routeOptions.bodyLimit} bytes that this server takes here.`;
  // The client has left: there is no one to answer.
  if (reply.raw.destroyed) return void reply.hijack();
  // What cannot be stored now has been logged where it began (disk.ts).
  if (status >= 500 && status !== 507) request.log.error({ err: error }, 'request failed');
  // The route, not the path: a path may name a room's code.
  else
    request.log.info(
      {
        code: body.code,
        message: body.message,
        method: request.method,
        route: request.routeOptions.url,
        job: (request.params as { id?: string } | undefined)?.id,
      },
      'request refused',
    );
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  const answer = (): void => void reply.status(status).type('application/json').send(JSON.stringify(body));
  if (status === 413 && !request.raw.complete) discard(request.raw, answer);
  else answer();
}

export function installErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError);
}

/** Bytes that are no request of HTTP: answered where somebody may still read, and the connection is over. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy();
  const [status, code]: [string, ErrorCode] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'TOO_LARGE']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'BAD_REQUEST']
        : ['400 Bad Request', 'BAD_REQUEST'];
  const body: ApiError = { code, message: 'Invalid HTTP request.' };
  const text = JSON.stringify(body);
  if (socket.writable)
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ` +
        `${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
  socket.destroySoon();
}
