/** REST of the boards. Needs no token: who knows a room's code sees its board, as who volunteers there does. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import { boardText, type BoardView } from '@mayfly/wire';
import type { Runtime } from '../runtime.ts';

/** In place of a code: those who came without a room. */
const NO_ROOM = '-';

export function boardRoute(plain: FastifyInstance, runtime: Runtime): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  app.route({
    ...at('GET /api/rooms/:code/board'),
    handler: async (request): Promise<BoardView> => {
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
  });
}
