/** REST of the boards. Needs no token: who knows a room's code sees its board, as who volunteers there does. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { BoardView, boardText } from '@mayfly/wire';
import { Type } from 'typebox';
import type { Runtime } from '../runtime.ts';
import { refusals } from './schemas.ts';

/** In place of a code: those who came without a room. */
const NO_ROOM = '-';

export function boardRoute(plain: FastifyInstance, runtime: Runtime): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/rooms/:code/board',
    {
      schema: {
        summary:
          'Contributions of named volunteers in a room (- for volunteers without a room); name and team ' +
          'select whose place to return. Needs no token',
        tags: ['rooms'],
        params: Type.Object({ code: Type.String({ minLength: 1, maxLength: 64 }) }),
        querystring: Type.Object({
          name: Type.Optional(Type.String({ maxLength: 200 })),
          team: Type.Optional(Type.String({ maxLength: 200 })),
        }),
        response: { 200: BoardView, ...refusals(401, 429) },
      },
    },
    async (request): Promise<BoardView> => {
      const { code } = request.params;
      // The same word that lets a volunteer in; a server with a join code of its own shows nothing without it.
      const room = await runtime.nodeSockets.codes.admitRequest(code === NO_ROOM ? '' : code, request.ip);
      const name = boardText(request.query.name ?? '');
      const team = boardText(request.query.team ?? '');
      return runtime.chronicle.board.view(
        room,
        name === undefined ? undefined : { name, ...(team === undefined ? {} : { team }) },
      );
    },
  );
}
