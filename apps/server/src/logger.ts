/**
 * What the server's parts log to: pino through Fastify, so that a request and its consequences stand in one stream.
 * Strangers write some of it, and people read it in terminals: JSON escapes some characters that command one, and
 * `plainJson` the rest.
 */
import type { FastifyBaseLogger } from 'fastify';
import { plainJson } from '@mayfly/wire';
import type { ServerOptions } from './options.ts';

export type Logger = FastifyBaseLogger;

/** Options of pino, with the stream. */
export function logTo(log: NonNullable<ServerOptions['log']>): {
  level: string;
  stream: { write(line: string): void };
} {
  const { level, stream } = typeof log === 'string' ? { level: log, stream: process.stdout } : log;
  return { level, stream: { write: (line) => void stream.write(plainJson(line)) } };
}
