/** Groups, communicators, topologies (MPI 4.1 chapters 7 and 8), error handlers (chapter 9). */
import { afterAll, expect, test } from 'vitest';
import { Fabric } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

test('§7.2 messages on one communicator are never received on another', async () => {
  for (const size of [1, 2, 5])
    for (const v of await fabric.values(size, 'contexts', undefined, { delay: 2000 }))
      expect(v).toEqual(['CONGRUENT', 'IDENT', 'dup of MPI_COMM_WORLD', 2, 1]);
});

test('split orders by key, then by old rank; create takes a group', async () => {
  for (const size of [2, 5, 8]) {
    const all = await fabric.values<{
      members: number[];
      none: number | null;
      again: string;
      upper: number;
      group: number[];
    }>(size, 'splits');
    all.forEach((v, rank) => {
      const mine = Array.from({ length: size }, (_, i) => size - 1 - i).filter((r) => r % 2 === rank % 2);
      expect(v).toEqual({
        members: mine,
        none: rank === 0 ? null : size - 1,
        again: 'CONGRUENT',
        upper: rank >= size >> 1 ? size - (size >> 1) : 0,
        group: [mine[0]],
      });
    });
  }
});

test('group operations', async () => {
  const all = await fabric.values<unknown[]>(5, 'groups');
  all.forEach((v, rank) =>
    expect(v).toEqual([3, 2, 5, 'SIMILAR', 'IDENT', 'IDENT', [0, 4], rank % 2 ? (rank - 1) / 2 : -32766, [1]]),
  );
});

test('Cartesian grids: coordinates row-major, shifts, periods, sub-grids', async () => {
  const all = await fabric.values(7, 'cart');
  expect(all[6]).toBeNull();
  expect(all[0]).toEqual({
    dims: [3, 2],
    coords: [0, 0],
    same: true,
    wrap: 4,
    up: { source: 4, dest: 2 },
    right: { source: -3, dest: 1 },
    row: [0, 1],
    column: [0, 2, 4],
    rowDims: [2],
    rowPeriods: [false],
    dup: [0, 0],
  });
  expect(all[5]).toEqual({
    dims: [3, 2],
    coords: [2, 1],
    same: true,
    wrap: 4,
    up: { source: 3, dest: 1 },
    right: { source: 4, dest: -3 },
    row: [4, 5],
    column: [1, 3, 5],
    rowDims: [2],
    rowPeriods: [false],
    dup: [2, 1],
  });
});

test('§8.5.2 dims_create: "as close to each other as possible", in falling order', async () => {
  const [dims] = await fabric.values(1, 'dims');
  expect(dims).toEqual([
    [4, 3],
    [3, 2],
    [7, 1],
    [3, 2, 1],
    [2, 3, 1],
    [4, 4, 4],
    [1, 1],
    [10, 10, 10],
    [6, 6],
    [1000, 1000, 1000],
    [13, 9, 8, 6],
    [...Array<number>(10).fill(4), ...Array<number>(10).fill(2)],
    [19, 17, 13, 11, 7, 5, 3, 3, 3, 3, 2, 2, 2, 2, 1],
  ]);
});

test('§8.6 collectives of neighbours, in all forms, on grids and graphs', async () => {
  for (const size of [3, 4, 6]) {
    const all = await fabric.values<{
      wrong: string[];
      index: number;
      of0: number;
      weights: unknown;
      none: unknown;
      errors: string;
    }>(size, 'neighbours', undefined, { delay: 1000, seed: size });
    expect(all.flatMap((v) => v.wrong)).toEqual([]);
    all.forEach((v, rank) => {
      const before = (by: number): number => (rank - by + size) % size;
      expect([v.index, v.of0, v.none]).toEqual([size, size - 1, undefined]);
      // Of the edges to it, in the order in which rank 0 told them.
      const into = [
        [before(1), before(1)],
        [before(2), 10 * before(2)],
      ]
        .sort((a, b) => a[0]! - b[0]!)
        .map((x) => x[1]);
      expect(v.weights).toEqual({ sources: into, destinations: [rank, 10 * rank] });
    });
    expect(all[0]!.errors).toContain(
      `MPI_Neighbor_allgather: the receive buffer has ${2 * size - 1} bytes, which ${size - 1} neighbours ` +
        'cannot share evenly',
    );
  }
});

test('§7.7 attributes, hints; §7.4.2 idup as of its call; §11.3 process sets; split_type', async () => {
  const size = 3;
  const all = await fabric.values<unknown[]>(size, 'caching');
  all.forEach((v, rank) =>
    expect(v).toEqual([
      { hint: 'x' },
      {},
      { n: 2 },
      undefined,
      { n: 10 },
      'here',
      size,
      { n: 3 },
      {},
      { a: 'b' },
      undefined,
      ['mpi://WORLD', 'mpi://SELF'],
      { mpi_size: '1' },
      size,
      1,
      size - 1 - rank,
      null,
      ['delete 1', 'delete 3'],
      'MPI_Group_from_session_pset: the session was finalized [MPI_ERR_SESSION]',
      'MPI_Comm_set_attr: the key was freed [MPI_ERR_KEYVAL]',
      expect.stringContaining('MPI_ERR_TYPE'),
      "MPI_Comm_set_info: the value of 'a' is not a text of at most 1023 characters [MPI_ERR_INFO_VALUE]",
    ]),
  );
});

test('§15.3 the tool interface counts', async () => {
  const [v] = await fabric.values(1, 'tools');
  expect(v).toEqual([
    { messages_sent: 1, bytes_sent: 24 },
    { messages_sent: 0, bytes_sent: 0 },
    true,
    ['messages', 'collectives', 'checkpoints'],
    true,
  ]);
});

test('error handlers: a function is called, then the call throws', async () => {
  const [v] = await fabric.values(1, 'handler function');
  expect(v).toEqual([['MPI_COMM_WORLD MPI_ERR_RANK', 'MPIError'], true]);
});

test('MPI_ERRORS_ARE_FATAL ends the job, whoever catches', async () => {
  const { answers } = await fabric.run(1, 'fatal');
  expect(answers[0]!.exit).toMatchObject({
    code: 1,
    abort: { code: 'MPI_ERROR', message: expect.stringContaining('destination 1234') },
  });
});
