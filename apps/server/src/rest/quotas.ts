/** REST of quotas: what I may use and use; for the owner of the server what all use, and their limits. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { QuotaView, QuotaWish } from '@mayfly/wire';
import type { Quotas } from '../quotas.ts';
import type { Runtime } from '../runtime.ts';
import type { Tokens } from '../tokens.ts';
import { Ok, refusals } from './schemas.ts';

const Params = Type.Object({ owner: Type.String({ minLength: 1, maxLength: 200 }) });

export function quotaRoutes(
  plain: FastifyInstance,
  { quotas, runtime, tokens }: { quotas: Quotas; runtime: Runtime; tokens: Tokens },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.get(
    '/api/quota',
    {
      schema: {
        summary: 'What the jobs of this token’s name use, and may use',
        tags: ['quotas'],
        response: { 200: QuotaView, ...refusals(401) },
      },
    },
    async (request) => quotas.viewOf(request.principal!.name, runtime),
  );

  app.get(
    '/api/quotas',
    {
      schema: {
        summary: 'What each owner uses, and may use; the most slots in use first',
        tags: ['quotas'],
        response: { 200: Type.Array(QuotaView), ...refusals(401, 403) },
      },
    },
    async () =>
      quotas.list(
        runtime,
        tokens.list().map((t) => t.name),
      ),
  );

  app.put(
    '/api/quotas/:owner',
    {
      schema: {
        summary: 'Set the quota of an owner',
        tags: ['quotas'],
        params: Params,
        body: QuotaWish,
        response: { 200: QuotaView, ...refusals(400, 401, 403, 429, 507) },
      },
    },
    async (request) => {
      await quotas.set(request.params.owner, request.body);
      return quotas.viewOf(request.params.owner, runtime);
    },
  );

  app.delete(
    '/api/quotas/:owner',
    {
      schema: {
        summary: 'Clear the quota of an owner: the limits of all apply',
        tags: ['quotas'],
        params: Params,
        response: { 200: Ok, ...refusals(401, 403, 507) },
      },
    },
    async (request) => {
      await quotas.set(request.params.owner, undefined);
      return { ok: true as const };
    },
  );
}
