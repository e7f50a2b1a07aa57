/** The clusters of a seed's job (`hc3i`), and perhaps a room for each. Drawn apart: other seeds stay the same. */
import { Random } from './random.ts';
import type { Setup } from './setup.ts';

const MOST = 4;
const ROOMS = ['ROOMA', 'ROOMB', null] as const;

export function drawClusters(seed: number, setup: Setup): Partial<Setup> {
  const r = Random.named(seed, 'clusters');
  const { size } = setup.spec;
  const count = Math.min(size, r.pick([2, 2, 2, 3, 3, MOST]));
  // One task for each cluster, the others anywhere: in blocks, or mixed.
  const clusters = Array.from({ length: size }, (_, task) => (task < count ? task : r.between(0, count - 1)));
  if (r.chance(0.5)) clusters.sort((a, b) => a - b);
  const own = r.chance(0.4);
  const rooms = own ? clusters.slice(0, count).map(() => r.pick(ROOMS)) : undefined;
  return { clusters, channelMemories: count, ...(rooms && { rooms }) };
}

/** By room: how many tasks its nodes run. */
function demand({ spec, clusters, rooms }: Setup): Map<string | undefined, number> {
  const out = new Map<string | undefined, number>();
  for (let task = 0; task < spec.size; task++) {
    const room = rooms?.[clusters?.[task] ?? 0] ?? undefined;
    out.set(room, (out.get(room) ?? 0) + 1);
  }
  return out;
}

/** Nodes that it takes to have a slot for every rank. */
export const nodesFor = (setup: Setup): number =>
  [...demand(setup).values()].reduce((n, ranks) => n + Math.ceil(ranks / setup.slots), 0);

/** The room of a node that comes: the one that lacks most slots. */
export function roomOfNext(setup: Setup, here: readonly { readonly room?: string | undefined }[]): string | undefined {
  let best: { room: string | undefined; lacks: number } | undefined;
  for (const [room, ranks] of demand(setup)) {
    const lacks = ranks - setup.slots * here.filter((v) => v.room === room).length;
    if (!best || lacks > best.lacks) best = { room, lacks };
  }
  return best?.room;
}
