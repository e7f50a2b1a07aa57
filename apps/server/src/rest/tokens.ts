/** REST of tokens: whose token is this, make one, list, revoke. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { Me, NewToken, TokenCreated, TokenView } from '@mayfly/wire';
import type { Tokens } from '../tokens.ts';
import { Ok, refusals } from './schemas.ts';

const Params = Type.Object({ id: Type.String({ pattern: '^[0-9a-z]{10}$' }) });

export function tokenRoutes(plain: FastifyInstance, tokens: Tokens): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.get(
    '/api/me',
    {
      schema: {
        summary: 'Name and role of the token that is sent',
        tags: ['tokens'],
        response: { 200: Me, ...refusals(401) },
      },
    },
    async (request) => {
      const { name, role, expiresAt, login } = request.principal!;
      return { name, role, ...(expiresAt === undefined ? {} : { expiresAt }), ...(login && { login }) };
    },
  );

  app.get(
    '/api/tokens',
    {
      schema: {
        summary: 'Tokens, and logins of people: the owner’s first, then the newest first',
        tags: ['tokens'],
        response: { 200: Type.Array(TokenView), ...refusals(401, 403) },
      },
    },
    async () => tokens.list(),
  );

  app.post(
    '/api/tokens',
    {
      schema: {
        summary: 'Create a token; only this answer shows it',
        tags: ['tokens'],
        body: NewToken,
        response: { 201: TokenCreated, ...refusals(400, 401, 403, 409, 429, 507) },
      },
    },
    async (request, reply) => {
      const created = await tokens.create(request.body);
      request.log.info(
        { tokenId: created.id, name: created.name, role: created.role, by: request.principal!.name },
        'token made',
      );
      return reply.status(201).header('cache-control', 'no-store').send(created);
    },
  );

  app.delete(
    '/api/tokens/:id',
    {
      schema: {
        summary: 'Revoke a token: it stops working, and its connections are closed',
        tags: ['tokens'],
        params: Params,
        response: { 200: Ok, ...refusals(401, 403, 404, 507) },
      },
    },
    async (request) => {
      await tokens.revoke(request.params.id);
      request.log.info({ tokenId: request.params.id, by: request.principal!.name }, 'token revoked');
      return { ok: true as const };
    },
  );
}
