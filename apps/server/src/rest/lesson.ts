/**
 * REST of the lesson. Needs no token: what a visitor can do with it is fixed and bounded (lesson.ts). Where volunteers
 * need a join code, visitors do, too.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { LessonView, NewLesson, RoomCode } from '@mayfly/wire';
import { Type } from 'typebox';
import type { Lessons } from '../lesson.ts';
import type { RoomCodes } from '../serve/room-codes.ts';
import { networkOf } from '../serve/address.ts';
import { Ok, refusals } from './schemas.ts';

const Params = Type.Object({ code: RoomCode });

export function lessonRoutes(plain: FastifyInstance, lessons: Lessons, codes: RoomCodes): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/lesson',
    {
      schema: {
        summary:
          'Begin a lesson: a fixed small job whose ranks the visitor’s own page runs, with the code as their ' +
          'room. Needs no token, but the join code of a server that has one',
        tags: ['lesson'],
        body: Type.Optional(Type.Union([NewLesson, Type.Null()])),
        response: { 201: Type.Object({ code: RoomCode }), ...refusals(400, 401, 403, 429, 507) },
      },
    },
    async (request, reply) => {
      await codes.admitRequest(request.body?.room ?? '', request.ip);
      return reply.status(201).send({ code: await lessons.start(networkOf(request.ip)) });
    },
  );
  app.get(
    '/api/lesson/:code',
    {
      schema: {
        summary: 'How the lesson stands: ranks, their logs, faults, output',
        tags: ['lesson'],
        params: Params,
        response: { 200: LessonView, ...refusals(404) },
      },
    },
    async (request) => lessons.view(request.params.code),
  );
  app.post(
    '/api/lesson/:code/step',
    {
      schema: {
        summary: 'Send the token round once',
        tags: ['lesson'],
        params: Params,
        response: { 200: Ok, ...refusals(403, 404, 409, 507) },
      },
    },
    async (request) => {
      await lessons.step(request.params.code);
      return { ok: true as const };
    },
  );
  app.delete(
    '/api/lesson/:code',
    {
      schema: {
        summary: 'Leave the lesson: its job is ended and forgotten',
        tags: ['lesson'],
        params: Params,
        response: { 200: Ok, ...refusals(403) },
      },
    },
    async (request) => {
      lessons.end(request.params.code);
      return { ok: true as const };
    },
  );
}
