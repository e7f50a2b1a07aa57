import type { Program } from './index.ts';

/** All bits of an array in a short text. */
function digest(a: Float64Array): string {
  let h = 0;
  for (const x of new Int32Array(a.buffer, a.byteOffset, a.length * 2)) h = (Math.imul(h, 31) + x) | 0;
  return `${a.length}:${h}:${a[0]}:${a[a.length - 1]}`;
}

export const communicatorPrograms: Record<string, Program> = {
  /** The same source and tag on a dup and its parent do not mix. */
  contexts: (m) => {
    const { COMM_WORLD: comm } = m;
    const dup = comm.dup();
    const buf = new Int32Array(1);
    const out: unknown[] = [dup.compare(comm), comm.compare(comm), dup.name];
    const next = (comm.rank + 1) % comm.size;
    comm.send(new Int32Array([1]), next, 1);
    dup.send(new Int32Array([2]), next, 1);
    dup.recv(buf);
    out.push(buf[0]);
    comm.recv(buf);
    out.push(buf[0]);
    dup.free();
    return out;
  },
  splits: (m) => {
    const { COMM_WORLD: comm } = m;
    const { rank, size } = comm;
    const odd = comm.split(rank % 2, -rank)!;
    const members = odd.allgatherObject(rank);
    const none = comm.split(rank === 0 ? m.UNDEFINED : 1);
    const again = odd.split(0, odd.rank)!;
    const upper = comm.create(comm.group.rangeIncl([[size >> 1, size - 1, 1]]));
    const sum = upper ? upper.allreduce(1) : 0;
    return { members, none: none === null ? null : none.size, again: again.compare(odd), upper: sum, group: odd.group.translateRanks([0], comm.group) };
  },
  groups: (m) => {
    const { COMM_WORLD: comm, GROUP_EMPTY } = m;
    const world = comm.group;
    const even = world.incl(Array.from({ length: Math.ceil(comm.size / 2) }, (_, i) => 2 * i));
    const odd = world.difference(even);
    const back = odd.union(even);
    return [even.size, odd.size, back.size, back.compare(world), even.intersection(odd).compare(GROUP_EMPTY), world.compare(comm.dup().group), even.translateRanks([0, even.size - 1], world), odd.rank, world.excl([0]).translateRanks([0], world)];
  },
  cart: (m) => {
    const { COMM_WORLD: comm } = m;
    const grid = comm.createCart(m.dimsCreate(6, 2), [true, false]);
    if (!grid) return null;
    const row = grid.sub([false, true]);
    const column = grid.sub([true, false]);
    return {
      dims: grid.dims, coords: grid.coords, same: grid.cartRank(grid.coords) === grid.rank, wrap: grid.cartRank([-1, 0]),
      up: grid.shift(0), right: grid.shift(1), row: row.allgatherObject(grid.rank), column: column.allgatherObject(grid.rank), rowDims: row.dims, rowPeriods: row.periods, dup: grid.dup().coords,
    };
  },
  dims: (m) => [m.dimsCreate(12, 2), m.dimsCreate(6, 2), m.dimsCreate(7, 2), m.dimsCreate(6, 3), m.dimsCreate(6, [0, 3, 0]), m.dimsCreate(64, 3), m.dimsCreate(1, 2), m.dimsCreate(1000, 3), m.dimsCreate(36, 2), m.dimsCreate(1e9, 3), m.dimsCreate(5616, 4), m.dimsCreate(2 ** 30, 20), m.dimsCreate(2095133040, 15)],
  'object collectives': (m) => {
    const { COMM_WORLD: comm } = m;
    const { rank, size } = comm;
    const long = 'x'.repeat(3000);
    const root = size - 1;
    return [
      comm.bcastObject(rank === root ? { long, m: new Map([[1, new Float64Array(2)]]) } : undefined, root),
      comm.bcastObject(rank === 0 ? [1, null, undefined, -0, 1n] : undefined),
      comm.gatherObject('r'.repeat(rank), root),
      comm.scatterObject(rank === root ? Array.from({ length: size }, (_, i) => ({ i })) : undefined, root),
      comm.allgatherObject(rank % 2 ? rank : [rank]),
      comm.alltoallObject(Array.from({ length: size }, (_, i) => `${rank}>${i}`)),
      comm.reduceObject(`${rank}`, (a, b) => a + b, root),
      comm.allreduceObject([rank], (a, b) => [...a, ...b]),
      comm.allreduce(rank, m.MAX), comm.reduce(rank, m.SUM, root), comm.scan(1), comm.exscan(1),
    ];
  },
  /** Several non-blocking collectives under way at once, completed in another order. */
  overlapping: (m) => {
    const { COMM_WORLD: comm } = m;
    const n = 6;
    const bufs = Array.from({ length: n }, (_, i) => new Float64Array(100).fill(comm.rank + i));
    const requests = bufs.map((b) => comm.iallreduce(m.IN_PLACE, b));
    const barrier = comm.ibarrier();
    for (let i = n - 1; i >= 0; i--) requests[i]!.wait();
    let spins = 0;
    while (!barrier.test()) spins++;
    return [bufs.map((b) => b[99]), spins >= 0];
  },
  /** Sums whose last bits depend on the order of the operands. */
  'float sums': (m, { n }: { n: number }) => {
    const { COMM_WORLD: comm } = m;
    const a = Float64Array.from({ length: n }, (_, i) => 1 / (1 + comm.rank * 37 + i) ** 3 + comm.rank * 1e-7);
    const out = new Float64Array(n);
    comm.allreduce(a, out);
    const prefix = new Float64Array(n);
    comm.scan(a, prefix);
    const root = new Float64Array(n);
    comm.reduce(a, root, m.SUM, 0);
    return [out, prefix, root].map(digest);
  },
  mismatch: (m) => {
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    try {
      comm.bcast(new Float64Array(comm.rank === 0 ? 4 : 5), 0);
      return comm.rank === 0 ? 'root' : 'no error';
    } catch (e) {
      return String((e as Error).message);
    }
  },
  'handler function': (m) => {
    const { COMM_WORLD: comm } = m;
    const seen: string[] = [];
    const h = m.ErrorHandler.create((c, e) => seen.push(`${c.name} ${e.className}`));
    comm.setErrhandler(h);
    try {
      comm.send(new Uint8Array(1), 1234);
    } catch (e) {
      seen.push((e as Error).name);
    }
    return [seen, comm.getErrhandler().name === h.name];
  },
  fatal: (m) => {
    try {
      m.COMM_WORLD.send(new Uint8Array(1), 1234);
    } catch (e) {
      if (e instanceof m.MPIError) return 'caught';
      throw e;
    }
    return 'went on';
  },
  'op that communicates': (m) => {
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const op = m.Op.create(() => comm.send(new Uint8Array(1), 0), true);
    try {
      comm.allreduce(new Float64Array(1), new Float64Array(1), op);
      return 'no error';
    } catch (e) {
      return (e as Error).message;
    }
  },
};
