/**
 * The checkers of coordinated checkpointing by themselves: a right course passes, and each rule finds what breaks it.
 * planted.test.ts shows that whole runs reach most of them.
 */
import { expect, test } from 'vitest';
import { WORLD, emptyHeader, imageId, Kind, taskId, incarnation, type Header } from '@mayfly/wire';
import { Epochs } from '../src/checkers/epochs.ts';
import { Surviving } from '../src/checkers/surviving.ts';
import { WaveCourse } from '../src/checkers/wave-course.ts';
import type { Member, Wave } from '../src/checkers/wave-records.ts';

const IMAGES = [imageId('sim000000000-0-1-1'), imageId('sim000000000-1-1-1')] as const;
const member = (task: 0 | 1, sends: [number, number][], receives: [number, number][]): Member => {
  const arrivals = receives.reduce((sum, [, n]) => sum + n, 0);
  return { task, state: 'image', image: IMAGES[task], cut: { arrivals, sends, receives } };
};
const wave = (...tasks: Member[]): Wave => ({ wave: 1, epoch: 0, tasks });

/** Task 0 has sent two messages to task 1, and one to the world; task 1 has consumed one. */
function twoTasks(): Surviving {
  const s = new Surviving();
  s.raised(0, 1);
  s.raised(1, 1);
  s.sent(0, 1, 1, 1, 11);
  s.sent(0, 1, 1, 2, 12);
  s.sent(0, 1, WORLD, 1, 13);
  s.consumed(1, 1, 0, 1, 11);
  return s;
}
/** …and a wave whose images stand there. */
function withWave(): { s: Surviving; w: Wave } {
  const s = twoTasks();
  s.imageTaken(0, 1, IMAGES[0], []);
  s.imageTaken(1, 1, IMAGES[1], []);
  const w = wave(
    member(
      0,
      [
        [1, 2],
        [WORLD, 1],
      ],
      [],
    ),
    member(1, [], [[0, 1]]),
  );
  s.committed(w);
  return { s, w };
}

test('histories that go back and on', () => {
  const { s, w } = withWave();
  s.sent(0, 1, 1, 3, 99);
  s.consumed(1, 1, 0, 2, 12);
  s.shows(0, 1);
  s.back(w);
  s.raised(0, 2);
  s.raised(1, 2);
  s.sent(0, 2, 1, 3, 33);
  s.sent(0, 1, 1, 4, 34); // nobody listens to it
  s.consumed(1, 2, 0, 2, undefined);
  s.consumed(1, 2, 0, 3, 33);
});

test.each<[string, RegExp, () => void]>([
  [
    'a cut that is not what the rank had sent',
    /^Q1: wave 1: image .* had sent 2 messages to 1, its cut says 1/,
    () => {
      const { s } = withWave();
      s.committed(wave(member(0, [[1, 1]], []), member(1, [], [[0, 1]])));
    },
  ],
  [
    'an image that has consumed what its sender had not sent',
    /^Q1: wave 1: task 1 had consumed 1 messages of 0, whose image has sent 0/,
    () => {
      const s = new Surviving();
      s.raised(0, 1);
      s.raised(1, 1);
      s.imageTaken(0, 1, IMAGES[0], []);
      s.sent(0, 1, 1, 1, 11);
      s.consumed(1, 1, 0, 1, 11);
      s.imageTaken(1, 1, IMAGES[1], []);
      s.committed(wave(member(0, [], []), member(1, [], [[0, 1]])));
    },
  ],
  ['a message that is left out', /^Q2: .* message 3 of 0 after 1/, () => twoTasks().consumed(1, 1, 0, 3, 12)],
  ['a message that comes twice', /^Q2: .* message 1 of 0 after 1/, () => twoTasks().consumed(1, 1, 0, 1, 11)],
  [
    'a message that nobody sent',
    /^Q3: .* which was not sent/,
    () => {
      const s = twoTasks();
      s.consumed(1, 1, 0, 2, 12);
      s.consumed(1, 1, 0, 3, 13);
    },
  ],
  [
    'a message of a history that was undone',
    /^Q3: .* with what an undone history sent/,
    () => {
      const { s, w } = withWave();
      s.sent(0, 1, 1, 3, 99);
      s.back(w);
      s.raised(0, 2);
      s.raised(1, 2);
      s.sent(0, 2, 1, 3, 33);
      s.consumed(1, 2, 0, 2, 12);
      s.consumed(1, 2, 0, 3, 99);
    },
  ],
  [
    'a life that begins elsewhere than where the line says',
    /^Q3: task 0.2 sends message 4 to 1 after 2/,
    () => {
      const { s, w } = withWave();
      s.sent(0, 1, 1, 3, 99);
      s.back(w);
      s.raised(0, 2);
      s.sent(0, 2, 1, 4, 34);
    },
  ],
  [
    'output that a rollback undoes',
    /^Q5: the world has seen 2 messages of task 0, .* which has 1/,
    () => {
      const { s, w } = withWave();
      s.sent(0, 1, WORLD, 2, 14);
      s.shows(0, 2);
      s.back(w);
    },
  ],
  [
    'an image of an incarnation that does not act',
    /^Q19: .* whose incarnation did not act; 2 does/,
    () => {
      const { s, w } = withWave();
      s.raised(0, 2);
      s.imageTaken(0, 1, IMAGES[0], []);
      s.committed(w);
    },
  ],
  ['an image that no rank took', /^Q19: .* which no rank took/, () => twoTasks().committed(wave(member(0, [], [])))],
])('surviving histories: %s', (_what, found, broken) => {
  expect(broken).toThrow(found);
});

interface Registry {
  /** Before the commit that is being reported, and with it. */
  before: Map<number, number>;
  raised: Map<number, number>;
}
function epochs(): { e: Epochs; r: Registry } {
  const r: Registry = { before: new Map([[0, 1]]), raised: new Map([[0, 2]]) };
  const waves = [wave(member(0, [], []), { task: 1, state: 'ended' })];
  const e = new Epochs({
    logs: () => 2,
    raised: (task) => r.raised.get(task),
    before: () => r.before,
    isDone: () => false,
    wave: (number) => waves.find((w) => w.wave === number),
  });
  e.serverBegins();
  return { e, r };
}
/** All go back to wave 1. */
function goneBack(): ReturnType<typeof epochs> {
  const both = epochs();
  const { e, r } = both;
  e.rollsBack();
  e.drawn({ epoch: 1, wave: 1 });
  e.wentBack(0, 1);
  e.wentBack(1, 1);
  e.goesOn(r.raised);
  return both;
}
const arrival = (n: number): Header => ({
  ...emptyHeader(Kind.ARRIVAL),
  src: taskId(1),
  dst: taskId(0),
  channel: 3,
  incarnation: incarnation(n),
});

test('a rollback that everybody takes part in', () => {
  const { e } = goneBack();
  e.assigned(0, 2, IMAGES[0]);
  e.began(0, 2);
  e.pushed(0, arrival(2));
  e.serverBegins();
  e.drawn({ epoch: 2, wave: 0 });
});

test.each<[string, RegExp, () => void]>([
  ['a line to a wave that is not committed', /^Q7/, () => epochs().e.drawn({ epoch: 1, wave: 2 })],
  ['another image than that of the line', /^Q7.* gets image .*-1-1-1/, () => goneBack().e.assigned(0, 2, IMAGES[1])],
  ['a task that had ended', /^Q7.* had ended in wave 1/, () => goneBack().e.assigned(1, 2, undefined)],
  [
    'an epoch that comes again',
    /^Q9: epoch 1 is drawn after 1/,
    () => {
      const { e, r } = goneBack();
      r.before.clear();
      e.drawn({ epoch: 1, wave: 0 });
    },
  ],
  [
    'a task that keeps its incarnation',
    /^Q9: .* task 0 keeps incarnation 1/,
    () => {
      const { e, r } = epochs();
      r.raised.set(0, 1);
      e.drawn({ epoch: 1, wave: 0 });
    },
  ],
  [
    'ranks that go on before a Channel Memory has gone back',
    /^Q9: .* Channel Memory 1 has gone back to undefined/,
    () => {
      const { e, r } = epochs();
      e.drawn({ epoch: 1, wave: 1 });
      e.wentBack(0, 1);
      e.goesOn(r.raised);
    },
  ],
  [
    'a rank that is assigned meanwhile',
    /^Q9: .* while all go back/,
    () => {
      const { e } = goneBack();
      e.rollsBack();
      e.assigned(0, 2, IMAGES[0]);
    },
  ],
  [
    'a rank that is assigned before a restarted server has a line',
    /^Q9: .* while all go back/,
    () => {
      const { e } = epochs();
      e.serverBegins();
      e.assigned(0, 1, undefined);
    },
  ],
  [
    'an incarnation that begins twice',
    /^Q9: task 0.2 begins twice/,
    () => {
      const { e } = goneBack();
      e.began(0, 2);
      e.began(0, 2);
    },
  ],
  ['what goes to an older incarnation', /^Q9: .* to 0.1; 2 acts/, () => goneBack().e.pushed(1, arrival(1))],
])('epochs: %s', (_what, found, broken) => {
  expect(broken).toThrow(found);
});

test.each<[string, RegExp | undefined, (c: WaveCourse, later: (ms: number) => void) => void]>([
  [
    'waves one after the other, with messages held back',
    undefined,
    (c, later) => {
      c.begins(1);
      c.holdsBack(0, 3);
      c.ends(1);
      c.holdsBack(0, 0);
      c.rollsBack();
      later(1000);
      c.goesOn();
      later(1e6);
      c.begins(2);
      c.holdsBack(1, 1);
      c.serverBegins();
      c.begins(2);
    },
  ],
  ['two waves at a time', /^Q8: wave 2 begins while wave 1/, (c) => (c.begins(1), c.begins(2))],
  ['a number that is used twice', /^Q8: wave 1 begins after wave 1/, (c) => (c.begins(1), c.ends(1), c.begins(1))],
  [
    'a message that is held back after the wave',
    /^Q10: Channel Memory 1 holds 1 messages back/,
    (c) => (c.begins(1), c.ends(1), c.holdsBack(1, 1)),
  ],
  ['a wave that does not end', /^Q11: wave 1/, (c, later) => (c.begins(1), later(100_000), c.holdsBack(0, 0))],
  [
    'a rollback that does not end',
    /^Q11: a rollback/,
    (c, later) => (c.rollsBack(), later(100_000), c.holdsBack(0, 0)),
  ],
])('the course of waves: %s', (_what, found, script) => {
  let now = 0;
  const play = (): void => void script(new WaveCourse(() => now), (ms) => (now += ms));
  if (found) expect(play).toThrow(found);
  else play();
});
