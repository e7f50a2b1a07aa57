/**
 * REST of the lesson. Needs no token: what a visitor can do with it is fixed and bounded (lesson.ts). Where volunteers
 * need a join code, visitors do, too.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import type { Lessons } from '../lesson.ts';
import type { RoomCodes } from '../serve/room-codes.ts';
import { networkOf } from '../serve/address.ts';

export function lessonRoutes(plain: FastifyInstance, lessons: Lessons, codes: RoomCodes): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  app.route({
    ...at('POST /api/lesson'),
    handler: async (request, reply) => {
      await codes.admitRequest(request.body?.room ?? '', request.ip);
      return reply.status(201).send({ code: await lessons.start(networkOf(request.ip)) });
    },
  });
  app.route({ ...at('GET /api/lesson/:code'), handler: async (request) => lessons.view(request.params.code) });
  app.route({
    ...at('POST /api/lesson/:code/step'),
    handler: async (request) => {
      await lessons.step(request.params.code);
      return { ok: true as const };
    },
  });
  app.route({
    ...at('DELETE /api/lesson/:code'),
    handler: async (request) => {
      lessons.end(request.params.code);
      return { ok: true as const };
    },
  });
}
