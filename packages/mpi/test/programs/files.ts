/**
 * Programs that read and write the job's files through the API. Each gives what it has seen; ranks that begin anew have
 * to see the same.
 */
import type { MayflyModule } from '../../src/index.ts';
import type { Program } from './program.ts';

function expectError(m: MayflyModule, f: () => unknown, errorClass: number): void {
  try {
    f();
  } catch (e) {
    if (e instanceof m.MPIError && e.errorClass === errorClass) return;
    throw e;
  }
  throw new Error(`no error of class ${errorClass}`);
}

export const filePrograms: Record<string, Program> = {
  /** Every rank has each `size`-th number of a file. */
  interleaved: (m, each: number) => {
    const { rank, size } = m.COMM_WORLD;
    const f = m.File.open(m.COMM_WORLD, 'numbers', 'rw');
    f.setView(0, Int32Array, { blocks: [[rank, 1]], extent: size });
    f.writeAll(Int32Array.from({ length: each }, (_, i) => i * size + rank));
    m.COMM_WORLD.barrier();
    const back = new Int32Array(each);
    f.seek(0);
    f.readAll(back);
    f.close();
    return back.every((x, i) => x === i * size + rank);
  },

  sharedFiles: (m) => {
    const comm = m.COMM_WORLD;
    const { rank, size } = comm;
    const seen: unknown[] = [];
    expectError(m, () => m.File.open(comm, 'none'), m.ERR_NO_SUCH_FILE);
    expectError(m, () => m.File.open(comm, 'a b', 'rw'), m.ERR_BAD_FILE);
    const f = m.File.open(comm, 'out/data', 'rw');
    // Columns of a matrix, one after the other of the ranks.
    f.setView(0, Float64Array, { blocks: [[2 * rank, 2]], extent: 2 * size });
    f.writeAll(Float64Array.from({ length: 8 }, (_, i) => rank + i / 10));
    seen.push(f.position, f.byteOffset(2));
    comm.barrier();
    f.setView(0, Float64Array);
    const row = new Float64Array(2 * size);
    seen.push(f.readAt(row, 2 * size), [...row], f.size);
    seen.push(f.readAt(row, 8 * size - 1), f.readAt(row, 8 * size + 5));
    // Shared pointers: who comes first is decided once.
    f.seekShared(0, m.SEEK_END);
    const mine = f.positionShared >= 8 * size;
    comm.barrier();
    for (let i = 0; i < 3; i++) f.writeShared(Float64Array.of(100 * rank + i));
    const [r, w] = [f.ireadAt(row.subarray(0, 2), 2 * rank), f.iwriteShared(Float64Array.of(-1 - rank))];
    m.waitall([r, w]);
    seen.push(mine, row[0], row[1]);
    comm.barrier();
    const tail = new Float64Array(4 * size);
    seen.push(f.readAtAll(tail, 8 * size), [...tail]);
    f.writeOrdered(new Float64Array(1 + rank).fill(rank));
    f.seek(-1, m.SEEK_END);
    comm.barrier();
    seen.push(f.size, f.group.size, f.amode);
    expectError(m, () => f.seek(-1), m.ERR_ARG);
    f.close();
    expectError(m, () => f.size, m.ERR_FILE);
    const input = m.File.open(comm, 'in.txt');
    const bytes = new Uint8Array(20);
    const n = input.readAll(bytes);
    seen.push(new TextDecoder().decode(bytes.subarray(0, n)), input.position);
    expectError(m, () => input.write(bytes), m.ERR_READ_ONLY);
    input.close();
    return seen;
  },
};
