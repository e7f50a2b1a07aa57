/** REST of rooms: open, list, close. */
import { isOver, roomsOf } from '@mayfly/protocols';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance } from 'fastify';
import { MayflyError, plainName, type CheckpointAdvice, type RoomView } from '@mayfly/wire';
import { clock } from '../clock.ts';
import { adviceOf, lossesOf } from '../checkpoint-advice.ts';
import type { Rooms } from '../rooms.ts';
import type { Runtime } from '../runtime.ts';

export function roomRoutes(plain: FastifyInstance, o: { rooms: Rooms; runtime: Runtime }): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const view = (): RoomView[] => roomViews(o.rooms, o.runtime);

  app.route({ ...at('GET /api/rooms'), handler: async () => view() });

  app.route({
    ...at('GET /api/checkpoint-advice'),
    handler: async (request): Promise<CheckpointAdvice> => {
      const { room } = request.query;
      const { faults, rankMs } = lossesOf(o.runtime.dispatcher.core.core.jobs.values(), room, clock());
      return adviceOf(o.runtime.chronicle.imageCosts.of(room), faults, rankMs);
    },
  });

  app.route({
    ...at('POST /api/rooms'),
    handler: async (request, reply) => {
      const code = await o.rooms.create(plainName(request.body.name, 'Room'), request.body.server);
      o.runtime.observer.nodesChanged();
      return reply.status(201).send(view().find((r) => r.code === code)!);
    },
  });

  app.route({
    ...at('DELETE /api/rooms/:code'),
    handler: async (request) => {
      const busy = view().find((r) => r.code === request.params.code)?.jobs ?? 0;
      if (busy > 0)
        throw new MayflyError(
          'CONFLICT',
          `${busy} job${busy === 1 ? ' of the room waits or runs' : 's of the room wait or run'}; cancel ` +
            `${busy === 1 ? 'it' : 'them'} first.`,
        );
      await o.rooms.close(request.params.code);
      o.runtime.chronicle.board.closeRoom(request.params.code);
      o.runtime.observer.nodesChanged();
      return { ok: true as const };
    },
  });
}

export function roomViews(rooms: Rooms, runtime: Runtime): RoomView[] {
  const sums = new Map<string, Pick<RoomView, 'nodes' | 'slots' | 'free' | 'jobs'>>();
  const of = (code: string) => {
    let s = sums.get(code);
    if (!s) sums.set(code, (s = { nodes: 0, slots: 0, free: 0, jobs: 0 }));
    return s;
  };
  for (const n of runtime.nodes()) {
    if (n.room === undefined || n.state !== 'here') continue;
    const s = of(n.room);
    s.nodes++;
    s.slots += n.slots;
    if (n.quarantinedUntil === undefined) s.free += Math.max(0, n.slots - n.busy);
  }
  for (const { record } of runtime.dispatcher.core.core.jobs.values())
    if (!isOver(record.state)) for (const room of roomsOf(record.spec)) if (room !== undefined) of(room).jobs++;
  return rooms.list().map((r) => ({ ...r, ...of(r.code) }));
}
