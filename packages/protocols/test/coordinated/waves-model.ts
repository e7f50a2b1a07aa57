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
 *
 * Every other job has parity: images of some waves are with the nodes, and gone when the server is killed or too many
 * nodes are lost at once (W9).
 */
import { imageId, jobId, taskId, type TaskId } from '@mayfly/wire';
import {
  START_OF_TASK,
  isWhole,
  lineKey,
  waveKey,
  type LineRecord,
  type WaveEffect,
  type WaveEvent,
  type WaveRecord,
} from '../../src/contract/waves.ts';
import type { Waves } from '../../src/coordinated/waves.ts';
import type { Timeless } from '../../src/service/timeless.ts';
import { randomOf } from '../random.ts';
import { Wrong } from './wrong.ts';

export type Input = Timeless<WaveEvent>;
export type Scheduler = typeof Waves;

export const JOB = jobId('waves0000000');
const PARTICIPANTS = ['cm0', 'cm1', 'images', 'outside'];
const key = (wave: number): string => waveKey(JOB, wave);

/** One job under a scheduler; a seed decides what happens. */
export class Job {
  private readonly random: (n: number) => number;
  private now = 0;
  private queue: { at: number; life: number; go: () => void }[] = [];
  private life = 0;
  private waves!: Waves;
  readonly tasks: number;
  // durable
  private registry = new Map<string, unknown>();
  private damaged = new Set<number>();
  /** Waves of which images are with the nodes; and those that cannot be had again. */
  private near = new Map<number, Set<TaskId>>();
  private gone = new Set<number>();
  private readonly wholeEvery: number | undefined;
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
  readonly counts = { commits: 0, abandoned: 0, back: 0, restarts: 0, near: 0, made: 0, gone: 0 };

  constructor(
    private readonly scheduler: Scheduler,
    seed: number,
  ) {
    this.random = randomOf(seed);
    this.tasks = 1 + this.random(4);
    this.faults = this.random(8);
    this.wholeEvery = seed % 2 === 0 ? undefined : 2 + this.random(3);
    this.start();
  }

  private make(): Waves {
    return new this.scheduler({
      job: JOB,
      tasks: this.tasks,
      participants: PARTICIPANTS,
      settings: { periodMs: 50 + this.random(500), waveMs: 400, wholeEvery: this.wholeEvery },
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
    for (const w of this.near.keys()) this.gone.add(w);
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
        this.near.delete(e.wave);
        this.gone.delete(e.wave);
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
        return this.later(1 + this.random(20), () => {
          const { wave } = e;
          const lost = this.near.has(wave) && (this.gone.has(wave) || this.random(4) === 0);
          const sound = !this.damaged.has(wave) && !lost;
          if (lost) this.gone.add(wave);
          if (lost) this.counts.gone++;
          // All its images come to the server.
          if (sound && this.near.delete(wave)) this.counts.made++;
          this.tell({ type: 'checked', wave, sound, ...(lost && { reason: 'two nodes are lost' }) });
        });
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
        // Two whole ones were kept, or one and the start, and one at most is damaged.
        throw new Wrong('W9: no way back');
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
          const near = !isWhole(wave, this.wholeEvery) && (t > 0 || this.random(3) > 0);
          if (near) this.near.set(wave, (this.near.get(wave) ?? new Set()).add(task));
          this.answer({ type: 'stored', wave, task, image: imageId(`${JOB}-${task}-0-${wave}`), near });
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
    const near = record.tasks.some((t) => t.state === 'image' && this.near.get(wave)?.has(t.task));
    if (near) this.counts.near++;
    else this.near.delete(wave);
    if ((record.near ?? false) !== near) throw new Wrong(`W9: wave ${wave} is taken for ${near ? 'whole' : 'near'}`);
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
    const kept = [...this.registry].flatMap(([k, v]) => (k.startsWith('wave/') ? [v as WaveRecord] : []));
    kept.sort((a, b) => a.wave - b.wave);
    // One that was near is whole since the last rollback.
    if (kept.length > (this.wholeEvery === undefined ? 2 : 3)) throw new Wrong(`W3: ${kept.length} waves are kept`);
    for (const w of kept) {
      if (w.near && w !== kept.at(-1)) throw new Wrong(`W9: wave ${w.wave} is near and not the newest`);
      if (!w.near && this.near.has(w.wave)) throw new Wrong(`W9: wave ${w.wave} is not at the server`);
    }
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
