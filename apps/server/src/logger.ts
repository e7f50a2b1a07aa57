/**
 * What the server's parts log to: pino through Fastify, so that a request and its consequences stand in one stream.
 * Strangers write some of it, and people read it in terminals: JSON escapes some characters that command one, and
 * `plainJson` the rest.
 */
import type { FastifyBaseLogger } from 'fastify';
import { plainJson } from '@mayfly/wire';
import { LogLines } from './log-lines.ts';

export type Logger = FastifyBaseLogger;

/** Options of pino. */
interface Log {
  level: string;
  stream: { write(line: string): unknown };
}

/** @param log a level, for standard output, or both */
export function logTo(log: string | Log): Log {
  const { level, stream } = typeof log === 'string' ? { level: log, stream: process.stdout } : log;
  const lines = new LogLines((line) => stream.write(plainJson(line)));
  return { level, stream: { write: (line) => lines.line(line) } };
}
