/** REST of nodes: their list, one of them, and how the time of their slots was spent. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { MayflyError, SLOT_KINDS, type NodeId, type NodesTimeline, type NodeView } from '@mayfly/wire';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { clock } from '../clock.ts';
import { nodeDetail } from '../nodes/node-detail.ts';
import { WIDTH_MS } from '../nodes/slot-ring.ts';
import type { Runtime } from '../runtime.ts';

const deflate = promisify(deflateRaw);

export function nodeRoutes(plain: FastifyInstance, runtime: Runtime): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();

  const timeline = async (ids: readonly NodeId[], from = 0, one?: NodeId): Promise<NodesTimeline> => {
    const now = clock();
    const c = runtime.chronicle.slotUse.columns(ids, from, now);
    const slots = (await deflate(new Uint8Array(c.slots.buffer), { level: 4 })).toString('base64');
    return {
      kinds: [...SLOT_KINDS],
      now,
      from: c.from,
      widthMs: WIDTH_MS,
      columns: c.columns,
      nextMs: c.nextMs,
      nodes: c.nodes,
      slots,
      ...(one === undefined ? {} : { memory: runtime.chronicle.slotUse.memory(one, c) }),
    };
  };
  /** @throws MayflyError NOT_FOUND */
  const need = (id: NodeId): NodeView => {
    const node = runtime.nodes().find((n) => n.id === id) ?? runtime.chronicle.slotUse.gone(id);
    if (!node)
      throw new MayflyError(
        'NOT_FOUND',
        `There is no node ${id}. The server forgets nodes ten minutes after they leave, and when it restarts.`,
      );
    return node;
  };

  app.route({ ...at('GET /api/nodes'), handler: async () => runtime.nodes() });

  app.route({
    ...at('GET /api/nodes/timeline'),
    handler: async (request) => timeline(runtime.chronicle.slotUse.pool, request.query.from),
  });

  app.route({
    ...at('GET /api/nodes/:id'),
    handler: async (request) =>
      nodeDetail(
        runtime.dispatcher.core,
        need(request.params.id),
        runtime.chronicle.slotUse.memoryNow(request.params.id),
        clock(),
      ),
  });

  app.route({
    ...at('GET /api/nodes/:id/timeline'),
    handler: async (request) => {
      const { id } = need(request.params.id);
      return timeline([id], request.query.from, id);
    },
  });
}
