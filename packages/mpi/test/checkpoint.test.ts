/**
 * Operation-level checkpoints, and restarts of a rank while the others have gone on: from its start and from each of
 * its images.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fabric, textOf, type Answer, type RankLog, type Run } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const STEPS = 8;

describe.each([1, 2, 4, 5])('a stencil on %i ranks', (size) => {
  let run: Run;
  const input = { steps: STEPS };
  beforeAll(async () => {
    run = await fabric.run(size, 'stencil', input, { delay: 5000, seed: size, bodiless: 0.3, unexpectedBytes: 300 });
  });

  test('runs, and takes an image at every `here`', () => {
    for (const a of run.answers) {
      expect(a.error?.stack).toBeUndefined();
      expect(a.images.length).toBe(STEPS);
    }
  });

  test('"start from the beginning": re-execution repeats the answer and sends nothing twice', async () => {
    for (let rank = 0; rank < size; rank++) {
      const first = run.answers[rank]!;
      const again = await fabric.restart(run, rank, 'stencil', input, undefined, {
        bodiless: 0.7,
        unexpectedBytes: 0,
        seed: 99,
      });
      expect(again.error?.stack).toBeUndefined();
      expect(again.value).toEqual(first.value);
      expect(again.log).toEqual(first.log);
    }
  });

  test('from every image: the answer, the output and the messages are those of the undisturbed run', async () => {
    for (let rank = 0; rank < size; rank++) {
      const first = run.answers[rank]!;
      for (const image of first.images) {
        const again = await fabric.restart(run, rank, 'stencil', input, image, {
          bodiless: 0.2,
          unexpectedBytes: 200,
          seed: 7,
        });
        expect(again.error?.stack).toBeUndefined();
        expect(again.value).toEqual(first.value);
        expect(again.log.sends).toEqual(first.log.sends);
        expect(textOf(again.log.outputs, 1)).toBe(textOf(first.log.outputs, 1));
      }
    }
  });

  test('images list the bodies that are still in the log', () => {
    for (const a of run.answers) for (const image of a.images.slice(1)) expect(image.held.length).toBeGreaterThan(0);
  });
});

describe('persistent and partitioned requests, neighbours, matched probes, datatypes, attributes', () => {
  const input = { steps: 4 };
  const without = (log: RankLog): unknown => ({ ...log, polls: [] });

  test(
    'a rank that dies in the middle of all of them, while the others wait for it, and comes back from its ' +
      'start or an image: the same answers',
    async () => {
      const whole = await fabric.run(3, 'everything', input);
      expect(whole.answers.map((a) => a.error?.stack)).toEqual([undefined, undefined, undefined]);
      // Wildcard-free but for one sender, so that answers do not depend on timing; whether a poll saw something does.
      const answer = (a: Answer): unknown => ({
        ...(a.value as object),
        log: (a.value as { log: unknown[] }).log.filter((x) => typeof x !== 'boolean'),
      });
      for (const [victim, from] of [
        [1, 'start'],
        [2, 'image'],
      ] as const) {
        const run = fabric.begin(3, 'everything', { ...input, dieAt: 2 }, { patience: 120_000 }, (rank) =>
          rank === victim ? { ...input, dieAt: 2 } : input,
        );
        const dead = await run.answers[victim]!;
        expect(dead.error?.message).toBe('killed');
        const again = fabric.restart(
          run,
          victim,
          'everything',
          input,
          from === 'image' ? dead.images.at(-1) : undefined,
          { patience: 120_000 },
          dead.log,
        );
        const all = await Promise.all(run.answers.map((a, rank) => (rank === victim ? again : a)));
        expect(all.map((a) => a.error?.stack)).toEqual([undefined, undefined, undefined]);
        expect(all.map(answer)).toEqual(whole.answers.map(answer));
        expect(all.map((a) => a.log.sends.sort())).toEqual(whole.answers.map((a) => a.log.sends.sort()));
      }
    },
  );

  test('from its start and from every image, after all have ended', async () => {
    const run = await fabric.run(2, 'everything', input, { bodiless: 0.4, unexpectedBytes: 20, seed: 5 });
    const first = run.answers[0]!;
    expect(first.images.length).toBe(4);
    for (const image of [undefined, ...first.images]) {
      const again = await fabric.restart(run, 0, 'everything', input, image, {
        bodiless: 0.5,
        unexpectedBytes: 0,
        seed: 3,
      });
      expect(again.error?.stack).toBeUndefined();
      expect(again.value).toEqual(first.value);
      expect(without(again.log)).toEqual(without(first.log));
    }
  });
});

test('misuse says what is wrong', async () => {
  const [said] = await fabric.values<string[]>(1, 'checkpoint errors');
  expect(said).toEqual([
    'checkpoint.here: checkpoint.open comes first [MPI_ERR_CHECKPOINT]',
    'checkpoint.register: the data is a function: a typed array, an object, or { get, set } can be ' +
      'registered [MPI_ERR_CHECKPOINT]',
    'checkpoint.register: the tag is the string : it has to be a word or a whole number [MPI_ERR_CHECKPOINT]',
    'checkpoint.open: called a second time [MPI_ERR_CHECKPOINT]',
    'checkpoint.rollback: this rank has not been restarted: ask `restarted` of checkpoint.open first ' +
      '[MPI_ERR_CHECKPOINT]',
    'checkpoint.here: a request of MPI_Irecv is pending; wait for it (or free it) first [MPI_ERR_CHECKPOINT]',
    'checkpoint.here: dup of MPI_COMM_WORLD was made after checkpoint.open, a restarted program could not ' +
      'get it back; make it before open, or free it first [MPI_ERR_CHECKPOINT]',
    'checkpoint.here: the persistent request of MPI_Send_init was made after checkpoint.open, a restarted ' +
      'program could not get it back; make it before open, or free it first [MPI_ERR_CHECKPOINT]',
    'checkpoint.here: a message of a matched probe was not received yet; receive it first [MPI_ERR_CHECKPOINT]',
    'no error',
    "checkpoint.remove: nothing is registered under tag 'nothing' [MPI_ERR_CHECKPOINT]",
  ]);
});
