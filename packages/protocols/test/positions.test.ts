/** Positions: a protocol reads its own and refuses all others; and what older versions stored in their place. */
import { Kind, incarnation, jobId, taskId, type Position } from '@mayfly/wire';
import { describe, expect, it, test } from 'vitest';
import { CheckpointServer, MalformedPosition, positionOf, protocols, upgradeManifest, zeroLine } from '../src/index.ts';
import { codes, pair } from './data-path/bench.ts';

const line = (arrivals: number) => ({ ...zeroLine(), arrivals });
const at = (arrivals: number): Position => positionOf({ prologue: zeroLine(), image: line(arrivals), held: [] });
const { pessimistic, none } = protocols;

/** What no incarnation of message logging can begin from. */
const FOREIGN: [string, Position][] = [
  ['of another protocol', none.recovery.start],
  ['of a newer version', { ...at(0), version: 3 }],
  ['without a line', { ...at(0), at: { prologue: zeroLine() } }],
  ['with a number below 0', { ...at(0), at: { prologue: zeroLine(), image: line(-1), held: [] } }],
  ['with a prologue behind its image', { ...at(0), at: { prologue: line(2), image: line(1), held: [] } }],
];

describe.each(FOREIGN)('a position %s', (_, position) => {
  it('ends the connection of a node that claims it, and nothing else', () => {
    const b = pair();
    b.attach(7, 1, { position });
    const ended = b.effects.flatMap((e) => (e.type === 'close' ? [[e.conn, e.error.code]] : []));
    expect(ended).toEqual([[7, 'BAD_FRAME']]);
    expect(codes(b)).toEqual(['BAD_FRAME']);
    b.attach(8, 1);
    expect(codes(b)).toEqual(['SUPERSEDED']); // its first connection, by the third
    expect(b.take(Kind.ATTACHED)).toHaveLength(1);
  });

  it('is no place for an image, nor for a rank', () => {
    expect(pessimistic.images.refuses(position, { size: 2, kept: [], trimmed: false })).toMatch(/position|prologue/);
    const start = {
      incarnation: incarnation(0),
      limits: [],
      prologue: [],
      determinants: [],
      openPolls: 0,
      consumed: 0,
    };
    expect(() => pessimistic.rank(taskId(0), 2, position, start)).toThrow(MalformedPosition);
  });
});

test('without an image a task begins where its protocol says', () => {
  expect(pessimistic.log.replays(pessimistic.recovery.start)).toEqual({ prologue: 0, image: 0, held: [] });
  expect(none.log.replays(none.recovery.start)).toEqual({ prologue: 0, image: 0, held: [] });
  expect(pessimistic.log.replays(at(7))).toEqual({ prologue: 0, image: 7, held: [] });
});

describe('image format 1, in which a `replay` stood where the position stands', () => {
  const replay = { prologue: zeroLine(), image: line(7), held: [3] };

  test('a manifest', () => {
    const rest = { image: 'i', pages: [] };
    expect(upgradeManifest({ format: 1, ...rest, replay })).toEqual({
      format: 2,
      ...rest,
      position: positionOf(replay),
    });
    const manifest = { format: 2, ...rest, position: at(1) };
    expect(upgradeManifest(manifest)).toBe(manifest);
    for (const other of [null, 3, 'text', []]) expect(upgradeManifest(other)).toBe(other);
  });

  test('a record: the task restarts from it', () => {
    const job = jobId('abcdefghijkl');
    const task = taskId(0);
    const core = new CheckpointServer();
    const record = { image: 'i', serial: 1, incarnation: 0, replay, bytes: 1, sentBytes: 1, at: 0, count: 1 };
    core.step({ type: 'recover', now: 0, entries: [[`image/${job}/0/000000001`, record]] });
    const acting = [[task, incarnation(1)]] as const;
    const protocol = 'pessimistic';
    core.step({
      type: 'openJob',
      now: 0,
      job,
      protocol,
      size: 1,
      channelMemories: 1,
      programs: [{ count: 1, hash: '' }],
      acting,
    });
    core.step({ type: 'restart', now: 0, job, task, incarnation: incarnation(2) });
    expect(
      core.step({ type: 'checked', now: 0, image: core.imagesOf(job, task)[0]!.image, sound: true }),
    ).toMatchObject([{ type: 'chosen', image: 'i', position: positionOf(replay) }]);
  });
});
