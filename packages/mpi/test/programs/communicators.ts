import type { Comm, PersistentRequest, TopologyComm } from '../../types/mayfly.d.ts';
import type { MayflyModule } from '../../src/index.ts';
import type { Program } from './program.ts';

/** What an erroneous call says. */
function said(m: MayflyModule, comm: Comm, call: () => unknown): string {
  comm.setErrhandler(m.ERRORS_RETURN);
  try {
    call();
    return 'no error';
  } catch (e) {
    return (e as Error).message;
  }
}

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
    return {
      members,
      none: none === null ? null : none.size,
      again: again.compare(odd),
      upper: sum,
      group: odd.group.translateRanks([0], comm.group),
    };
  },
  groups: (m) => {
    const { COMM_WORLD: comm, GROUP_EMPTY } = m;
    const world = comm.group;
    const even = world.incl(Array.from({ length: Math.ceil(comm.size / 2) }, (_, i) => 2 * i));
    const odd = world.difference(even);
    const back = odd.union(even);
    return [
      even.size,
      odd.size,
      back.size,
      back.compare(world),
      even.intersection(odd).compare(GROUP_EMPTY),
      world.compare(comm.dup().group),
      even.translateRanks([0, even.size - 1], world),
      odd.rank,
      world.excl([0]).translateRanks([0], world),
    ];
  },
  cart: (m) => {
    const { COMM_WORLD: comm } = m;
    const grid = comm.createCart(m.dimsCreate(6, 2), [true, false]);
    if (!grid) return null;
    const row = grid.sub([false, true]);
    const column = grid.sub([true, false]);
    return {
      dims: grid.dims,
      coords: grid.coords,
      same: grid.cartRank(grid.coords) === grid.rank,
      wrap: grid.cartRank([-1, 0]),
      up: grid.shift(0),
      right: grid.shift(1),
      row: row.allgatherObject(grid.rank),
      column: column.allgatherObject(grid.rank),
      rowDims: row.dims,
      rowPeriods: row.periods,
      dup: grid.dup().coords,
    };
  },
  /**
   * Every collective of neighbours, in its three forms, on a grid with a border, a graph, and a distributed graph of
   * both making.
   */
  neighbours: (m) => {
    const { COMM_WORLD: comm } = m;
    const { rank, size } = comm;
    const wrong: string[] = [];
    // Everybody knows every block: what `from` sends to `to` as its i-th is from * 1000 + to * 10 + i.
    const value = (from: number, to: number, i: number): number => from * 1000 + to * 10 + i;
    const check = (t: TopologyComm | null, what: string): void => {
      if (!t) return;
      const { sources, destinations } = t;
      const ranks = t.allgatherObject(t.destinations);
      const forms = (name: string, args: () => [send: unknown, recv: unknown], expected: () => void): void => {
        for (const form of ['', 'i', 'Init']) {
          const f = (t as unknown as Record<string, (...a: unknown[]) => PersistentRequest>)[
            form === 'i' ? `i${name}` : name + form
          ]!.bind(t);
          const r = f(...args());
          if (form === 'Init') r.start();
          if (form !== '') r.wait();
          expected();
        }
      };
      const same = (name: string, got: ArrayLike<number>, wanted: number[]): void =>
        void (
          String(Array.from(got)) !== String(wanted) &&
          wrong.push(`${what} ${name} at ${t.rank}: ${String(Array.from(got))} for ${String(wanted)}`)
        );
      let recv = new Int32Array(0);
      const fresh = (n: number): Int32Array => (recv = new Int32Array(n).fill(-1));
      const gathered = sources.flatMap((s) => (s < 0 ? [-1, -1] : [value(s, 0, 0), value(s, 0, 1)]));
      forms(
        'neighborAllgather',
        () => [Int32Array.of(value(t.rank, 0, 0), value(t.rank, 0, 1)), fresh(2 * sources.length)],
        () => same('allgather', recv, gathered),
      );
      forms(
        'neighborAllgatherv',
        () => [
          Int32Array.of(value(t.rank, 0, 0), value(t.rank, 0, 1)),
          { data: fresh(3 * sources.length), counts: sources.map(() => 2), displs: sources.map((_, i) => 3 * i) },
        ],
        () =>
          same(
            'allgatherv',
            recv,
            sources.flatMap((_, i) => [...gathered.slice(2 * i, 2 * i + 2), -1]),
          ),
      );
      // The k-th message of a process to this one is the k-th block that comes from it.
      const nth = (list: readonly number[], i: number): number => list.slice(0, i).filter((x) => x === list[i]).length;
      const mirrored = (i: number): number => {
        if (!('coords' in t)) return nth(sources, i);
        const places = sources
          .map((s, k) => (s === sources[i] ? k ^ 1 : -1))
          .filter((k) => k >= 0)
          .sort((x, y) => x - y);
        return places.indexOf(i ^ 1);
      };
      const sent = destinations.map((d, i) => value(t.rank, d, nth(destinations, i)));
      const came = sources.map((s, i) => (s < 0 ? -1 : value(s, t.rank, mirrored(i))));
      if (sources.some((s) => s >= 0 && !ranks[s]!.includes(t.rank)))
        wrong.push(`${what}: a source that does not send`);
      forms(
        'neighborAlltoall',
        () => [Int32Array.from(sent), fresh(sources.length)],
        () => same('alltoall', recv, came),
      );
      forms(
        'neighborAlltoallv',
        () => [
          { data: Int32Array.from(sent), counts: sent.map(() => 1) },
          { data: fresh(2 * came.length), counts: came.map(() => 1), displs: came.map((_, i) => 2 * i) },
        ],
        () =>
          same(
            'alltoallv',
            recv,
            came.flatMap((x) => [x, -1]),
          ),
      );
      const second = m.datatype(Int32Array).hindexed(1, [4]);
      forms(
        'neighborAlltoallw',
        () => [
          sent.map((x) => second.of(Int32Array.of(0, x))),
          came.map((_, i) => (i === 0 ? fresh(came.length) : recv).subarray(i, i + 1)),
        ],
        () => same('alltoallw', recv, came),
      );
      const words = t.neighborAlltoallObject(sent.map((x, i) => ({ x, text: 'z'.repeat(i) })));
      same(
        'objects',
        words.map((w) => w?.x ?? -1),
        came,
      );
      same(
        'gathered objects',
        t.neighborAllgatherObject(t.rank).map((x) => x ?? -1),
        sources.map((s) => Math.max(s, -1)),
      );
    };
    check(comm.createCart(m.dimsCreate(size, 2), [true, false]), 'grid');
    check(comm.createCart([size], [true])!.dup(), 'ring');
    const star = comm.createGraph(
      Array.from({ length: size }, (_, i) => (i === 0 ? size - 1 : size - 1 + i)),
      [...Array.from({ length: size - 1 }, (_, i) => i + 1), ...Array<number>(size - 1).fill(0)],
    );
    check(star, 'star');
    // To the next and to the one after it; rank 0 tells all edges.
    const edges = Array.from({ length: size }, (_, i) => [(i + 1) % size, (i + 2) % size]);
    const chords =
      rank === 0
        ? comm.createDistGraph(
            edges.map((_, i) => i),
            edges.map(() => 2),
            edges.flat(),
            edges.flatMap((_, i) => [i, 10 * i]),
          )
        : comm.createDistGraph([], [], [], []);
    check(chords, 'chords');
    const near = comm.createDistGraphAdjacent([(rank - 1 + size) % size], [(rank + 1) % size]);
    check(near.dup(), 'adjacent');
    return {
      wrong,
      index: star?.index.length,
      of0: star?.neighborsOf(0).length,
      weights: chords.weights,
      none: near.weights, // Of the process in the middle alone: the others would wait for it.
      errors:
        rank === 0 &&
        star &&
        said(m, star, () => star.neighborAllgather(new Int8Array(1), new Int8Array(2 * size - 1))),
    };
  },
  /** Attributes, hints, duplicates that are made beside other work, process sets, split_type. */
  caching: (m) => {
    const { COMM_WORLD: comm } = m;
    const log: string[] = [];
    const passed = m.createKeyval<{ n: number }>({
      copy: (c, v) => (c.size > 0 ? { n: v.n + 1 } : undefined),
      delete: (_, v) => log.push(`delete ${v.n}`),
    });
    const kept = m.createKeyval<string>();
    const own = comm.dup({ hint: 'x' });
    own.setAttr(passed, { n: 1 });
    own.setAttr(kept, 'here');
    const making = own.idup();
    own.setAttr(passed, { n: 10 });
    const sum = comm.allreduce(1);
    making.wait();
    const twin = making.comm;
    const out: unknown[] = [
      own.info,
      twin.info,
      twin.getAttr(passed),
      twin.getAttr(kept),
      own.getAttr(passed),
      own.getAttr(kept),
      sum,
    ];
    own.deleteAttr(kept);
    twin.setInfo({ a: 'b' });
    const again = twin.dup();
    out.push(again.getAttr(passed), again.info, twin.info, own.getAttr(kept));
    again.free();
    const session = m.Session.init();
    const world = m.createFromGroup(session.group('mpi://WORLD'), 'of the session');
    out.push(session.psets, session.psetInfo('mpi://self'), world.allreduce(1));
    session.finalize();
    out.push(
      comm.splitType('shared')!.size,
      comm.splitType('resourceGuided', -comm.rank, { mpi_pset_name: 'mpi://WORLD' })!.rank,
      comm.splitType('hwUnguided'),
    );
    comm.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    kept.free();
    out.push(
      log,
      said(m, comm, () => session.group('mpi://WORLD')),
      said(m, comm, () => comm.setAttr(kept, '')),
      said(m, comm, () => comm.setAttr(passed, (() => 1) as never)),
      said(m, comm, () => comm.setInfo({ a: 1 } as never)),
    );
    return out;
  },
  tools: (m) => {
    const { COMM_WORLD: comm } = m;
    const counting = m.tool.start(['messages_sent', 'bytes_sent']);
    comm.send(new Float64Array(3), comm.rank);
    const first = counting.read();
    counting.reset();
    comm.recv(new Float64Array(3));
    return [
      first,
      counting.read(),
      m.tool.read('bcast_long_bytes') > 0,
      m.tool.categories.map((c) => c.name),
      [...m.tool.controlVariables, ...m.tool.performanceVariables].every((v) => m.tool.read(v.name) >= 0),
    ];
  },
  dims: (m) => [
    m.dimsCreate(12, 2),
    m.dimsCreate(6, 2),
    m.dimsCreate(7, 2),
    m.dimsCreate(6, 3),
    m.dimsCreate(6, [0, 3, 0]),
    m.dimsCreate(64, 3),
    m.dimsCreate(1, 2),
    m.dimsCreate(1000, 3),
    m.dimsCreate(36, 2),
    m.dimsCreate(1e9, 3),
    m.dimsCreate(5616, 4),
    m.dimsCreate(2 ** 30, 20),
    m.dimsCreate(2095133040, 15),
  ],
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
      comm.allreduce(rank, m.MAX),
      comm.reduce(rank, m.SUM, root),
      comm.scan(1),
      comm.exscan(1),
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
  'counts that do not fit at one process': (m) => {
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    const last = comm.size - 1;
    const wrong = comm.rank === last;
    const said = (call: () => unknown): string => {
      try {
        call();
        return 'no error';
      } catch (e) {
        return String((e as Error).message);
      }
    };
    const all = new Int32Array(comm.size);
    const texts = [
      said(() => comm.allgather(new Int32Array(wrong ? 2 : 1), all)),
      said(() => comm.scatter(all, new Int32Array(wrong ? 2 : 1), last)),
      said(() =>
        comm.alltoallv(
          { data: all, counts: Array.from(all, (_, i) => (wrong && i === last ? 0 : 1)) },
          { data: new Int32Array(comm.size), counts: Array.from(all, () => 1) },
        ),
      ),
    ];
    return [texts, comm.allreduce(comm.rank)];
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
