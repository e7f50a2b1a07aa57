/**
 * One-sided communication (MPI 4.1 chapter 12) against a sequential oracle (programs/one-sided.ts), and ranks that are
 * lost in the middle of epochs.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { Fabric, type Run } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const SHUFFLES = [{}, { delay: 20000, seed: 5 }, { bodiless: 0.5, unexpectedBytes: 60, seed: 9 }];

interface Answer {
  wrong: string[];
  memory: Int32Array;
  seen: number[];
}

describe.each([1, 2, 3, 5])('random operations on %i ranks', (size) => {
  const input = { seed: 40 + size, epochs: 30 };
  const runs: Run[] = [];

  // §12.7.1: "the outcome … is as if [the accumulates] occurred in some sequential order"; of one origin "in the order
  // in which they were issued" (§12.7.2).
  test.each(SHUFFLES)('have the outcome of a sequential execution, with %o', async (options) => {
    const run = await fabric.run(size, 'random windows', input, { patience: 60_000, ...options });
    expect(run.answers.map((a) => a.error?.stack ?? (a.value as Answer).wrong)).toEqual(run.answers.map(() => []));
    for (const a of run.answers)
      expect(a.left).toEqual({ requests: 0, posted: 0, unexpected: 0, scratch: 0, unexpectedBytes: 0 });
    runs.push(run);
  });

  test(
    'a rank that is lost starts again from its beginning or an image in the middle: the same answer, nothing ' +
      'sent twice',
    async () => {
      for (let rank = 0; rank < size; rank++) {
        const run = runs[rank % runs.length]!;
        const first = run.answers[rank]!;
        for (const image of [undefined, first.images[(7 * rank + 3) % 30], first.images[29 - ((5 * rank) % 30)]]) {
          const again = await fabric.restart(run, rank, 'random windows', input, image, {
            bodiless: 0.3,
            unexpectedBytes: 100,
            seed: 70 + rank,
            patience: 60_000,
          });
          expect(again.error?.stack).toBeUndefined();
          expect(again.value).toEqual(first.value);
          expect(again.log.sends).toEqual(first.log.sends);
        }
      }
    },
  );
});

test('errors name the call, the argument and the allowed range', async () => {
  const [said] = await fabric.values<string[]>(1, 'window errors');
  expect(said).toEqual([
    'MPI_Put: no epoch is open: MPI_Win_fence, MPI_Win_start or MPI_Win_lock comes first [MPI_ERR_RMA_SYNC]',
    'MPI_Put: the access is to bytes 32 to 40 of the window of rank 0, which has 32 [MPI_ERR_RMA_RANGE]',
    'MPI_Put: target_disp -1 is negative [MPI_ERR_DISP]',
    'MPI_Put: target 9 is not a rank: the window has ranks 0 to 0 (or MPI_PROC_NULL) [MPI_ERR_RANK]',
    'MPI_Put: the buffer is an array, not a typed array [MPI_ERR_BUFFER]',
    'no error',
    'MPI_Accumulate: MPI_BAND is for integers, not for MPI_DOUBLE [MPI_ERR_OP]',
    'MPI_Compare_and_swap: the buffers have to be integers of one type [MPI_ERR_TYPE]',
    'MPI_Win_free: there is an epoch of MPI_Win_lock [MPI_ERR_RMA_SYNC]',
    'MPI_Win_fence: assertion 1 has bits other than those of MPI_MODE_NOCHECK, NOSTORE, NOPUT, NOPRECEDE and ' +
      'NOSUCCEED [MPI_ERR_ASSERT]',
    'the window, rank 0 of 1, 4 elements',
    'MPI_Win_fence: 1 is not a window, or it was freed [MPI_ERR_WIN]',
    'MPI_Win_create: the memory is a Object, not a typed array [MPI_ERR_BUFFER]',
    'MPI_Win_create: the communicator is a Object [MPI_ERR_COMM]',
  ]);
});
