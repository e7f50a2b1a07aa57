/**
 * The waves of one job: what its checkpoint scheduler wants goes to the other cores here, and their answers come back.
 *
 * Owns: the records of waves that are kept, as far as other cores have to hear of them. Does not own: what the
 * scheduler decides (coordinated/waves.ts), the cores, figures for people (units/units-of-job.ts).
 *
 *  Y1 The world cuts when every task has: it has seen nothing behind any cut, since it sees only what can never be
 *     undone.
 *  Y2 What a task has written may be shown up to its cut in the oldest wave that is kept; of a task that had ended
 *     there, everything.
 *  Y3 A wave is asked for when output waits (units/output-waits.ts).
 *  Y4 The manifests of a near wave's images are written with the wave, and go with the next wave or line: after a
 *     restart of the server only the nodes have their pages (C17).
 */
import { taskId, type JobId, type Manifest, type TaskId, type WavesView } from '@mayfly/wire';
import {
  lineKey,
  nearKey,
  waveKey,
  type CheckpointScheduler,
  type LineRecord,
  type WaveEffect,
  type WaveEvent,
  type WaveOptions,
  type WaveRecord,
} from '../contract/waves.ts';
import { CoreInbox } from '../service/inbox.ts';
import type { Entry, ServicePart, ServicePolicy, StoredImage, Worked } from '../service/part.ts';
import type { StageAnswer } from '../service/served-log.ts';
import type { Timeless } from '../service/timeless.ts';
import { showEverything, showUpTo } from '../units/show-output.ts';
import { UnitFigures, end, finish, goesOn, settingsOf, type UnitsHost } from '../units/units-of-job.ts';
import type { WaveStatistics } from '../units/wave-statistics.ts';
import { Waves } from './waves.ts';

/** @param scheduler a planted bug is another one */
export const waveService = (
  scheduler: (options: WaveOptions) => CheckpointScheduler = (options) => new Waves(options),
): ServicePolicy => ({
  kinds: ['wave', 'line', 'near'],
  begin(spec, host) {
    const { id: job, size, channelMemories, checkpointMs } = spec;
    const participants = [...Array.from({ length: channelMemories }, (_, cm) => `cm${cm}`), 'images'];
    const core = scheduler({ job, tasks: size, participants, settings: settingsOf(spec) });
    return new WavesOfJob(job, size, core, host, checkpointMs > 0);
  },
});

/** Each kind of record of the registry by its keys. */
const isKind = (kind: string, key: string): boolean => key.startsWith(`${kind}/`);

type Input = Timeless<WaveEvent>;

export class WavesOfJob implements ServicePart {
  readonly figures: UnitFigures;
  readonly #records = new Map<number, WaveRecord>();
  readonly #inbox: CoreInbox<Input, WaveEffect>;
  readonly #statistics: WaveStatistics;
  /** Y4: keys in the registry. */
  #near: ReadonlySet<string> = new Set();

  constructor(
    private readonly job: JobId,
    /** Of which the scheduler knows. */
    private tasks: number,
    readonly scheduler: CheckpointScheduler,
    private readonly host: UnitsHost,
    /** The owner of the job has chosen the period. */
    private readonly chosen: boolean,
  ) {
    const step = (e: Input): WaveEffect[] => scheduler.step({ ...e, now: host.now() } as WaveEvent);
    this.#inbox = new CoreInbox(step, (e) => this.#perform(e), host.defect.bind(host));
    this.figures = new UnitFigures(
      1,
      () => 0,
      () => this.#view(),
      host,
    );
    this.#statistics = this.figures.statistics[0]!;
  }

  recover(left: readonly Entry[], worked: Worked): void {
    const of = <T>(kind: string): T[] => left.flatMap(([key, value]) => (isKind(kind, key) ? [value as T] : []));
    const waves = of<WaveRecord>('wave');
    const [line] = of<LineRecord>('line');
    this.#near = new Set(left.flatMap(([key]) => (isKind('near', key) ? [key] : [])));
    for (const w of waves) {
      this.#records.set(w.wave, w);
      this.tasks = Math.max(this.tasks, w.tasks.length);
    }
    const last = waves.reduce<WaveRecord | undefined>((a, b) => (a && a.wave > b.wave ? a : b), undefined);
    const size = Math.max(0, ...this.host.logs().map((log) => log.size));
    const tasks = Array.from({ length: size }, (_, t) => taskId(t));
    this.#statistics.restarted(last, tasks, worked, this.host.now());
    for (const e of this.scheduler.recover(waves, line, this.host.now())) this.#perform(e);
  }

  finish(): void {
    finish(this.host);
  }

  end(): void {
    end(this.host);
  }

  keys(): string[] {
    return [lineKey(this.job), ...[...this.#records.keys()].map((wave) => waveKey(this.job, wave)), ...this.#near];
  }

  readonly #underWay = (): boolean => this.scheduler.underWay !== undefined;

  #view(): WavesView {
    const { due } = this.scheduler;
    return this.#statistics.view({
      chosen: this.chosen,
      ...(due && { periodMs: Math.round(due.periodMs) }),
      ...(due?.askedMs !== undefined && { askedMs: due.askedMs }),
      ...(due?.at !== undefined && { nextAt: Math.round(due.at) }),
    });
  }

  lost(cause: string, ranks: readonly TaskId[]): void {
    this.#statistics.lost(cause, ranks, this.host.now());
    this.tell({ type: 'lost', task: ranks[0] ?? taskId(0) });
  }

  ask(of?: readonly TaskId[]): void {
    if (!of || this.figures.unitsToAsk(of, this.#underWay).length > 0) this.tell({ type: 'ask' });
  }

  lineDurable(epoch: number): void {
    this.tell({ type: 'lineDurable', epoch });
  }

  checked(wave: number, sound: boolean, reason?: string): void {
    this.tell({ type: 'checked', wave, sound, ...(reason !== undefined && { reason }) });
  }

  wentBack(cm: number, epoch: number): void {
    this.tell({ type: 'wentBack', epoch, who: `cm${cm}` });
  }

  grow(tasks: number): void {
    this.tasks = Math.max(this.tasks, tasks);
    this.tell({ type: 'grow', tasks });
  }

  began(task: TaskId): void {
    this.#statistics.began(task, this.host.now());
    this.tell({ type: 'began', epoch: this.scheduler.epoch, task });
  }

  stored(wave: number, i: StoredImage): void {
    this.figures.stored(wave, i);
    this.tell({ type: 'stored', wave, task: i.task, image: i.image, near: i.near ?? false });
  }

  tell(event: Input): void {
    this.#inbox.put(event);
  }

  // ---- what the scheduler wants ----

  #perform(e: WaveEffect): void {
    const { host, job } = this;
    const logs = host.logs();
    switch (e.type) {
      case 'begin':
        this.figures.waveBegins(0, e.wave);
        host.image({ type: 'wave', job, wave: e.wave });
        for (const log of logs)
          log.step({ type: 'wave', wave: e.wave, tasks: this.tasks, ended: e.ended, starting: e.starting });
        return;
      case 'mark':
        for (const log of logs) log.step({ type: 'mark', wave: e.wave }); // Y1
        return this.tell({ type: 'marked', wave: e.wave, mark: null });
      case 'commit': {
        this.#note(e.changes);
        const changes = [...e.changes, ...this.#nearChanges(host.near(e.wave))];
        return host.commit(changes, () => this.tell({ type: 'committed', wave: e.wave }));
      }
      case 'over': {
        this.figures.waits[0]!.waveOver(host.now(), e.committed);
        const counts = logs.flatMap((log) => log.core?.waveCounts() ?? []);
        const reason = e.committed ? undefined : (e.reason ?? '');
        host.changed(this.#statistics.waveOver(e.wave, host.now(), reason, counts, e.committed && e.near));
        host.image({ type: 'waveOver', job, wave: e.wave, committed: e.committed });
        for (const log of logs) log.step({ type: 'waveOver', wave: e.wave });
        // A pause waits for one whose images are at the server.
        if (e.committed && !e.near) host.dispatch({ type: 'waveDone', job });
        return;
      }
      case 'release':
        return this.#release(e.wave);
      case 'forget':
        this.#records.delete(e.wave);
        this.#statistics.forget(e.wave);
        host.image({ type: 'forgetWave', job, wave: e.wave });
        for (const log of logs) log.step({ type: 'forgetWaves', before: this.scheduler.kept[0] ?? 0 });
        return;
      case 'check': {
        const tasks = this.#records.get(e.wave)?.tasks ?? [];
        const images = tasks.flatMap((t) => (t.state === 'image' ? [t.image] : []));
        return host.image({ type: 'checkWave', job, wave: e.wave, images });
      }
      case 'line':
        this.#note(e.changes);
        return host.dispatch({
          type: 'rollBack',
          job,
          epoch: e.line.epoch,
          changes: [...e.changes, ...this.#nearChanges([])],
        });
      case 'goBack': {
        if (e.to && !e.to.near) this.#statistics.madeWhole(e.to.wave);
        host.changed(this.#statistics.goesBack(e.epoch, e.to, host.now()));
        const images = (e.to?.tasks ?? []).flatMap((t) => (t.state === 'image' ? [[t.task, t.image] as const] : []));
        host.image({ type: 'goBack', job, kept: this.scheduler.kept, images });
        this.tell({ type: 'wentBack', epoch: e.epoch, who: 'images' });
        for (const log of logs) log.goBack({ epoch: e.epoch, to: e.to });
        return;
      }
      case 'assign': {
        const ended = (e.to?.tasks ?? []).flatMap((t) => (t.state === 'ended' ? [t.task] : []));
        return host.dispatch({ type: 'goOn', job, ended });
      }
      case 'finished':
        return showEverything(this.host.logs());
      case 'failed':
        return host.dispatch({ type: 'jobFailed', job, error: e.error });
      case 'log':
        return host.log(e.level, e.message);
    }
  }

  /** Y4. */
  #nearChanges(manifests: readonly Manifest[]): (readonly [key: string, value: unknown])[] {
    const now = new Map(manifests.map((m) => [nearKey(this.job, m.task), m]));
    const gone = [...this.#near].filter((key) => !now.has(key));
    this.#near = new Set(now.keys());
    return [...now, ...gone.map((key) => [key, undefined] as const)];
  }

  /** Records that are being written. */
  #note(changes: readonly (readonly [key: string, value: unknown])[]): void {
    for (const [key, value] of changes)
      if (value && key.startsWith('wave/')) this.#records.set((value as WaveRecord).wave, value as WaveRecord);
  }

  /** Y2. */
  #release(wave: number): void {
    for (const t of this.#records.get(wave)?.tasks ?? []) showUpTo(this.host.logs(), t);
  }

  // ---- answers ----

  answered(_cm: number, a: StageAnswer): void {
    switch (a.type) {
      case 'cut':
        this.#statistics.cut(a.wave, a.task, this.host.now());
        return this.tell({ type: 'cut', task: a.task, wave: a.wave, cut: a.cut });
      case 'recorded':
        return this.tell({ type: 'recorded', task: a.task, wave: a.wave });
      case 'cannot':
        return this.tell({ type: 'cannot', task: a.task, wave: a.wave, reason: a.reason });
      case 'taskEnded':
        return this.#ended(a.task, a.report);
    }
  }

  #ended(task: TaskId, report: Uint8Array): void {
    this.#statistics.ended(task, this.host.now());
    if (!goesOn(report, this.host)) return;
    for (const log of this.host.logs()) log.step({ type: 'ended', task });
    this.host.dispatch({ type: 'ended', job: this.job, task });
    this.tell({ type: 'ended', epoch: this.scheduler.epoch, task });
  }

  /** Y3. */
  tick(): void {
    this.tell({ type: 'tick' });
    if (this.figures.wanted(this.#underWay).length > 0) this.ask();
  }
}
