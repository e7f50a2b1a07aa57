/**
 * Datatypes where typed arrays stand (MPI 4.1 chapters 5, 6, 12, 14), attributes of datatypes and windows (§7.7), hints
 * of windows and files (§12.2.7, §14.2.8).
 */
import { afterAll, expect, test } from 'vitest';
import { Fabric, type Answer } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const PATIENCE = { patience: 120_000 };
const input = { steps: 3 };

test(
  'in files, windows, blocks and local reductions; a rank that dies while a collective write is under way, ' +
    'from its start or an image: the same answers',
  async () => {
    const whole = await fabric.run(3, 'datatypes everywhere', input, PATIENCE);
    expect(whole.answers.map((a) => a.error?.stack ?? (a.value as { wrong: string[] }).wrong)).toEqual([[], [], []]);
    const first = whole.answers[1]!;
    expect(first.value).toMatchObject({
      uses: [3, 13],
      info: [
        { hint: 'x', step: '2' },
        { same_size: 'true', step: '2', no_locks: 'false' },
      ],
    });
    const answer = (a: Answer): unknown => ({ value: a.value, sends: [...a.log.sends].sort() });
    for (const [victim, from] of [
      [1, 'start'],
      [2, 'image'],
    ] as const) {
      const run = fabric.begin(3, 'datatypes everywhere', input, PATIENCE, (rank) =>
        rank === victim ? { ...input, dieAt: 1 } : input,
      );
      const dead = await run.answers[victim]!;
      expect(dead.error?.message).toBe('killed');
      const again = fabric.restart(
        run,
        victim,
        'datatypes everywhere',
        input,
        from === 'image' ? dead.images.at(-1) : undefined,
        PATIENCE,
        dead.log,
      );
      const all = await Promise.all(run.answers.map((a, rank) => (rank === victim ? again : a)));
      expect(all.map((a) => a.error?.stack)).toEqual([undefined, undefined, undefined]);
      expect(all.map(answer)).toEqual(whole.answers.map(answer));
    }
    // After all have ended: attributes and hints are in the images.
    for (const image of first.images) {
      const again = await fabric.restart(whole, 1, 'datatypes everywhere', input, image, {
        ...PATIENCE,
        bodiless: 0.5,
        seed: 3,
      });
      expect(again.error?.stack).toBeUndefined();
      expect(again.value).toEqual(first.value);
    }
  },
);

test("§7.7 what datatypes and windows carry; a window's handler gets the window; misuse says what is wrong", async () => {
  const [v] = await fabric.values(1, 'datatypes and windows');
  expect(v).toEqual({
    carried: ['one of 8', undefined, 'kept'],
    log: ['one goes from 8', 'one of 8 goes from 8', 'two goes from 8', 'its name goes from a window'],
    handled: ['RMA_SYNC', '', 'RANK', 'RANK', 'TRUNCATE', 'RMA_RANGE', 'COUNT', 'TYPE', 'TYPE', 'INFO_KEY'].map((c) =>
      c === '' ? 'user-defined error handler' : `a window: MPI_ERR_${c}`,
    ),
    said: [
      'MPI_Put: no epoch is open: MPI_Win_fence, MPI_Win_start or MPI_Win_lock comes first [MPI_ERR_RMA_SYNC]',
      "MPI_Put: the origin's elements have 4 bytes, the target's 8 [MPI_ERR_TRUNCATE]",
      'MPI_Put: the access is to bytes 4 to 20 of the window of rank 0, which has 16 [MPI_ERR_RMA_RANGE]',
      'MPI_Put: the count -1 is not a number of elements [MPI_ERR_COUNT]',
      'MPI_Accumulate: the datatype has elements of different types: MPI_SUM is not for them [MPI_ERR_TYPE]',
      'no error',
      'MPI_Get_accumulate: the buffer and the result have different element types [MPI_ERR_TYPE]',
      'MPI_Win_set_info: a key of 0 characters: 1 to 255 are allowed [MPI_ERR_INFO_KEY]',
      'MPI_Reduce_local: 8 bytes for 12 [MPI_ERR_COUNT]',
      'MPI_Reduce_local: the buffers have different element types [MPI_ERR_TYPE]',
      'MPI_Reduce_local: MPI_BAND is for integers, not for MPI_DOUBLE [MPI_ERR_OP]',
      'MPI_Reduce_local: the datatype has elements of different types: no operation is for them [MPI_ERR_TYPE]',
      'MPI_Allgatherv: block 0 of the receive buffer, 3 elements of the datatype, lies from byte 0 to 24, ' +
        'the array has 16 bytes [MPI_ERR_BUFFER]',
      'MPI_Allgatherv: count 0 of the receive buffer is -1 [MPI_ERR_COUNT]',
      'MPI_Allgatherv: displacement 0 of the receive buffer is 0.5 [MPI_ERR_ARG]',
      'no error',
      'MPI_Type_set_attr: the key was freed [MPI_ERR_KEYVAL]',
      'MPI_Type_free: MPI_INT32_T is predefined [MPI_ERR_TYPE]',
      'MPI_Comm_spawn_multiple: there is nothing to spawn: the list is empty [MPI_ERR_COUNT]',
      'MPI_Intercomm_create_from_groups: local leader 1 is not a rank: the local group has ranks 0 to 0 [MPI_ERR_RANK]',
      'MPI_Intercomm_create_from_groups: remote leader 0 is in the local group [MPI_ERR_RANK]',
    ],
    result: Int32Array.of(13, 24),
    named: 'named',
  });
});
