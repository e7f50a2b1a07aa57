/** REST of tokens: whose token is this, make one, list, revoke. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import type { Tokens } from '../tokens.ts';

export function tokenRoutes(plain: FastifyInstance, tokens: Tokens): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...at('GET /api/me'),
    handler: async (request) => {
      const { name, role, expiresAt, login } = request.principal!;
      return { name, role, ...(expiresAt === undefined ? {} : { expiresAt }), ...(login && { login }) };
    },
  });

  app.route({ ...at('GET /api/tokens'), handler: async () => tokens.list() });

  app.route({
    ...at('POST /api/tokens'),
    handler: async (request, reply) => {
      const created = await tokens.create(request.body);
      request.log.info(
        { tokenId: created.id, name: created.name, role: created.role, by: request.principal!.name },
        'token made',
      );
      return reply.status(201).header('cache-control', 'no-store').send(created);
    },
  });

  app.route({
    ...at('DELETE /api/tokens/:id'),
    handler: async (request) => {
      await tokens.revoke(request.params.id);
      request.log.info({ tokenId: request.params.id, by: request.principal!.name }, 'token revoked');
      return { ok: true as const };
    },
  });
}
