/**
 * What the parts of a service have in common whose tasks take their checkpoints together (unit.ts): waves of a whole
 * job (coordinated/waves-of-job.ts), and of its clusters (hc3i/clusters-of-job.ts).
 *
 *  units.1 When the job has ended, or a task has aborted it, everything that was written may be shown.
 */
import {
  MESSAGE_JSON,
  parseJson,
  taskId,
  wholeEveryOf,
  type ExitReport,
  type TaskId,
  type WavesView,
} from '@mayfly/wire';
import type { WaveSettings } from '../contract/waves.ts';
import type { JobSpec } from '../dispatcher/events.ts';
import type { CheckpointFigures, PartHost, StoredImage } from '../service/part.ts';
import { OutputWaits } from './output-waits.ts';
import { showEverything } from './show-output.ts';
import { WaveStatistics } from './wave-statistics.ts';

/** A first wave that takes longer is abandoned, ms. */
const WAVE_MS = 60_000;

/** What the owner of a job has asked for of its waves. */
export const settingsOf = ({ checkpointMs, parity }: JobSpec): WaveSettings => ({
  periodMs: checkpointMs > 0 ? checkpointMs : undefined,
  waveMs: WAVE_MS,
  wholeEvery: parity && wholeEveryOf(parity),
});

/** What such a part asks of its host. */
export type UnitsHost = Pick<
  PartHost,
  'now' | 'logs' | 'dispatch' | 'image' | 'near' | 'commit' | 'log' | 'changed' | 'defect'
>;

/** Figures for people, and since when output waits, by unit. */
export class UnitFigures implements CheckpointFigures {
  readonly statistics: readonly WaveStatistics[];
  /** The checkpoints of one unit do not keep those of another from being asked for. */
  readonly waits: readonly OutputWaits[];

  constructor(
    units: number,
    readonly unitOf: (task: TaskId) => number,
    readonly view: () => WavesView,
    private readonly host: UnitsHost,
  ) {
    this.statistics = Array.from({ length: units }, () => new WaveStatistics());
    this.waits = Array.from({ length: units }, () => new OutputWaits());
  }

  of(task: TaskId): WaveStatistics {
    return this.statistics[this.unitOf(task)]!;
  }

  waveBegins(unit: number, wave: number, forced = false): void {
    const now = this.host.now();
    this.waits[unit]!.waveBegins(now);
    this.statistics[unit]!.waveBegins(wave, now, forced);
    this.host.changed(undefined);
  }

  stored(wave: number, { task, bytes, sentBytes }: StoredImage): void {
    this.of(task).stored(wave, bytes, sentBytes);
  }

  repeatsUntil(task: TaskId): number | undefined {
    return this.of(task).repeatsUntil(task);
  }

  ran(task: TaskId, since: number): void {
    this.of(task).ran(task, since);
  }

  stalled(task: TaskId, ms: number): void {
    this.of(task).stalled(task, ms);
  }

  stallOf(task: TaskId): number | undefined {
    return this.of(task).stallOf(task);
  }

  /** Units of these tasks that may be asked for a checkpoint now, besides those that are due; `underWay`: one is. */
  unitsToAsk(tasks: readonly TaskId[], underWay: (unit: number) => boolean): number[] {
    const now = this.host.now();
    const units = new Set(tasks.map((t) => this.unitOf(t)));
    return [...units].filter((unit) => !underWay(unit) && this.waits[unit]!.rested(now));
  }

  /** Units for which output wants a checkpoint; `underWay`: one is. */
  wanted(underWay: (unit: number) => boolean): number[] {
    const [now, logs] = [this.host.now(), this.host.logs()];
    return this.waits.flatMap((w, unit) => (w.wants(now, logs, underWay(unit)) ? [unit] : []));
  }
}

/** All tasks have exited for good, and the logs wait for a line: there is none to come. */
export function finish({ logs }: Pick<UnitsHost, 'logs'>): void {
  const size = Math.max(0, ...logs().map((log) => log.size));
  const tasks = Array.from({ length: size }, (_, t) => ({ task: taskId(t), state: 'ended' as const }));
  for (const log of logs()) log.goBack({ epoch: 0, to: { wave: 0, epoch: 0, at: 0, tasks, mark: null } });
  showEverything(logs());
}

/** units.1: the job has ended. */
export function end(host: Pick<UnitsHost, 'logs'>): void {
  if (host.logs().some((log) => log.waitsForLine)) finish(host);
  else showEverything(host.logs());
}

/** The exit of a task is durable. True: the others hear that it has ended; false: it ends the job (units.1). */
export function goesOn(report: Uint8Array, { logs }: Pick<UnitsHost, 'logs'>): boolean {
  if (!aborts(report)) return true;
  showEverything(logs());
  return false;
}

/** The EXIT of a task whose program aborted or trapped ends its job. */
function aborts(report: Uint8Array): boolean {
  try {
    const r = parseJson(new TextDecoder().decode(report), MESSAGE_JSON) as Partial<ExitReport>;
    return r.abort !== undefined;
  } catch {
    return true; // an exit that cannot be read is an error of the program
  }
}
