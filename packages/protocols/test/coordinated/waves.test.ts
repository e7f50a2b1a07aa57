/** The checkpoint scheduler, alone and in the model of waves-model.ts: its rules hold, and each is needed. */
import { expect, test } from 'vitest';
import { imageId, taskId, type Cut, type TaskId } from '@mayfly/wire';
import { START_OF_TASK, type WaveEffect, type WaveEvent, type WaveRecord } from '../../src/contract/waves.ts';
import { Waves } from '../../src/coordinated/waves.ts';
import { Unit } from '../../src/units/unit.ts';
import { JOB, Job, type Input, type Scheduler } from './waves-model.ts';
import { firstWrong } from './wrong.ts';

test('400 jobs with losses, restarts and damage end, and no rule is broken', () => {
  const kinds = ['commits', 'abandoned', 'back', 'restarts', 'near', 'made', 'gone'] as const;
  const total = Object.fromEntries(kinds.map((k) => [k, 0]));
  for (let seed = 1; seed <= 400; seed++) {
    const job = new Job(Waves, seed).run();
    for (const k of kinds) total[k]! += job.counts[k];
  }
  for (const k of kinds) expect(total[k], k).toBeGreaterThan(k === 'made' || k === 'gone' ? 20 : 100);
});

test('W2: a wave whose cut is not consistent is abandoned, also against a task at its start', () => {
  const cut = (sends: [TaskId, number][], receives: [TaskId, number][]): Cut => ({ ...START_OF_TASK, sends, receives });
  const [a, b] = [taskId(0), taskId(1)];
  // a has sent 2 to b; b says how many it has consumed
  const ends = (consumed: number, begun: readonly TaskId[]): string[] => {
    const waves = new Waves({ job: JOB, tasks: 2, participants: [], settings: { periodMs: 1, waveMs: 1000 } });
    const effects: WaveEffect[] = [];
    const step = (e: Input): void => void effects.push(...waves.step({ ...e, now: 0 } as WaveEvent));
    for (const task of begun) step({ type: 'began', epoch: 0, task });
    step({ type: 'ask' });
    step({ type: 'cut', wave: 1, task: a, cut: cut([[b, 2]], []) });
    step({ type: 'cut', wave: 1, task: b, cut: cut([], [[a, consumed]]) });
    for (const task of [a, b]) {
      step({ type: 'stored', wave: 1, task, image: imageId(`i${task}`) });
      step({ type: 'recorded', wave: 1, task });
    }
    step({ type: 'marked', wave: 1, mark: null });
    return effects.flatMap((e) =>
      e.type === 'commit' ? ['commit'] : e.type === 'over' ? [`over ${e.committed}`] : [],
    );
  };
  expect(ends(2, [a, b])).toEqual(['commit']);
  expect(ends(3, [a, b])).toEqual(['over false']);
  // a has not begun: what it sent is not in the wave
  expect(ends(0, [b])).toEqual(['commit']);
  expect(ends(1, [b])).toEqual(['over false']);
});

test('W5: the end of a task whose image is not here ends the wave, and a job that has ended needs no other', () => {
  const waves = new Waves({ job: JOB, tasks: 2, settings: { periodMs: 100, waveMs: 60_000 }, participants: [] });
  const cut: Cut = START_OF_TASK;
  const image = (task: number): WaveEvent[] => [
    { type: 'cut', wave: 1, task: taskId(task), cut, now: 100 },
    { type: 'stored', wave: 1, task: taskId(task), image: imageId(`image-${task}`), now: 110 },
  ];
  const tell = (...events: WaveEvent[]): WaveEffect[] => events.flatMap((e) => waves.step(e));
  for (const task of [0, 1]) tell({ type: 'began', epoch: 0, task: taskId(task), now: 0 });
  tell({ type: 'tick', now: 0 });
  expect(tell({ type: 'tick', now: 100 })).toMatchObject([{ type: 'begin', wave: 1 }]);
  // Both have cut; the image of rank 0 is on its way.
  tell(image(0)[0]!, ...image(1));
  const over = { type: 'over', wave: 1, committed: false };
  expect(tell({ type: 'ended', epoch: 0, task: taskId(0), now: 120 })[0]).toMatchObject(over);
  expect(tell({ type: 'ended', epoch: 0, task: taskId(1), now: 130 })).toMatchObject([
    { type: 'begin', wave: 2, ended: [0, 1] },
    { type: 'mark', wave: 2 },
  ]);
});

test('W5: a task whose image is here may end, and its wave counts', () => {
  const waves = new Waves({ job: JOB, tasks: 1, settings: { periodMs: 100, waveMs: 60_000 }, participants: [] });
  const task = taskId(0);
  const events: WaveEvent[] = [
    { type: 'began', epoch: 0, task, now: 0 },
    { type: 'tick', now: 0 },
    { type: 'tick', now: 100 },
    { type: 'cut', wave: 1, task, cut: START_OF_TASK, now: 100 },
    { type: 'stored', wave: 1, task, image: imageId('image-0'), now: 110 },
    { type: 'ended', epoch: 0, task, now: 120 },
    { type: 'recorded', wave: 1, task, now: 130 },
    { type: 'marked', wave: 1, mark: 0, now: 140 },
  ];
  expect(events.flatMap((e) => waves.step(e)).at(-1)).toMatchObject({ type: 'commit', wave: 1 });
});

test('unit.6: a rank that computes for minutes has its wave: each one that took too long is followed by one of twice the time', () => {
  const waves = new Waves({ job: JOB, tasks: 1, settings: { periodMs: 1000, waveMs: 60_000 }, participants: [] });
  const task = taskId(0);
  waves.step({ type: 'began', epoch: 0, task, now: 0 });
  // Five minutes without an MPI call, looked at each second.
  const seen: string[] = [];
  for (let s = 0; s <= 300; s++)
    for (const e of waves.step({ type: 'tick', now: 1000 * s }))
      if (e.type === 'begin') seen.push(`${s}: wave ${e.wave}`);
      else if (e.type === 'over') seen.push(`${s}: ${e.committed ? 'committed' : e.reason}`);
  const tooLong = 'rank 0, whose next MPI call has not come, took too long';
  expect(seen).toEqual([
    '1: wave 1',
    `62: ${tooLong}; the next one may take 120 s`,
    '63: wave 2',
    `184: ${tooLong}; the next one may take 240 s`,
    '185: wave 3',
  ]);
});

test.each<[string, RegExp, Scheduler]>([
  [
    'unit.1: an answer of another wave counts',
    /^Q[78]/,
    class extends Waves {
      protected override unit(...of: ConstructorParameters<typeof Unit>): Unit {
        return new (class extends Unit {
          protected override counts(): boolean {
            return true;
          }
        })(...of);
      }
    },
  ],
  [
    'W2: the commit does not wait for the wave streams',
    /^Q7.*channels/,
    class extends Waves {
      protected override durable(_tasks: never, _recorded: never, marked: boolean): boolean {
        return marked;
      }
    },
  ],
  [
    'W2: the commit does not wait for the mark of the outside',
    /^Q7.*outside/,
    class extends Waves {
      protected override durable(tasks: readonly { task: TaskId }[], recorded: ReadonlySet<TaskId>): boolean {
        return tasks.every(({ task }) => recorded.has(task));
      }
    },
  ],
  [
    'W3: output is released at the newest wave',
    /^Q5/,
    class extends Waves {
      protected override stable(kept: readonly (WaveRecord | undefined)[]): WaveRecord | undefined {
        return kept.at(-1);
      }
    },
  ],
  [
    'W9: a near wave is kept in place of a whole one',
    /^W9/,
    class extends Waves {
      protected override stay(kept: readonly (WaveRecord | undefined)[]): (WaveRecord | undefined)[] {
        return kept.slice(-2);
      }
    },
  ],
  [
    'W9: a near wave releases what is before the newest whole one',
    /^Q5/,
    class extends Waves {
      protected override stable(kept: readonly (WaveRecord | undefined)[]): WaveRecord | undefined {
        return kept.at(-1)?.near ? kept.at(-2) : kept[0];
      }
    },
  ],
  [
    'W5: a loss does not wait for a commit',
    /^(Q|W3)/,
    class extends Waves {
      protected override waits(): boolean {
        return false;
      }
    },
  ],
  [
    'W6: tasks are assigned before everybody is back',
    /^Q9/,
    class extends Waves {
      protected override allBack(): boolean {
        return true;
      }
    },
  ],
])('a scheduler is found where %s', (_what, found, scheduler) => {
  expect(firstWrong(1000, (seed) => new Job(scheduler, seed).run())).toMatch(found);
});
