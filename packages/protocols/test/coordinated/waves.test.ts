/**
 * The checkpoint scheduler among participants that answer late, in any order, or not at all: tasks that are lost, a
 * server that is killed, images that are damaged. What it decides is held against rules that are checked from outside,
 * and each rule is needed.
 *
 *  Q7 A wave is used only if its record is durable, and committed only when all that it needs is.
 *  Q8 Waves come one after the other; numbers rise.
 *  Q5 Nothing that was shown is undone.
 *  Q9 Before a task is assigned, everybody has gone back to the same wave, and the line is durable.
 *  Q11 The job ends.
 */
import { expect, test } from 'vitest';
import { imageId, jobId, taskId, type Cut, type TaskId } from '@mayfly/wire';
import {
  START_OF_TASK,
  lineKey,
  waveKey,
  type LineRecord,
  type WaveEffect,
  type WaveEvent,
  type WaveRecord,
} from '../../src/contract/waves.ts';
import { Waves } from '../../src/coordinated/waves.ts';
import type { Timeless } from '../../src/service/timeless.ts';
import { randomOf } from '../random.ts';
import { Wrong, firstWrong } from './wrong.ts';

type Input = Timeless<WaveEvent>;
type Scheduler = typeof Waves;

const JOB = jobId('waves0000000');
const PARTICIPANTS = ['cm0', 'cm1', 'images', 'outside'];

/** One job under a scheduler; a seed decides what happens. */
class Job {
  private readonly random: (n: number) => number;
  private now = 0;
  private queue: { at: number; life: number; go: () => void }[] = [];
  private life = 0;
  private waves!: Waves;
  readonly tasks: number;
  // durable
  private registry = new Map<string, unknown>();
  private damaged = new Set<number>();
  // of the wave under way, as its participants have it
  private wave = 0;
  private done = { images: new Set<TaskId>(), recorded: new Set<TaskId>(), marked: false };
  private epoch = 0;
  private lineOf = 0;
  private back = new Set<string>();
  private running = new Set<TaskId>();
  private ended = new Set<TaskId>();
  private highest = 0;
  /** Up to the mark of this wave the outside has seen everything. */
  private shown = 0;
  finished = false;
  private faults: number;
  lostLog = false;
  readonly counts = { commits: 0, abandoned: 0, back: 0, restarts: 0 };

  constructor(
    private readonly scheduler: Scheduler,
    seed: number,
  ) {
    this.random = randomOf(seed);
    this.tasks = 1 + this.random(4);
    this.faults = this.random(8);
    this.start();
  }

  private make(): Waves {
    return new this.scheduler({
      job: JOB,
      tasks: this.tasks,
      participants: PARTICIPANTS,
      settings: { periodMs: 50 + this.random(500), waveMs: 400 },
    });
  }

  private start(): void {
    this.waves = this.make();
    for (let t = 0; t < this.tasks; t++) this.runs(taskId(t), 5000);
    this.every();
    this.misfortune();
  }

  private every(): void {
    this.later(50, () => {
      this.tell({ type: 'tick' });
      this.every();
    });
  }

  private misfortune(): void {
    this.later(1 + this.random(1500), () => {
      if (this.faults-- <= 0) return;
      const kind = this.random(10);
      if (kind < 6) this.lose(taskId(this.random(this.tasks)));
      else if (kind < 8) this.kill();
      else this.damage();
      this.misfortune();
    });
  }

  /** A task executes from now on, and ends some time. */
  private runs(task: TaskId, most: number): void {
    const { epoch } = this;
    this.later(1 + this.random(100), () => {
      if (this.epoch !== epoch) return;
      this.running.add(task);
      this.tell({ type: 'began', epoch, task });
      this.later(200 + this.random(most), () => {
        if (this.epoch !== epoch || !this.running.delete(task)) return;
        this.ended.add(task);
        this.tell({ type: 'ended', epoch, task });
      });
    });
  }

  private lose(task: TaskId): void {
    if (this.finished || !this.running.delete(task)) return;
    this.tell({ type: 'lost', task });
  }

  private damage(): void {
    const kept = [...this.registry.keys()].filter((k) => k.startsWith('wave/'));
    const victim = kept[this.random(kept.length)];
    // one sound wave is left, or the start
    if (victim && this.damaged.size === 0) this.damaged.add((this.registry.get(victim) as WaveRecord).wave);
  }

  private kill(): void {
    if (this.finished) return;
    this.counts.restarts++;
    this.life++;
    this.waves = this.make();
    this.running.clear();
    const waves = [...this.registry].filter(([k]) => k.startsWith('wave/')).map(([, v]) => v as WaveRecord);
    this.epoch++;
    this.every();
    this.misfortune();
    this.perform(this.waves.recover(waves, this.registry.get(lineKey(JOB)) as LineRecord | undefined, this.now));
  }

  private later(ms: number, go: () => void): void {
    this.queue.push({ at: this.now + ms, life: this.life, go });
  }

  private tell(e: Input): void {
    if (!this.finished) this.perform(this.waves.step({ ...e, now: this.now } as WaveEvent));
  }

  private answer(e: Input, most = 120): void {
    // now and then nobody answers
    if (this.faults > 0 && this.random(40) === 0) return;
    // and now and then only when the wave is long over
    this.later(1 + this.random(this.random(12) === 0 ? 900 : most), () => this.tell(e));
  }

  private perform(effects: readonly WaveEffect[]): void {
    for (const e of effects) this.one(e);
  }

  private one(e: WaveEffect): void {
    switch (e.type) {
      case 'begin': {
        if (this.wave !== 0) throw new Wrong(`Q8: wave ${e.wave} begins during wave ${this.wave}`);
        if (e.wave <= this.highest && this.counts.restarts === 0)
          throw new Wrong(`Q8: wave ${e.wave} begins after wave ${this.highest}`);
        this.highest = this.wave = e.wave;
        this.done = { images: new Set(), recorded: new Set(), marked: false };
        return this.participate(e);
      }
      case 'mark':
        this.later(1 + this.random(60), () => {
          if (this.wave === e.wave) this.done.marked = true;
          this.answer({ type: 'marked', wave: e.wave, mark: e.wave });
        });
        return;
      case 'commit':
        return this.commit(e.wave, e.changes);
      case 'over':
        if (e.wave !== this.wave) throw new Wrong(`Q8: wave ${e.wave} ends during wave ${this.wave}`);
        this.wave = 0;
        this.counts[e.committed ? 'commits' : 'abandoned']++;
        return;
      case 'release':
        this.shown = Math.max(this.shown, e.wave);
        return;
      case 'forget':
        if ([...this.registry.values()].some((v) => (v as WaveRecord).wave === e.wave && 'tasks' in (v as object)))
          throw new Wrong(`Q7: wave ${e.wave} is forgotten, and its record is there`);
        return;
      case 'check':
        return this.later(1 + this.random(20), () =>
          this.tell({ type: 'checked', wave: e.wave, sound: !this.damaged.has(e.wave) }),
        );
      case 'line':
        this.later(1 + this.random(60), () => {
          this.write(e.changes);
          this.later(1 + this.random(5), () => this.tell({ type: 'lineDurable', epoch: e.line.epoch }));
        });
        return;
      case 'goBack': {
        const line = this.registry.get(lineKey(JOB)) as LineRecord | undefined;
        const to = e.to?.wave ?? 0;
        if (line?.epoch !== e.epoch || line.wave !== to)
          throw new Wrong(`Q9: back in epoch ${e.epoch}, which is not durable`);
        if (to > 0 && !this.registry.has(key(to))) throw new Wrong(`Q7: back to wave ${to}, which is not committed`);
        if (to < this.shown) throw new Wrong(`Q5: back to wave ${to}, and wave ${this.shown} was shown`);
        this.counts.back++;
        this.wave = 0;
        this.epoch = e.epoch;
        this.lineOf = to;
        this.running.clear();
        this.back.clear();
        for (const who of PARTICIPANTS)
          this.later(1 + this.random(80), () => {
            if (this.epoch === e.epoch) this.back.add(who);
            this.tell({ type: 'wentBack', epoch: e.epoch, who });
          });
        return;
      }
      case 'assign': {
        const missing = PARTICIPANTS.filter((p) => !this.back.has(p));
        if (missing.length > 0 || e.epoch !== this.epoch || (e.to?.wave ?? 0) !== this.lineOf)
          throw new Wrong(`Q9: assigned in epoch ${e.epoch}, and ${missing.join()} are not back`);
        this.ended.clear();
        for (let t = 0; t < this.tasks; t++) {
          const from = e.to?.tasks[t];
          if (from?.state === 'ended') this.ended.add(taskId(t));
          else this.runs(taskId(t), 2000);
        }
        return;
      }
      case 'finished':
        if (this.ended.size < this.tasks) throw new Wrong('Q11: finished, and a task runs');
        this.finished = true;
        return;
      case 'failed':
        this.finished = this.lostLog = true;
        return;
      case 'log':
        return;
    }
  }

  /** Tasks, gates and the Checkpoint Server at the begin of a wave. */
  private participate(e: Extract<WaveEffect, { type: 'begin' }>): void {
    const { wave } = e;
    const idle = new Set([...e.ended, ...e.starting]);
    for (let t = 0; t < this.tasks; t++) {
      const task = taskId(t);
      const recorded = (): void => {
        if (this.wave === wave) this.done.recorded.add(task);
        this.answer({ type: 'recorded', wave, task });
      };
      if (idle.has(task)) {
        recorded();
        continue;
      }
      this.later(1 + this.random(150), () => {
        if (!this.running.has(task)) return recorded(); // it has ended meanwhile
        this.answer({ type: 'cut', wave, task, cut: START_OF_TASK }, 5);
        this.later(6 + this.random(60), () => {
          if (this.wave === wave) this.done.images.add(task);
          this.answer({ type: 'stored', wave, task, image: imageId(`${JOB}-${task}-0-${wave}`) });
        });
        this.later(6 + this.random(60), recorded);
      });
    }
  }

  private commit(wave: number, changes: readonly (readonly [string, unknown])[]): void {
    const record = changes.find(([k]) => k === key(wave))?.[1] as WaveRecord;
    for (const t of record.tasks) {
      if (t.state === 'image' && !this.done.images.has(t.task))
        throw new Wrong(`Q7: wave ${wave} is committed without the image of task ${t.task}`);
      if (!this.done.recorded.has(t.task))
        throw new Wrong(`Q7: wave ${wave} is committed without the channels of task ${t.task}`);
    }
    if (!this.done.marked) throw new Wrong(`Q7: wave ${wave} is committed without the mark of the outside`);
    this.later(1 + this.random(100), () => {
      if (this.faults > 0 && this.random(20) === 0)
        return this.tell({ type: 'commitFailed', wave, error: { code: 'DISK_FULL', message: 'no space is left' } });
      this.write(changes);
      this.later(1 + this.random(10), () => this.tell({ type: 'committed', wave }));
    });
  }

  private write(changes: readonly (readonly [string, unknown])[]): void {
    for (const [k, v] of changes)
      if (v === undefined) this.registry.delete(k);
      else this.registry.set(k, v);
    const waves = [...this.registry.keys()].filter((k) => k.startsWith('wave/')).length;
    if (waves > 2) throw new Wrong(`W3: ${waves} waves are kept`);
  }

  run(): this {
    for (let steps = 0; !this.finished; steps++) {
      if (steps > 20_000) throw new Wrong('Q11: no end');
      let next = 0;
      this.queue.forEach((q, i) => {
        if (q.at < this.queue[next]!.at) next = i;
      });
      const [event] = this.queue.splice(next, 1);
      this.now = Math.max(this.now, event!.at);
      if (event!.life === this.life) event!.go();
    }
    return this;
  }
}

const key = (wave: number): string => waveKey(JOB, wave);

test('400 jobs with losses, restarts and damage end, and no rule is broken', () => {
  const total = { commits: 0, abandoned: 0, back: 0, restarts: 0, lostLog: 0 };
  for (let seed = 1; seed <= 400; seed++) {
    const job = new Job(Waves, seed).run();
    for (const k of ['commits', 'abandoned', 'back', 'restarts'] as const) total[k] += job.counts[k];
    if (job.lostLog) total.lostLog++;
  }
  expect(total.lostLog).toBe(0);
  for (const k of ['commits', 'abandoned', 'back', 'restarts'] as const) expect(total[k], k).toBeGreaterThan(100);
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

test('W7: a rank that computes for minutes has its wave: each one that took too long is followed by one of twice the time', () => {
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
    `62: ${tooLong}; the next wave may take 120 s`,
    '63: wave 2',
    `184: ${tooLong}; the next wave may take 240 s`,
    '185: wave 3',
  ]);
});

test.each<[string, RegExp, Scheduler]>([
  [
    'W1: an answer of another wave counts',
    /^Q[78]/,
    class extends Waves {
      protected override counts(): boolean {
        return this.underWay !== undefined;
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
  expect(firstWrong(400, (seed) => new Job(scheduler, seed).run())).toMatch(found);
});
