/** What the server's parts log to: pino through Fastify, so that a request and its consequences stand in one stream. */
import type { FastifyBaseLogger } from 'fastify';

export type Logger = FastifyBaseLogger;
