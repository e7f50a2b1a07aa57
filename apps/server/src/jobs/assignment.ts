/** What an assignment tells a node about its rank, and which program the rank runs. */
import { beginsAt, capacityOf, groupOf, partOfTask, partsOf, protocols, type JobRecord } from '@mayfly/protocols';
import {
  ftModes,
  partOf,
  spawnedTasks,
  wholeEveryOf,
  type Assignment,
  type Incarnation,
  type JobId,
  type Manifest,
  type TaskId,
} from '@mayfly/wire';
import type { ProgramAt } from './job-store.ts';

/** The program that a task runs. */
export function programOf(record: JobRecord, task: TaskId): ProgramAt {
  const part = partOfTask(record, task);
  return { language: partsOf(record.spec)[part]!.program.language, part };
}

export interface Given {
  task: TaskId;
  incarnation: Incarnation;
  /** The image that it restarts from; undefined: the start of the program. */
  manifest: Manifest | undefined;
  /** Its team, if it has teammates. */
  team: readonly TaskId[] | undefined;
  /** Of its team, those that have ended. */
  ended: readonly TaskId[] | undefined;
  /** All teams of the job's first tasks. */
  teams: readonly (readonly TaskId[])[] | undefined;
  /** By index: the server that has the Channel Memory, where several share a storage. */
  at: readonly (string | undefined)[];
  capability: string;
  graceMs: number;
  /** Wall clock of the server. */
  now: number;
}

/** What the dispatcher says of it. */
export type Assigned = Pick<Given, 'task' | 'incarnation' | 'manifest' | 'team' | 'ended' | 'teams'>;

export function assignmentOf(
  record: JobRecord,
  { task, incarnation, manifest, team, ended, teams, at, capability, graceMs, now }: Given,
): Assignment {
  const { spec } = record;
  const group = groupOf(record, task);
  const child = group && partOf(group, task);
  const restarted = group?.replaces === true;
  const appnum = partOfTask(record, task);
  const { program, args, count, env = spec.env } = partsOf(spec)[appnum]!;
  return {
    job: spec.id,
    jobName: spec.name,
    ...(spec.about === undefined ? {} : { about: spec.about }),
    task,
    incarnation,
    size: group && !restarted ? spawnedTasks(group.parts) : spec.size,
    capacity: capacityOf(spec),
    ...(record.universe === undefined ? {} : { universe: record.universe }),
    ...(spec.ft && { ft: { modes: ftModes(spec.ft), ...(restarted && { restarted }) } }),
    ...(group && !restarted ? { spawned: { first: group.first, root: group.root, appnum: child! } } : {}),
    ...(spec.parts && (!group || restarted) ? { part: { appnum, size: count } } : {}),
    ...(team === undefined ? {} : { team: [...team] }),
    ...(ended === undefined ? {} : { ended: [...ended] }),
    ...(teams === undefined ? {} : { teams: teams.map((tasks) => [...tasks]) }),
    capability,
    program: { ...program },
    args: group ? group.parts[child!]!.args : args,
    ...(env === undefined ? {} : { env }),
    files: spec.files,
    protocol: spec.protocol,
    channelMemories: Array.from({ length: spec.channelMemories }, (_, i) => memoryUrl(spec.id, i, at[i])),
    ...(spec.clusters === undefined ? {} : { homes: [...spec.clusters] }),
    seed: spec.seed,
    serverTime: now,
    checkpointMs: spec.checkpointMs,
    ...(spec.parity && { wholeEvery: wholeEveryOf(spec.parity) }),
    graceMs,
    ...(manifest === undefined ? {} : { manifest }),
    position: manifest
      ? beginsAt(protocols[spec.protocol].images, manifest, team, record.dissolved)
      : protocols[spec.protocol].recovery.start,
    limits: spec.limits,
  };
}

/** By `job` the port of a server knows what is for a seat there; by `at` a proxy finds the server. */
const memoryUrl = (job: JobId, index: number, at: string | undefined): string =>
  `/data/cm/${index}?job=${job}${at ? `&at=${encodeURIComponent(at)}` : ''}`;
