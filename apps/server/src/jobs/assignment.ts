/** What a node is told of the rank that it gets. */
import type { JobSpec } from '@mayfly/protocols';
import { zeroLine, type Assignment, type Incarnation, type Manifest, type TaskId } from '@mayfly/wire';

export interface Given {
  task: TaskId;
  incarnation: Incarnation;
  /** The image that it restarts from; undefined: the start of the program. */
  manifest: Manifest | undefined;
  capability: string;
  graceMs: number;
  /** Wall clock of the server. */
  now: number;
}

export function assignmentOf(spec: JobSpec, { task, incarnation, manifest, capability, graceMs, now }: Given): Assignment {
  return {
    job: spec.id,
    jobName: spec.name,
    task,
    incarnation,
    size: spec.size,
    capability,
    program: { ...spec.program },
    args: spec.args,
    ...(spec.env === undefined ? {} : { env: spec.env }),
    files: spec.files,
    protocol: spec.protocol,
    channelMemories: Array.from({ length: spec.channelMemories }, (_, i) => `/data/cm/${i}`),
    seed: spec.seed,
    serverTime: now,
    checkpointMs: spec.checkpointMs,
    graceMs,
    ...(manifest === undefined ? {} : { manifest }),
    replay: manifest?.replay ?? { prologue: zeroLine(), image: zeroLine(), held: [] },
    limits: spec.limits,
  };
}
