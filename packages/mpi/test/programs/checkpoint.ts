import { attempts } from './attempts.ts';
import type { Program } from './program.ts';

export const checkpointPrograms: Record<string, Program> = {
  /** A stencil with wildcards, polls, a split from the prologue and output: what it returns depends on everything. */
  stencil: (m, { steps }: { steps: number }) => {
    const { COMM_WORLD: comm, checkpoint } = m;
    const { rank, size } = comm;
    const pairs = comm.split(rank >> 1, rank)!;
    const n = 40;
    const x = Float64Array.from({ length: n }, (_, i) => rank * n + i);
    const state = { step: 0, log: [] as number[], seen: new Map<number, number>() };
    let scalar = 1;
    checkpoint.register('x', x);
    checkpoint.register(7, state);
    checkpoint.register('scalar', { get: () => scalar, set: (v: number) => (scalar = v) });
    const left = (rank - 1 + size) % size;
    const right = (rank + 1) % size;
    // Longer than what may be kept unmatched, and taken last: its body stays in the log behind every image from the
    // second on.
    comm.send(new Float64Array(64).fill(rank), right, 7777);
    const { restarted } = checkpoint.open({ intervalMs: 0 });
    if (restarted) {
      checkpoint.rollback('x');
      checkpoint.rollback(7);
      checkpoint.rollback('scalar');
    } else m.console.log(`rank ${rank} begins`);
    for (; state.step < steps; state.step++) {
      checkpoint.here();
      // The neighbours run ahead: messages of later steps wait unexpected while the image is taken.
      comm.send(x.subarray(n - 1), right, state.step);
      comm.send(x.subarray(0, 1), left, 1000 + state.step);
      const halo = new Float64Array(2);
      comm.recv(halo.subarray(0, 1), left, state.step);
      let polls = 0;
      while (!comm.iprobe(right, 1000 + state.step)) polls++;
      state.log.push(polls > 0 ? 1 : 0);
      comm.recv(halo.subarray(1), right, 1000 + state.step);
      for (let i = 0; i < n; i++) x[i] = 0.5 * x[i]! + 0.25 * (x[i - 1] ?? halo[0]!) + 0.25 * (x[i + 1] ?? halo[1]!);
      scalar += pairs.allreduce(x[0]!);
      if (state.step % 3 === 0) {
        const all = comm.allreduce(scalar, m.MAX);
        state.seen.set(state.step, all);
        m.console.log(`rank ${rank} step ${state.step}: ${all}`);
        m.files.append('trace.txt', `${state.step}\n`);
      }
      if (rank === 0 && size > 1) for (let k = 1; k < size; k++) comm.recv(new Float64Array(1), m.ANY_SOURCE, 5000);
      else if (size > 1) comm.send(x.subarray(0, 1), 0, 5000);
    }
    const late = new Float64Array(64);
    comm.recv(late, left, 7777);
    checkpoint.close();
    return { x, scalar, late, state: { step: state.step, seen: [...state.seen] } };
  },
  /**
   * Persistent and partitioned requests, neighbours, matched probes, datatypes, attributes, counts: what it returns
   * depends on all of them.
   */
  everything: (m, { steps, dieAt }: { steps: number; dieAt?: number }) => {
    const { COMM_WORLD: comm, checkpoint } = m;
    const { rank, size } = comm;
    const [left, right] = [(rank - 1 + size) % size, (rank + 1) % size];
    const ring = comm.createDistGraphAdjacent([left, right], [right, left]);
    const visits = m.createKeyval<number>({ copy: (_, n) => n + 100 });
    const column = m.datatype(Float64Array).vector(4, 1, 4);
    const a = Float64Array.from({ length: 16 }, (_, i) => rank + i / 16);
    const into = new Float64Array(16);
    const parts = new Float64Array(6);
    const came = new Float64Array(12);
    const pairs = m.datatype(Float64Array).vector(1, 1, 1).resized(0, 16);
    const most = new Float64Array(2);
    const halo = new Float64Array(2);
    const state = { step: 0, log: [] as unknown[] };
    const send = comm.sendInit(column.of(a, 1, 3), right, 1);
    const recv = comm.recvInit(column.of(into), left, 1);
    const max = comm.allreduceInit(m.IN_PLACE, most, m.MAX);
    const around = ring.neighborAlltoallInit(a.subarray(0, 2), halo);
    const out = comm.psendInit(parts, 3, right, 2);
    // Every other number of the array, in two partitions of three.
    const arriving = comm.precvInit(pairs.of(came, 6), 2, left, 2);
    checkpoint.register('arrays', a);
    checkpoint.register('rest', {
      get: () => ({ into, parts, came, most, halo, state }),
      set: (v: {
        into: Float64Array;
        parts: Float64Array;
        came: Float64Array;
        most: Float64Array;
        halo: Float64Array;
        state: typeof state;
      }) => {
        [into, parts, came, most, halo].forEach((x, i) => x.set([v.into, v.parts, v.came, v.most, v.halo][i]!));
        Object.assign(state, v.state);
      },
    });
    if (checkpoint.open({ intervalMs: 0 }).restarted) {
      checkpoint.rollback('arrays');
      checkpoint.rollback('rest');
    }
    for (; state.step < steps; state.step++) {
      checkpoint.here();
      a.forEach((x, i) => (a[i] = x + into[i]! / 2 + came[i % 12]!));
      parts.forEach((_, i) => (parts[i] = a[i]! + i));
      m.startall([recv, send, around, out, arriving]);
      out.ready(2);
      comm.send(a.subarray(0, 2), right, 3);
      const message = comm.mprobe(m.ANY_SOURCE, 3);
      out.readyRange(0, 0);
      // In the middle of everything.
      if (state.step === dieAt) throw new Error('killed');
      const two = new Float64Array(2);
      state.log.push(message.recv(two).source, two[1]);
      out.readyList([1]);
      let polls = 0;
      while (!arriving.arrived(1)) polls++;
      state.log.push(polls > 0, came[10]);
      m.waitall([recv, send, around, out, arriving]);
      most.set([a[0]! + halo[0]!, a[1]! - halo[1]!]);
      max.start();
      max.wait();
      comm.setAttr(visits, (comm.getAttr(visits) ?? 0) + most[0]!);
    }
    const counts = m.tool.read('messages_sent') + m.tool.read('bytes_received');
    return { a, into, came, most, halo, log: state.log, counts, attribute: comm.dup().getAttr(visits) };
  },
  'checkpoint errors': (m) => {
    const { COMM_WORLD: comm, checkpoint } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const { said, attempt } = attempts();
    attempt(() => checkpoint.here());
    attempt(() => checkpoint.register('f', (() => 1) as never));
    attempt(() => checkpoint.register('', {}));
    checkpoint.open();
    attempt(() => checkpoint.open());
    attempt(() => checkpoint.rollback('x'));
    const r = comm.irecv(new Uint8Array(1), comm.rank, 1);
    attempt(() => checkpoint.here());
    r.cancel();
    r.wait();
    const late = comm.dup();
    attempt(() => checkpoint.here());
    late.free();
    const persistent = comm.sendInit(new Uint8Array(1), comm.rank);
    attempt(() => checkpoint.here());
    persistent.free();
    comm.send(new Uint8Array(1), comm.rank);
    const message = comm.mprobe();
    attempt(() => checkpoint.here());
    message.recv(new Uint8Array(1));
    attempt(() => checkpoint.here(true));
    attempt(() => checkpoint.remove('nothing'));
    return said;
  },
};
