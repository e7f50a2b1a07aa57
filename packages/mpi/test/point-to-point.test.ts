/** Point to point, with the sentences of the MPI standard (4.1, chapter 3) that each test checks. */
import { afterAll, describe, expect, test } from 'vitest';
import { Fabric } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const SHUFFLES = [{}, { delay: 20000, seed: 5 }, { bodiless: 0.5, unexpectedBytes: 40, seed: 9 }];

describe.each(SHUFFLES)('with %o', (options) => {
  test('§3.5 "Messages are nonovertaking"', async () => {
    const [got] = await fabric.values(2, 'non-overtaking', undefined, options);
    expect(got).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });
  test(
    '§3.5 "If a receiver posts two receives in succession, and both match the same message, then the second ' +
      'receive operation cannot be satisfied by this message, if the first one is still pending"',
    async () => {
      const [got] = await fabric.values(2, 'posted order', undefined, options);
      expect(got).toEqual([1, 3, 2, 1, 1, 2]);
    },
  );
  test('random traffic arrives whole and leaves nothing', async () => {
    for (const size of [1, 2, 5, 8]) {
      const { answers } = await fabric.run(size, 'traffic', { seed: size, messages: 60 }, options);
      expect(answers.map((a) => a.error?.stack ?? a.value)).toEqual(Array.from({ length: size }, () => true));
      for (const a of answers)
        expect(a.left).toEqual({ requests: 0, posted: 0, unexpected: 0, scratch: 0, unexpectedBytes: 0 });
    }
  });
  test('a ring of sendrecv and sendrecv_replace', async () => {
    for (const size of [1, 2, 5])
      for (const v of await fabric.values(size, 'ring exchange', undefined, options))
        expect(v).toEqual([true, true, true]);
  });
  test('probes see what a receive with the same arguments would get', async () => {
    for (const size of [2, 4]) expect((await fabric.values(size, 'probing', undefined, options))[0]).toEqual([[], 11]);
  });
  test('the wait and test families', async () => {
    const [got] = await fabric.values(4, 'wait family', undefined, options);
    expect(got).toEqual([true, true, 0, '0,1,2', '1,2,3', 0, 0, true, true, '-1,-2,-3']);
  });
});

test('standard sends do not wait for a receiver: both may send first', async () => {
  const all = await fabric.values(4, 'head to head');
  expect(all).toEqual([1, 0, 3, 2].map((peer) => [peer, peer, peer, 50000]));
});

test('§3.2.4 "source = destination is allowed"', async () => {
  for (const v of await fabric.values(2, 'self')) expect(v).toEqual([true, 7, 3, { a: [1, 'x'] }, 2, -1]);
});

test('§3.11 "A communication with process MPI_PROC_NULL has no effect"', async () => {
  for (const v of await fabric.values(2, 'proc null')) expect(v).toEqual([7, -3, -2, 0, -3]);
});

test('§3.4 a synchronous send "will complete successfully only if a matching receive is posted"', async () => {
  const [early, last] = await fabric.values(2, 'synchronous');
  expect([early, last]).toEqual([false, 2]);
});

test('§3.2.2 "an overflow error occurs if all incoming data does not fit"; the next message is untouched', async () => {
  const [got] = await fabric.values(2, 'truncate');
  expect(got).toEqual([
    true,
    'MPI_Recv: the message of rank 1 with tag 4 has 24 bytes, the buffer holds 16 [MPI_ERR_TRUNCATE]',
    [1, 2],
    9,
  ]);
});

test('§3.8.4 a receive that has not matched can be cancelled; freed requests complete by themselves', async () => {
  for (const size of [1, 3])
    for (const v of await fabric.values(size, 'cancelling')) expect(v).toEqual([true, true, 6, true, 8]);
});

test('errors name the call, the argument and the allowed range', async () => {
  const [said] = await fabric.values<string[]>(2, 'errors');
  expect(said).toEqual([
    'MPI_ERR_RANK: MPI_Send: destination 2 is not a rank: MPI_COMM_WORLD has ranks 0 to 1 (or MPI_PROC_NULL) ' +
      '[MPI_ERR_RANK]',
    'MPI_ERR_TAG: MPI_Send: tag -5 is not in 0 to 2147483647 (MPI_TAG_UB) [MPI_ERR_TAG]',
    'MPI_ERR_RANK: MPI_Send: destination -1 is not a rank: MPI_COMM_WORLD has ranks 0 to 1 (or ' +
      'MPI_PROC_NULL) [MPI_ERR_RANK]',
    'MPI_ERR_TAG: MPI_Recv: tag -7 is not in 0 to 2147483647 (MPI_TAG_UB), nor MPI_ANY_TAG [MPI_ERR_TAG]',
    'MPI_ERR_BUFFER: MPI_Recv: the buffer is an array, not a typed array [MPI_ERR_BUFFER]',
    'MPI_ERR_ROOT: MPI_Bcast: root 99 is not a rank: MPI_COMM_WORLD has ranks 0 to 1 [MPI_ERR_ROOT]',
    'MPI_ERR_OP: MPI_Allreduce: MPI_BAND is for integers, not for MPI_DOUBLE [MPI_ERR_OP]',
    'MPI_ERR_BUFFER: MPI_Allreduce: the receive buffer has 8 bytes, 16 are needed (for 2 ranks) [MPI_ERR_BUFFER]',
    'MPI_ERR_TYPE: MPI_Allreduce: the receive buffer is a Int32Array, the other buffer has another element ' +
      'type [MPI_ERR_TYPE]',
    'MPI_ERR_RANK: MPI_Group_incl: rank 0 is listed twice [MPI_ERR_RANK]',
    'MPI_ERR_DIMS: MPI_Dims_create: 6 processes are not a multiple of the requested extents [4, 0] [MPI_ERR_DIMS]',
    'MPI_ERR_TOPOLOGY: MPI_Cart_create: dims [3] need 3 processes, MPI_COMM_WORLD has 2 [MPI_ERR_TOPOLOGY]',
    'MPI_ERR_TYPE: sendObject: value is a function [MPI_ERR_TYPE]',
    'MPI_ERR_COMM: MPI_Comm_free: MPI_COMM_WORLD cannot be freed [MPI_ERR_COMM]',
    'MPI_ERR_COUNT: MPI_Gatherv: the receive buffer has 1 counts, one for each of 2 ranks is needed [MPI_ERR_COUNT]',
  ]);
});

test('chapter 5: datatypes stand where typed arrays do', async () => {
  const [v] = await fabric.values<unknown[]>(1, 'datatypes');
  const row = (combiner: string, numbers: number[]): unknown => [combiner, numbers, 2, 2 * numbers.length, true, true];
  expect(v).toEqual([
    row('VECTOR', [0, 1, 5, 6, 10, 11]),
    row('HVECTOR', [0, 3]),
    row('INDEXED', [6, 7, 0]),
    row('INDEXED_BLOCK', [0, 1, 9, 10]),
    row('HINDEXED_BLOCK', [2, 1]),
    row('CONTIGUOUS', [0, 1, 2]),
    row('SUBARRAY', [9, 10, 15, 16]),
    row('SUBARRAY', [13, 14, 17, 18]),
    row('DARRAY', [1, 3, 5]),
    row('DUP', [0]),
    [22, 8, 1.5, 8, [0, 0, 1, 2]],
  ]);
});

test('a body is copied once when its receive is posted', async () => {
  const { answers } = await fabric.run(2, 'posted order');
  const c = answers[0]!.counters as { matchedBytes: number; storedBytes: number };
  // Three posted receives of 8 bytes, nothing stored.
  expect(c).toMatchObject({ matchedBytes: 24, storedBytes: 0 });
});
