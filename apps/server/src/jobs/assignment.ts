/** What an assignment tells a node about its rank. */
import { capacityOf, groupOf, protocols, type JobRecord } from '@mayfly/protocols';
import { partOf, spawnedTasks, type Assignment, type Incarnation, type Manifest, type TaskId } from '@mayfly/wire';

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

export function assignmentOf(
  record: JobRecord,
  { task, incarnation, manifest, capability, graceMs, now }: Given,
): Assignment {
  const { spec } = record;
  const group = groupOf(record, task);
  const part = group && partOf(group, task);
  return {
    job: spec.id,
    jobName: spec.name,
    ...(spec.about === undefined ? {} : { about: spec.about }),
    task,
    incarnation,
    size: group ? spawnedTasks(group.parts) : spec.size,
    capacity: capacityOf(spec),
    ...(spec.library === undefined ? {} : { library: spec.library }),
    ...(record.universe === undefined ? {} : { universe: record.universe }),
    ...(group ? { spawned: { first: group.first, root: group.root, appnum: part! } } : {}),
    capability,
    program: { ...spec.program },
    args: group ? group.parts[part!]!.args : spec.args,
    ...(spec.env === undefined ? {} : { env: spec.env }),
    files: spec.files,
    protocol: spec.protocol,
    channelMemories: Array.from({ length: spec.channelMemories }, (_, i) => `/data/cm/${i}`),
    seed: spec.seed,
    serverTime: now,
    checkpointMs: spec.checkpointMs,
    graceMs,
    ...(manifest === undefined ? {} : { manifest }),
    position: manifest?.position ?? protocols[spec.protocol].recovery.start,
    limits: spec.limits,
  };
}
