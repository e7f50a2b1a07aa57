/** The rank of an incarnation that begins on a simulated node, and what it gets of the node. */
import type { Comm, EndpointStart } from '@mayfly/protocols';
import type { JobId, TaskId, TaskReport } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import { Rank } from './rank.ts';
import { RecoveringRank } from './recovering-rank.ts';
import type { RankHost } from './rank-host.ts';
import { Random } from './random.ts';
import type { Simulation } from './simulation.ts';
import { Teammates } from './teammates.ts';
import type { TeamsHere } from './teams-here.ts';
import type { Uploads } from './uploads.ts';

/** A node on which ranks begin. */
export interface RankNode {
  readonly name: string;
  readonly job: JobId;
  readonly world: Simulation;
  /** Of its clock, ms. */
  readonly skew: number;
  readonly comm: Pick<Comm, 'retained'>;
  readonly uploads: Uploads;
  readonly teams: TeamsHere;
  ring(task: TaskId, bytes: Uint8Array): void;
  report(report: TaskReport): void;
}

/** @param life the number that the checkers have given to it */
export function rankOf(node: RankNode, h: Held, start: EndpointStart, life: number): Rank | RecoveringRank {
  const { world } = node;
  const { spec, chunkBytes, retainBytes } = world.setup;
  const { task, incarnation } = h;
  const host: RankHost = {
    chunkBytes,
    life,
    up: (bytes) => node.ring(task, bytes),
    checkpoint: (image) => node.uploads.checkpoint(h, image),
    parked: () => h.parked !== undefined,
    marks: () => h.toMark && !(h.toMark = false),
    recovered: () => node.report({ job: node.job, task, incarnation, event: 'recovered' }),
    clock: () => world.agenda.now + node.skew,
    place: () => node.name,
    room: () => node.comm.retained(task) + (node.teams.commOf(h)?.waiting(task) ?? 0) <= retainBytes,
    undone: world.undone,
    team: teamOf(node, h),
  };
  const { recoveries } = world.checkers.kit;
  if (recoveries)
    return new RecoveringRank(task, spec, h.position, start, host, world.checkers, recoveries, world.protocol.rank);
  return new Rank(task, spec, h.position, start, h.image, host, world.checkers, world.protocol.rank);
}

function teamOf({ name, world, teams }: RankNode, h: Held): RankHost['team'] {
  const here = teams.join(h);
  if (!here) return undefined;
  const random = Random.named(world.seed, `${name} mates of ${h.task}.${h.incarnation}`);
  const { chunkBytes, backlogBytes } = world.setup;
  const wave = world.protocol.images.setOf?.(h.position)?.wave ?? 0;
  const mates = new Teammates(h.task, here.memory, random, chunkBytes, wave, world, backlogBytes);
  return { mates, random, log: here.comm?.of(h.task) };
}
