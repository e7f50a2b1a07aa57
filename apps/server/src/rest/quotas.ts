/** REST of quotas: what I may use and use; for the owner of the server what all use, and their limits. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import type { Quotas } from '../quotas.ts';
import type { Runtime } from '../runtime.ts';
import type { Tokens } from '../tokens.ts';

export function quotaRoutes(
  plain: FastifyInstance,
  { quotas, runtime, tokens }: { quotas: Quotas; runtime: Runtime; tokens: Tokens },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  app.route({ ...at('GET /api/quota'), handler: async (request) => quotas.viewOf(request.principal!.name, runtime) });

  app.route({
    ...at('GET /api/quotas'),
    handler: async () =>
      quotas.list(
        runtime,
        tokens.list().map((t) => t.name),
      ),
  });

  app.route({
    ...at('PUT /api/quotas/:owner'),
    handler: async (request) => {
      await quotas.set(request.params.owner, request.body);
      return quotas.viewOf(request.params.owner, runtime);
    },
  });

  app.route({
    ...at('DELETE /api/quotas/:owner'),
    handler: async (request) => {
      await quotas.set(request.params.owner, undefined);
      return { ok: true as const };
    },
  });
}
