/**
 * Datatypes in files, windows, collectives of blocks and local reductions, and what datatypes and windows carry. Ranks
 * give what they have seen, and what was wrong.
 */
import { attempts } from './attempts.ts';
import type { MayflyModule } from '../../src/index.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';
import type { Program } from './program.ts';

/** Records of an i32 and an f64, four bytes apart. */
function records(
  m: MayflyModule,
  n: number,
  from: number,
): { type: Mayfly.Datatype; view: DataView; numbers: () => number[] } {
  const type = m
    .struct([
      { offset: 0, type: Int32Array },
      { offset: 8, type: Float64Array },
    ])
    .resized(0, 16);
  const view = new DataView(new ArrayBuffer(16 * n));
  for (let i = 0; i < n; i++) {
    view.setInt32(16 * i, from + i, true);
    view.setFloat64(16 * i + 8, from + i + 0.5, true);
  }
  return {
    type,
    view,
    numbers: () =>
      Array.from({ length: n }, (_, i) => [view.getInt32(16 * i, true), view.getFloat64(16 * i + 8, true)]).flat(),
  };
}

export const datatypePrograms: Record<string, Program> = {
  'datatypes everywhere': (m: MayflyModule, { steps, dieAt }: { steps: number; dieAt?: number }) => {
    const { COMM_WORLD: comm, checkpoint } = m;
    const { rank, size } = comm;
    const [left, right] = [(rank - 1 + size) % size, (rank + 1) % size];
    // A column of a 4 × 3 matrix.
    const column = m.datatype(Float64Array).vector(4, 1, 3);
    const seen = m.createKeyval<number, Mayfly.Win>();
    const uses = m.createKeyval<number, Mayfly.Datatype>();
    const memory = new Float64Array(12);
    const win = m.Win.create(memory, comm, { same_size: 'true' });
    const f = m.File.open(comm, 'columns', 'rw', { hint: 'x' });
    const a = Float64Array.from({ length: 12 }, (_, i) => 100 * rank + i);
    const state = { step: 0, wrong: [] as string[] };
    const same = (what: string, got: Iterable<unknown>, want: Iterable<unknown>): void => {
      const [g, w] = [[...got].join(), [...want].join()];
      if (g !== w) state.wrong.push(`step ${state.step}, ${what}: ${g}, not ${w}`);
    };
    checkpoint.register('a', a);
    checkpoint.register('state', state);
    if (checkpoint.open({ intervalMs: 0 }).restarted) {
      checkpoint.rollback('a');
      checkpoint.rollback('state');
    }
    for (; state.step < steps; state.step++) {
      checkpoint.here();
      const of = (r: number, i: number): number => 100 * r + i + 1000 * state.step;

      // Files: a column is written and read as one, records with holes lie in every `size`-th place.
      f.setView(64 * rank, Float64Array);
      const writes = f.iwriteAll(column.of(a, 1, 1));
      if (state.step === dieAt) throw new Error('killed');
      same('written bytes', [writes.wait().bytes, f.position], [32, 4]);
      f.iwriteAtAll(a.subarray(0, 2), 6).wait();
      comm.barrier();
      f.seek(0);
      const b = new Float64Array(12).fill(-1);
      same(
        'columns read',
        [
          f
            .ireadAll(column.of(b, 1, 2))
            .wait()
            .count(column),
          ...b,
        ],
        [1, ...b.keys()].map((i, k) => (k === 0 ? 1 : i % 3 === 2 ? of(rank, i - 1) : -1)),
      );
      const next = new Float64Array(2);
      f.setView(0, Float64Array);
      f.ireadAtAll(next, 8 * right + 6).wait();
      same('read of the neighbour', next, [of(right, 0), of(right, 1)]);
      const mine = records(m, 3, of(rank, 0));
      f.setView(1024 + 16 * rank, mine.type, mine.type.resized(0, 16 * size));
      same('records written', [f.writeAll(mine.type.of(mine.view, 3))], [3]);
      comm.barrier();
      f.setView(1024 + 16 * right, mine.type, mine.type.resized(0, 16 * size));
      const their = records(m, 3, 7);
      // Beyond the third there is nothing: what stood in the array stays.
      same(
        'records read',
        [f.readAt(their.type.of(their.view, 3), 1), ...their.numbers()],
        [2, of(right, 1), of(right, 1) + 0.5, of(right, 2), of(right, 2) + 0.5, 9, 9.5],
      );
      comm.barrier();

      // Windows: both sides say which elements.
      memory.fill(0);
      win.fence();
      win.put(column.of(a, 1, 2), right, { datatype: column });
      win.fence();
      same(
        'put',
        memory,
        Array.from(memory.keys(), (i) => (i % 3 === 0 ? of(left, i + 2) : 0)),
      );
      // The fence began the next epoch: whoever is ahead waits until this rank has looked.
      comm.barrier();
      const got = new Float64Array(12).fill(-1);
      win.accumulate(column.of(a, 1, 0), right, { disp: 1, datatype: column });
      win.getAccumulate(
        column.of(a, 1, 0),
        column.of(got, 1, 1),
        right,
        { disp: 2, datatype: column, count: 1 },
        m.SUM,
      );
      win.fence();
      same(
        'accumulated',
        memory,
        Array.from(memory.keys(), (i) => of(left, i % 3 === 0 ? i + 2 : i - (i % 3))),
      );
      comm.barrier();
      win.lock(right, 'shared');
      win.rget(column.of(got, 1, 2), right, { disp: 1, datatype: column }).wait();
      win.get(got.subarray(0, 1), right, 3);
      win.unlock(right);
      // Of this rank: the left neighbour of its right one.
      same(
        'fetched',
        got,
        Array.from(got.keys(), (i) => (i === 0 ? of(rank, 5) : i % 3 === 0 ? -1 : i % 3 === 1 ? 0 : of(rank, i - 2))),
      );
      win.fence();

      // Blocks: everybody's column into a matrix of `size` columns, and back out of it.
      const places = m.datatype(Float64Array).vector(4, 1, size).resized(0, 8);
      const table = new Float64Array(4 * size);
      const ones = new Array<number>(size).fill(1);
      comm.allgatherv(column.of(a), { data: table, datatype: places, counts: ones });
      same(
        'allgatherv',
        table,
        Array.from(table.keys(), (i) => of(i % size, 3 * Math.floor(i / size))),
      );
      const out = new Float64Array(4);
      comm.scatterv(
        rank === 0 ? { data: table, datatype: places, counts: ones, displs: ones.map((_, i) => size - 1 - i) } : null,
        out,
      );
      same(
        'scatterv',
        out,
        Array.from(out.keys(), (i) => of(size - 1 - rank, 3 * i)),
      );
      const turned = new Float64Array(4 * size);
      comm.alltoallv(
        { data: table, datatype: places, counts: ones },
        { data: turned, datatype: m.datatype(Float64Array), counts: ones.map(() => 4) },
      );
      same(
        'alltoallv',
        turned,
        Array.from(turned.keys(), (i) => of(rank, 3 * (i % 4))),
      );

      const sum = new Float64Array(12).fill(1);
      m.SUM.reduceLocal(column.of(a), column.of(sum, 1, 1));
      same(
        'reduceLocal',
        sum,
        Array.from(sum.keys(), (i) => (i % 3 === 1 ? of(rank, i - 1) + 1 : 1)),
      );

      win.setAttr(seen, (win.getAttr(seen) ?? 0) + memory[0]!);
      m.datatype(Int8Array).setAttr(uses, (m.datatype(Int8Array).getAttr(uses) ?? 0) + 1);
      column.setAttr(uses, (column.getAttr(uses) ?? 10) + 1);
      f.setInfo({ step: String(state.step) });
      win.setInfo({ step: String(state.step) });
      a.forEach((_, i) => (a[i] = of(rank, i) + 1000));
    }
    return {
      wrong: state.wrong,
      a,
      seen: win.getAttr(seen),
      uses: [m.datatype(Int8Array).getAttr(uses), column.getAttr(uses)],
      info: [f.info, win.info],
    };
  },

  /** What windows and datatypes carry, handlers of windows, and misuse. */
  'datatypes and windows': (m: MayflyModule) => {
    const log: string[] = [];
    const key = m.createKeyval<string, Mayfly.Datatype>({
      copy: (t, v) => (v === 'one' ? `${v} of ${t.size}` : undefined),
      delete: (t, v) => log.push(`${v} goes from ${t.size}`),
    });
    const other = m.createKeyval<string, Mayfly.Datatype>();
    const pair = m.datatype(Int32Array).contiguous(2);
    pair.setAttr(key, 'one');
    pair.setAttr(other, 'kept');
    const twin = pair.dup();
    const carried = [twin.getAttr(key), twin.getAttr(other), pair.getAttr(other)];
    pair.setAttr(key, 'two');
    twin.deleteAttr(key);
    pair.free();
    m.datatype(Int32Array).setAttr(key, 'named');

    const win = m.Win.create(new Int32Array(4));
    const name = m.createKeyval<string, Mayfly.Win>({ delete: (w, v) => log.push(`${v} goes from ${w.name}`) });
    win.name = 'a window';
    win.setAttr(name, 'its name');
    const handled: string[] = [];
    const handler = m.ErrorHandler.create((w: Mayfly.Win, e) => handled.push(`${w.name}: ${e.className}`));
    win.setErrhandler(handler);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const { said, attempt } = attempts();
    attempt(() => win.put(new Int32Array(1), 0));
    handled.push(win.getErrhandler().name);
    try {
      win.put(new Int32Array(1), 9);
    } catch (e) {
      win.callErrhandler(e as Mayfly.MPIError);
    }
    win.lock(0);
    attempt(() => win.put(new Int32Array(1), 0, { datatype: twin }));
    attempt(() => win.put(new Int32Array(4), 0, { disp: 1, datatype: twin, count: 2 }));
    attempt(() => win.put(new Int32Array(4), 0, { datatype: twin, count: -1 }));
    const mixed = m.struct([
      { offset: 0, type: Int32Array },
      { offset: 4, type: Float32Array },
    ]);
    attempt(() => win.accumulate(mixed.of(new Uint8Array(8)), 0));
    attempt(() => win.accumulate(mixed.of(new Uint8Array(8).fill(1)), 0, 0, m.REPLACE));
    attempt(() => win.getAccumulate(mixed.of(new Uint8Array(8)), new Uint8Array(8), 0));
    win.unlock(0);
    attempt(() => win.setInfo({ '': 'x' }));
    win.free();
    attempt(() => m.SUM.reduceLocal(new Int32Array(2), new Int32Array(3)));
    attempt(() => m.SUM.reduceLocal(new Int32Array(2), new Float32Array(2) as never));
    attempt(() => m.BAND.reduceLocal(new Float64Array(2), new Float64Array(2)));
    attempt(() => m.SUM.reduceLocal(mixed.of(new Uint8Array(8)), mixed.of(new Uint8Array(8))));
    const swapped = m.Op.create((x: Int32Array, y: Int32Array) => y.forEach((v, i) => (y[i] = 10 * x[i]! + v)), false);
    const result = Int32Array.of(3, 4);
    swapped.reduceLocal(Int32Array.of(1, 2), result);
    const { COMM_WORLD: comm } = m;
    comm.setErrhandler(m.ERRORS_RETURN);
    const block = (counts: number[], displs?: number[]): Mayfly.Vector<Int32Array> => ({
      data: new Int32Array(4),
      datatype: twin,
      counts,
      ...(displs && { displs }),
    });
    attempt(() => comm.allgatherv(new Int32Array(2), block([3])));
    attempt(() => comm.allgatherv(new Int32Array(2), block([-1])));
    attempt(() => comm.allgatherv(new Int32Array(2), block([1], [0.5])));
    attempt(() => comm.allgatherv(new Int32Array(2), block([1], [1])));
    name.free();
    other.free();
    attempt(() => twin.setAttr(other, 'x'));
    attempt(() => m.datatype(Int32Array).free());
    attempt(() => comm.spawnMultiple([]));
    attempt(() => m.createIntercommFromGroups(comm.group, 1, null, 0, 'x'));
    attempt(() => m.createIntercommFromGroups(comm.group, 0, comm.group, 0, 'y'));
    return { carried, log, handled, said, result, named: m.datatype(Int32Array).getAttr(key) };
  },
};
