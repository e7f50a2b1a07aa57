/** REST of nodes: their list, one of them, and how the time of their slots was spent. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { MayflyError, NodeDetail, NodeIdSchema, NodesTimeline, NodeView, SLOT_KINDS, type NodeId } from '@mayfly/wire';
import type { FastifyInstance } from 'fastify';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { Type } from 'typebox';
import { clock } from '../clock.ts';
import { nodeDetail } from '../nodes/node-detail.ts';
import { WIDTH_MS } from '../nodes/slot-ring.ts';
import type { Runtime } from '../runtime.ts';
import { refusals } from './schemas.ts';

const deflate = promisify(deflateRaw);
const Params = Type.Object({ id: NodeIdSchema });
const From = Type.Object({ from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })) });

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

  app.get(
    '/api/nodes',
    { schema: { summary: 'Volunteers', tags: ['server'], response: { 200: Type.Array(NodeView), ...refusals(401) } } },
    async () => runtime.nodes(),
  );

  app.get(
    '/api/nodes/timeline',
    {
      schema: {
        summary:
          'What the time of the slots of every node went to in the last ten minutes, in columns of five ' +
          'seconds; from: no columns before this time (ms of the server’s clock)',
        tags: ['server'],
        querystring: From,
        response: { 200: NodesTimeline, ...refusals(400, 401) },
      },
    },
    async (request) => timeline(runtime.chronicle.slotUse.ids, request.query.from),
  );

  app.get(
    '/api/nodes/:id',
    {
      schema: {
        summary: 'One volunteer: its ranks, and those that were lost there',
        tags: ['server'],
        params: Params,
        response: { 200: NodeDetail, ...refusals(400, 401, 404) },
      },
    },
    async (request) =>
      nodeDetail(
        runtime.dispatcher.core,
        need(request.params.id),
        runtime.chronicle.slotUse.memoryNow(request.params.id),
        clock(),
      ),
  );

  app.get(
    '/api/nodes/:id/timeline',
    {
      schema: {
        summary:
          'What the time of the slots of one node went to in the last ten minutes, and how much memory its ranks had',
        tags: ['server'],
        params: Params,
        querystring: From,
        response: { 200: NodesTimeline, ...refusals(400, 401, 404) },
      },
    },
    async (request) => {
      const { id } = need(request.params.id);
      return timeline([id], request.query.from, id);
    },
  );
}
