import { draws } from './oracle.ts';
import type { Request } from '../../types/mayfly.d.ts';
import type { Program } from './program.ts';

const f64 = (...v: number[]): Float64Array => new Float64Array(v);

export const pointToPointPrograms: Record<string, Program> = {
  /**
   * Elements of datatypes sent to oneself, and what arrives as plain numbers; the reverse; structs of several types;
   * packing.
   */
  datatypes: (m) => {
    const { COMM_WORLD: comm, datatype, struct } = m;
    const a = Int32Array.from({ length: 48 }, (_, i) => i);
    const int = datatype(Int32Array);
    const kinds = [
      int.vector(3, 2, 5),
      int.hvector(2, 1, 12),
      int.indexed([2, 1], [6, 0]),
      int.indexed(2, [0, 9]),
      int.hindexed(1, [8, 4]),
      int.contiguous(3),
      int.subarray([4, 6], [2, 2], [1, 3]),
      int.subarray([4, 6], [2, 2], [1, 3], 'F'),
      int.darray(2, 1, [{ size: 6, by: 'cyclic', processes: 2 }]),
      int.resized(0, 8).dup(),
    ];
    const out: unknown[] = kinds.map((t) => {
      const n = t.size / 4;
      comm.send(t.of(a, 2), comm.rank);
      const flat = new Int32Array(2 * n);
      const status = comm.recv(flat);
      const back = new Int32Array(48).fill(-1);
      comm.sendrecv(flat, comm.rank, 0, t.of(back, 2));
      const right =
        back.every((x, i) => x === -1 || x === i) && back.filter((x) => x >= 0).length === new Set(flat).size;
      return [
        t.contents.combiner,
        Array.from(flat.subarray(0, n)),
        status.count(t),
        status.elements(int),
        right,
        String(t.pack(a, 2)) === String(new Uint8Array(flat.buffer)),
      ];
    });
    const pair = struct([
      { offset: 0, type: Float64Array },
      { offset: 8, type: Uint8Array, count: 3 },
    ]).resized(0, 16);
    const records = new DataView(new ArrayBuffer(32));
    for (const i of [0, 1]) {
      records.setFloat64(16 * i, i + 0.5, true);
      records.setUint8(16 * i + 9, 7 + i);
    }
    comm.send(pair.of(records, 2), comm.rank);
    const got = new DataView(new ArrayBuffer(32));
    const message = comm.mprobe();
    const seen = message.recv(pair.of(got, 2));
    out.push([
      seen.bytes,
      seen.elements(pair),
      got.getFloat64(16, true),
      got.getUint8(25),
      Array.from(int.packExternal(Int32Array.of(258))),
    ]);
    return out;
  },
  /** Rank 1 sends 0 … n−1 on one tag; rank 0 receives some by tag and some by wildcards. */
  'non-overtaking': (m) => {
    const { COMM_WORLD: comm } = m;
    const got: number[] = [];
    if (comm.rank === 1) for (let i = 0; i < 60; i++) comm.send(f64(i), 0, 5);
    if (comm.rank === 0) {
      const buf = f64(0);
      for (let i = 0; i < 60; i++) {
        if (i % 3 === 0) comm.recv(buf, 1, 5);
        else if (i % 3 === 1) comm.recv(buf, m.ANY_SOURCE, 5);
        else comm.recv(buf, m.ANY_SOURCE, m.ANY_TAG);
        got.push(buf[0]!);
      }
    }
    return got;
  },
  /** Posted receives are matched in the order of their calls. */
  'posted order': (m) => {
    const { COMM_WORLD: comm } = m;
    if (comm.rank === 1) {
      comm.recv(f64(0), 0, 9);
      for (const [v, tag] of [
        [1, 1],
        [2, 2],
        [3, 1],
      ] as const)
        comm.send(f64(v), 0, tag);
      return [];
    }
    if (comm.rank !== 0) return [];
    const [a, b, c] = [f64(0), f64(0), f64(0)];
    const requests = [comm.irecv(a, m.ANY_SOURCE, m.ANY_TAG), comm.irecv(b, 1, 1), comm.irecv(c, 1, 2)];
    comm.send(f64(0), 1, 9);
    const statuses = m.waitall(requests);
    return [a[0], b[0], c[0], ...statuses.map((s) => s.tag)];
  },
  'head to head': (m) => {
    // Standard sends never wait for a receiver.
    const { COMM_WORLD: comm } = m;
    const peer = comm.rank ^ 1;
    if (peer >= comm.size) return 0;
    const buf = new Float64Array(50000).fill(comm.rank);
    comm.send(buf, peer);
    const s = comm.recv(buf, peer);
    return [buf[0], buf[49999], s.source, s.count(Float64Array)];
  },
  self: (m) => {
    const { COMM_WORLD: comm } = m;
    const r = comm.irecv(new Int32Array(3), comm.rank, 7);
    comm.send(new Int32Array([1, 2, 3]), comm.rank, 7);
    const s = r.wait();
    comm.sendObject({ a: [1, 'x'] }, comm.rank);
    m.COMM_SELF.send(new Uint8Array(2), 0, 1);
    const t = m.COMM_SELF.recv(new Uint8Array(5), 0, 1);
    return [
      s.source === comm.rank,
      s.tag,
      s.count(Int32Array),
      comm.recvObject(comm.rank).value,
      t.bytes,
      r.wait().source,
    ];
  },
  'proc null': (m) => {
    const { COMM_WORLD: comm } = m;
    const buf = f64(7);
    comm.send(buf, m.PROC_NULL);
    comm.ssend(buf, m.PROC_NULL);
    const s = comm.recv(buf, m.PROC_NULL);
    const p = comm.probe(m.PROC_NULL);
    return [buf[0], s.source, s.tag, s.bytes, p.source];
  },
  synchronous: (m) => {
    // "completes only when a matching receive has been posted, and the receive has started"
    const { COMM_WORLD: comm } = m;
    if (comm.rank === 0) {
      const r = comm.issend(f64(1), 1, 1);
      const early = r.test() !== undefined;
      comm.send(f64(0), 1, 2);
      r.wait();
      comm.ssend(f64(2), 1, 3);
      return early;
    }
    if (comm.rank === 1) {
      const buf = f64(0);
      comm.recv(buf, 0, 2);
      comm.recv(buf, 0, 1);
      comm.probe(0, 3);
      comm.recv(buf, 0, 3);
      return buf[0];
    }
    return undefined;
  },
  truncate: (m) => {
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    if (comm.rank === 1) {
      comm.send(f64(1, 2, 3), 0, 4);
      comm.send(f64(9), 0, 4);
    }
    if (comm.rank !== 0) return undefined;
    const buf = f64(0, 0);
    try {
      comm.recv(buf, 1, 4);
      return 'no error';
    } catch (e) {
      if (!(e instanceof m.MPIError)) throw e;
      const next = f64(0);
      comm.recv(next, 1, 4);
      return [e.errorClass === m.ERR_TRUNCATE, e.message, [...buf], next[0]];
    }
  },
  errors: (m) => {
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const messages: string[] = [];
    const attempt = (f: () => unknown): void => {
      try {
        f();
        messages.push('no error');
      } catch (e) {
        messages.push(e instanceof m.MPIError ? `${e.className}: ${e.message}` : String(e));
      }
    };
    attempt(() => comm.send(f64(1), comm.size, 0));
    attempt(() => comm.send(f64(1), 0, -5));
    attempt(() => comm.send(f64(1), m.ANY_SOURCE, 0));
    attempt(() => comm.recv(f64(1), 0, -7));
    attempt(() => comm.recv([1] as never, 0, 0));
    attempt(() => comm.bcast(f64(1), 99));
    attempt(() => comm.allreduce(f64(1), f64(1), m.BAND));
    attempt(() => comm.allreduce(f64(1, 2), f64(1), m.SUM));
    attempt(() => comm.allreduce(f64(1), new Int32Array(2) as never, m.SUM));
    attempt(() => comm.group.incl([0, 0]));
    attempt(() => m.dimsCreate(6, [4, 0]));
    attempt(() => comm.createCart([comm.size + 1]));
    attempt(() => comm.sendObject(() => 1, 0));
    attempt(() => comm.free());
    attempt(() => comm.gatherv(f64(1), { data: f64(1), counts: [1] }, comm.rank));
    return messages;
  },
  probing: (m) => {
    const { COMM_WORLD: comm } = m;
    if (comm.rank === 0) {
      const seen: unknown[] = [];
      for (let i = 1; i < comm.size; i++) {
        const s = comm.probe(m.ANY_SOURCE, 3);
        const buf = new Int32Array(s.count(Int32Array));
        const r = comm.recv(buf, s.source, s.tag);
        if (r.bytes !== s.bytes || buf.some((x) => x !== s.source)) seen.push([s, r, buf]);
      }
      let polls = 0;
      while (comm.iprobe(comm.size - 1, 4) === undefined)
        if (++polls % 50 === 0) comm.send(new Uint8Array(1), comm.size - 1, 5);
      return [seen, comm.iprobe(comm.size - 1, 4)!.bytes];
    }
    comm.send(new Int32Array(comm.rank * 3).fill(comm.rank), 0, 3);
    if (comm.rank === comm.size - 1) {
      comm.recv(new Uint8Array(1), 0, 5);
      comm.send(new Uint8Array(11), 0, 4);
    }
    return undefined;
  },
  'wait family': (m) => {
    const { COMM_WORLD: comm } = m;
    if (comm.rank !== 0) {
      comm.recv(new Uint8Array(1), 0, 100);
      comm.send(f64(comm.rank), 0, 1);
      comm.recv(new Uint8Array(1), 0, 101);
      comm.send(f64(-comm.rank), 0, 2);
      return undefined;
    }
    const n = comm.size - 1;
    const out: unknown[] = [];
    const bufs = Array.from({ length: n }, () => f64(0));
    const first: Request[] = bufs.map((b, i) => comm.irecv(b, i + 1, 1));
    out.push(m.testall(first) === undefined, m.testany(first) === undefined, m.testsome(first).length);
    for (let i = 1; i <= n; i++) comm.send(new Uint8Array(1), i, 100);
    const order: number[] = [];
    for (;;) {
      const r = m.waitany(first);
      if (!r) break;
      order.push(r.index);
      if (r.status.source !== r.index + 1) out.push('wrong source');
    }
    out.push(order.sort((a, b) => a - b).join(), bufs.map((b) => b[0]).join());
    const second = bufs.map((b, i) => comm.irecv(b, i + 1, 2));
    for (let i = 1; i <= n; i++) comm.send(new Uint8Array(1), i, 101);
    let left = n;
    while (left > 0) left -= m.waitsome(second).length;
    out.push(
      m.waitsome(second).length,
      m.testsome(second).length,
      m.waitany(second) === undefined,
      m.testall(second)?.length === n,
      bufs.map((b) => b[0]).join(),
    );
    return out;
  },
  cancelling: (m) => {
    const { COMM_WORLD: comm } = m;
    const buf = f64(5);
    const r = comm.irecv(buf, comm.rank, 77);
    r.cancel();
    const s = r.wait();
    comm.send(f64(6), comm.rank, 77);
    const free = comm.irecv(buf, comm.rank, 78);
    free.free();
    comm.send(f64(8), comm.rank, 78);
    const got = f64(0);
    comm.recv(got, comm.rank, 77);
    comm.barrier();
    return [s.cancelled, r.inactive, got[0], free.inactive, comm.size > 1 ? buf[0] : 8];
  },
  'ring exchange': (m) => {
    const { COMM_WORLD: comm } = m;
    const { rank, size } = comm;
    const buf = f64(rank);
    for (let i = 0; i < size; i++) comm.sendrecvReplace(buf, (rank + 1) % size, 1, (rank - 1 + size) % size, 1);
    const recv = f64(0);
    const s = comm.sendrecv(f64(rank), (rank + 1) % size, 2, recv, m.ANY_SOURCE, 2);
    return [buf[0] === rank, recv[0] === (rank - 1 + size) % size, s.source === recv[0]];
  },
  /** Random traffic with tests, wildcards and synchronous sends: sums arrive whole, and nothing is left. */
  traffic: (m, { seed, messages }: { seed: number; messages: number }) => {
    const { COMM_WORLD: comm } = m;
    const { rank, size } = comm;
    const d = draws(seed * 100 + rank);
    const expected = new Float64Array(size);
    const counts = new Int32Array(size);
    const pending: Request[] = [];
    let mine = 0;
    for (let i = 0; i < messages; i++) {
      const to = d.next(size);
      const n = [1, 2, 10, 5000][d.next(4)]!;
      const v = d.next(100);
      expected[to]! += v * n;
      counts[to]!++;
      const body = new Float64Array(n).fill(v);
      const how = d.next(4);
      if (how === 0) pending.push(comm.issend(body, to, d.next(3)));
      else if (how === 1) pending.push(comm.isend(body, to, d.next(3)));
      else comm.send(body, to, d.next(3));
      if (d.next(2) === 0) m.testsome(pending);
    }
    const incoming = new Int32Array(1);
    comm.reduceScatterBlock(counts, incoming);
    const total = new Float64Array(1);
    comm.reduceScatterBlock(expected, total);
    const big = new Float64Array(5000);
    for (let i = 0; i < incoming[0]!; i++) {
      const tag = m.ANY_TAG;
      let s = d.next(2) === 0 ? comm.iprobe(m.ANY_SOURCE, tag) : undefined;
      s ??= comm.probe(m.ANY_SOURCE, tag);
      const r = comm.recv(big, s.source, s.tag);
      for (let j = 0; j < r.count(Float64Array); j++) mine += big[j]!;
    }
    m.waitall(pending);
    comm.barrier();
    return mine === total[0];
  },
};
