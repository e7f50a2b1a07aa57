/** What a V-protocol decides about images at the Checkpoint Server: whether one fits, when it counts, what goes. */
import {
  IMAGE_FORMAT,
  PAGE_BYTES,
  imageIdOf,
  incarnation,
  jobId,
  taskId,
  type Manifest,
  type Position,
} from '@mayfly/wire';
import { expect, it } from 'vitest';
import {
  CheckpointServer,
  positionOf,
  protocols,
  replayOf,
  zeroLine,
  type CheckpointServerEffect,
  type ImagePolicy,
  type ImageTable,
} from '../src/index.ts';
import { positionInTeam, replayInTeam } from '../src/pessimistic/teams/position.ts';

const job = jobId('abcdefghijkl');
const task = taskId(0);
const program = 'ab'.repeat(32);

function manifest(serial: number): Manifest {
  const image = imageIdOf(job, task, incarnation(0), serial);
  const position = positionOf({
    prologue: zeroLine(),
    image: { ...zeroLine(), arrivals: serial, determinants: serial },
    held: [],
  });
  return {
    format: IMAGE_FORMAT,
    image,
    job,
    task,
    incarnation: incarnation(0),
    serial,
    program,
    position,
    sections: [{ name: 'data', bytes: PAGE_BYTES }],
    pages: ['cd'.repeat(32)],
    bytes: PAGE_BYTES,
  };
}

/** One Channel Memory, which holds determinants [0, 5) durably, and a store that has every page. */
function stage(policy: Partial<ImagePolicy> = {}, protocol: 'pessimistic' | 'none' = 'pessimistic') {
  const { pessimistic } = protocols;
  const table: ImageTable = { ...protocols, pessimistic: { images: { ...pessimistic.images, ...policy } } };
  const core = new CheckpointServer({}, table);
  const effects: CheckpointServerEffect[] = [];
  const step = (e: Parameters<CheckpointServer['step']>[0]): void => {
    for (const effect of core.step(e)) {
      effects.push(effect);
      if (effect.type === 'cover')
        step({ type: 'covered', now: 0, image: effect.image, cm: effect.cm, determinants: [[0, 5]] });
      if (effect.type === 'commit') step({ type: 'committed', now: 0, image: effect.image });
    }
  };
  const acting = [[task, incarnation(0)]] as const;
  step({
    type: 'openJob',
    now: 0,
    job,
    protocol,
    size: 1,
    channelMemories: 1,
    programs: [{ count: 1, hash: program }],
    acting,
  });
  const offer = (serial: number): void => {
    const m = manifest(serial);
    step({ type: 'offer', now: 0, link: 'l', job, task, incarnation: m.incarnation, manifest: m });
    const found = effects.findLast((e) => e.type === 'findPages');
    if (found?.image !== m.image) return;
    step({ type: 'pagesFound', now: 0, image: m.image, ask: found.ask, missing: [] });
    step({ type: 'end', now: 0, link: 'l', image: m.image });
  };
  const complete = (): number[] => core.imagesOf(job, task).map((i) => i.serial);
  return { effects, offer, complete };
}

it('pessimistic: an image counts when the determinants before it are durable without a gap', () => {
  const s = stage();
  for (const serial of [4, 5, 6]) s.offer(serial);
  expect(s.complete()).toEqual([4, 5]);
});

it('another protocol decides when an image counts, and what the logs are trimmed to', () => {
  const to = positionOf({ prologue: zeroLine(), image: { ...zeroLine(), arrivals: 1 }, held: [7] });
  const s = stage({ covers: (position) => replayOf(position).image.determinants !== 5, trimTo: () => to });
  for (const serial of [4, 5]) s.offer(serial);
  expect(s.complete()).toEqual([4]);
  const all = stage({ covers: () => true, trimTo: () => to });
  for (const serial of [6, 7]) all.offer(serial);
  expect(all.complete()).toEqual([6, 7]);
  expect(all.effects.filter((e) => e.type === 'trim')).toMatchObject([{ to }]);
});

it.each([
  [stage({ refuses: () => 'Not in the middle of a wave.' }), /middle of a wave/],
  [stage({}, 'none'), /keeps no images/],
])('another protocol refuses an image before a page of it is taken', (s, why) => {
  s.offer(4);
  const refused = s.effects.find((e) => e.type === 'reply');
  expect(refused).toMatchObject({ reply: 'refused', error: { code: 'BAD_REQUEST' } });
  expect(refused!.error!.message).toMatch(why);
  expect(s.effects.some((e) => e.type === 'findPages')).toBe(false);
});

it('pessimistic: images of a team name their wave, and waves rise; a lone task has none', () => {
  const { images } = protocols.pessimistic;
  const replay = (n: number) => ({
    prologue: zeroLine(),
    image: { ...zeroLine(), arrivals: n, determinants: n },
    held: [n],
  });
  const at = (n: number, wave?: number): Position =>
    positionInTeam({ replay: replay(n), local: [[task, 5]], received: [[task, 2]], wave });
  const alone = positionOf(replay(1));
  const refuses = (position: Position, ...kept: Position[]) =>
    images.refuses(position, { size: 2, kept, trimmed: false });
  expect([images.setOf!(at(1, 3)), images.setOf!(alone)]).toEqual([{ wave: 3, done: [] }, undefined]);
  expect([refuses(at(1, 3)), refuses(at(4, 4), at(1, 3)), refuses(alone)]).toEqual([undefined, undefined, undefined]);
  expect(refuses(at(1))).toMatch('names its wave');
  expect(refuses(at(4, 3), at(1, 3))).toMatch('not newer');
  expect(refuses(at(0, 4), at(1, 3))).toMatch('before an older one');
  expect(refuses(at(4, 4), alone)).toMatch('without');
  expect(refuses(alone, at(1, 3))).toMatch('without');
  expect(refuses({ ...at(1, 3), at: { ...(at(1, 3).at as object), wave: 0 } })).toMatch('schema');
  expect(images.covers(at(5, 4), [[[1, 5]]], [at(1, 3)])).toBe(true);
  expect(images.covers(at(5, 4), [[[2, 5]]], [at(1, 3)])).toBe(false);
  // Logs are trimmed by where the team is in them.
  expect(images.trimTo([at(1, 3), at(5, 4)])).toEqual(positionOf({ ...replay(1), held: [1, 5] }));
  expect(replayInTeam(at(1, 3))).toEqual({ replay: replay(1), local: [[task, 5]], received: [[task, 2]], wave: 3 });
});
