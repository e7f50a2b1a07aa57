/** The report of a run, from what the cores and the files say. Pure. */
import type { JobSpec } from '@mayfly/protocols';
import {
  REPORT_VERSION,
  SPENT,
  faultsOf,
  recoveryOf,
  runTime,
  taskId,
  type Fault,
  type JobReport,
  type JobView,
  type RankProfile,
} from '@mayfly/wire';
import type { RunSummary } from './run-log.ts';

export interface ReportParts {
  view: JobView;
  spec: JobSpec;
  run: RunSummary;
  profile: RankProfile[];
  outputs: JobReport['outputs'];
  comparisons: NonNullable<JobReport['comparisons']>;
  version: string;
  now: number;
}

function recoveredOf(
  f: Fault,
  waves: JobView['waves'],
): Pick<JobReport['faults'][number], 'replayMs' | 'recoveredAfterMs'> {
  const recovery = recoveryOf(f, waves);
  return {
    ...(recovery?.repeat === undefined ? {} : { replayMs: recovery.repeat }),
    ...(recovery && { recoveredAfterMs: recovery.total }),
  };
}

export function reportOf({ view, spec, run, profile, outputs, comparisons, version, now }: ReportParts): JobReport {
  const spentMs = Object.fromEntries(SPENT.map((name, i) => [name, Math.round(run.spentMs[i] ?? 0)]));
  const sum = (of: (t: JobView['tasks'][number]) => number): number => view.tasks.reduce((n, t) => n + of(t), 0);
  const replayedMs = spentMs['replaying'] ?? 0;
  return {
    format: 'mayfly-report',
    version: REPORT_VERSION,
    at: now,
    server: { version },
    job: {
      id: view.id,
      name: view.name,
      ...(view.about === undefined ? {} : { about: view.about }),
      state: view.state,
      program: { ...view.program },
      args: view.args,
      ...(view.parts === undefined ? {} : { parts: view.parts }),
      size: view.size,
      inputs: spec.files.map(({ path, bytes, hash }) => ({ path, bytes, hash })),
      seed: spec.seed,
      options: {
        protocol: spec.protocol,
        durability: spec.durability,
        checkpointMs: spec.checkpointMs,
        ...(spec.clusterCheckpointMs && { clusterCheckpointMs: [...spec.clusterCheckpointMs] }),
        ...(spec.parity && { parity: { ...spec.parity } }),
        ...(spec.graceMs === undefined ? {} : { graceMs: spec.graceMs }),
        ...(spec.stuckAfterMs === undefined ? {} : { stuckAfterMs: spec.stuckAfterMs }),
        ...(spec.stuckFactor === undefined ? {} : { stuckFactor: spec.stuckFactor }),
        ...(spec.timeLimitMs === undefined ? {} : { timeLimitMs: spec.timeLimitMs }),
        memoryBytes: spec.limits.memoryBytes,
        channelMemories: spec.channelMemories,
      },
      submittedAt: view.submittedAt,
      ...(view.startedAt === undefined ? {} : { startedAt: view.startedAt }),
      ...(view.endedAt === undefined ? {} : { endedAt: view.endedAt }),
      runMs: runTime(view, now),
      pausedMs: view.pausedMs ?? 0,
      ...(view.exitCode === undefined ? {} : { exitCode: view.exitCode }),
      ...(view.error === undefined ? {} : { error: { code: view.error.code, message: view.error.message } }),
    },
    ranks: view.tasks.map((t) => ({
      rank: t.task,
      state: t.state,
      ...(t.exitCode === undefined ? {} : { exitCode: t.exitCode }),
      incarnations: view.startedAt === undefined ? 0 : t.incarnation + 1,
      messagesIn: t.messagesIn,
      bytesIn: t.bytesIn,
      messagesOut: t.messagesOut,
      bytesOut: t.bytesOut,
      images: t.images,
      imageBytes: t.imageBytes,
    })),
    nodes: run.nodes.map((n) => ({ name: n.name, engine: n.engine, ranks: n.ranks.map((r) => taskId(r)) })),
    faults: view.faults.map((f) => ({
      at: f.at,
      rank: f.task,
      incarnation: f.incarnation,
      cause: f.cause,
      ...(f.error === undefined ? {} : { error: f.error }),
      ...(f.assignedAfterMs === undefined ? {} : { slotMs: f.assignedAfterMs }),
      ...(f.startedAfterMs === undefined || f.assignedAfterMs === undefined
        ? {}
        : { startMs: Math.max(0, f.startedAfterMs - f.assignedAfterMs) }),
      ...recoveredOf(f, view.waves),
    })),
    totals: {
      messages: sum((t) => t.messagesOut),
      bytes: sum((t) => t.bytesOut),
      images: sum((t) => t.images),
      imageBytes: sum((t) => t.imageBytes),
      incarnations: view.startedAt === undefined ? 0 : sum((t) => t.incarnation + 1),
      faults: faultsOf(view),
      usefulMs: Object.values(spentMs).reduce((a, b) => a + b, 0) - replayedMs,
      replayedMs,
      spentMs,
    },
    ...(view.waves && { waves: view.waves }),
    profile,
    outputs,
    ...(comparisons.length === 0 ? {} : { comparisons }),
  };
}
