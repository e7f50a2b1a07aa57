import { attempts } from './attempts.ts';
import type { Program } from './index.ts';

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
    const { restarted } = checkpoint.open({ intervalMs: 0 });
    if (restarted) {
      checkpoint.rollback('x');
      checkpoint.rollback(7);
      checkpoint.rollback('scalar');
    } else m.console.log(`rank ${rank} begins`);
    const left = (rank - 1 + size) % size;
    const right = (rank + 1) % size;
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
    checkpoint.close();
    return { x, scalar, state: { step: state.step, seen: [...state.seen] } };
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
    attempt(() => checkpoint.here(true));
    attempt(() => checkpoint.remove('nothing'));
    return said;
  },
};
