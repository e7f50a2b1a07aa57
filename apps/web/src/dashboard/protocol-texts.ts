/** What the pages say of a job's protocol: what it costs, what a loss costs, what a pause does. Pure. */
import { MAX_TEAM, goesBackTogether, hasParity, type JobOptions, type JobView } from '@mayfly/wire';
import { duration, elapsed, bytes, plural } from '../shared/format.ts';

export { goesBackTogether };
export type Protocol = JobView['protocol'];

/** The shortest time between two checkpoints of all ranks that a job may ask for, ms. */
export const LEAST_WAVE_MS = 100;

/** A rank that is lost can run again, so a job can be paused. */
export const restartsRanks = (protocol: Protocol): boolean => protocol !== 'none' && protocol !== 'app';

interface Choice {
  protocol: Protocol;
  /** What happens when a rank is lost. */
  title: string;
  /** What it costs, and for which jobs it is best: docs/protocols.md has the measurements. */
  costs: string;
}

export const CHOICES: readonly Choice[] = [
  {
    protocol: 'pessimistic',
    title: 'It restarts with the ranks of its tab, and the others continue',
    costs:
      'pessimistic message logging: every message between tabs goes through a log on the server; the ranks of a ' +
      'lost tab repeat their own work since their last checkpoint; best where ranks are lost often, for programs ' +
      'that write much while they run, and whenever in doubt',
  },
  {
    protocol: 'vcl',
    title: 'All ranks go back to the last checkpoint',
    costs:
      'coordinated checkpointing: nothing is logged between checkpoints; all ranks repeat their work since the last ' +
      'one; output is final some seconds late; best for programs that exchange many messages and seldom lose a rank',
  },
  {
    protocol: 'pcl',
    title: 'All ranks go back, and checkpoints stop the sending',
    costs:
      'blocking coordinated checkpointing: as before, but for each checkpoint all ranks stop sending ' +
      'until all have one; for comparing the two',
  },
  {
    protocol: 'hc3i',
    title: 'Its cluster goes back, and others as far as they depend on it',
    costs:
      'clusters of ranks that take checkpoints on their own: messages between clusters are logged, and wait for a ' +
      'checkpoint when they make a new dependency; best for parts that talk much within and little between each other',
  },
  {
    protocol: 'app',
    title: 'The other ranks learn of a loss, and the program decides',
    costs:
      'user-level failure mitigation (ULFM) or FT-MPI: nothing is logged, and a rank that starts again starts from ' +
      'main; for programs that handle the loss of a rank themselves',
  },
  {
    protocol: 'none',
    title: 'The job ends',
    costs: 'nothing is logged and no rank can restart: for a short trial, and the baseline for measuring',
  },
];

/** Why this protocol cannot be chosen for programs of this language. */
export const refusedText = (protocol: Protocol, language: string): string | undefined =>
  goesBackTogether(protocol) && language === 'typescript'
    ? 'not for TypeScript: a TypeScript rank takes a checkpoint only where the program asks for one'
    : undefined;

/** Why ranks form no teams under this protocol. */
export const refusedTeamText = (protocol: Protocol): string | undefined =>
  protocol === 'none' || protocol === 'pessimistic'
    ? undefined
    : 'Not under this choice: it needs all messages of the job on the server.';

/** Why checkpoints of a job with these options cannot be protected by parity. */
export const refusedParityText = ({ protocol = 'pessimistic' }: Pick<JobOptions, 'protocol'>): string | undefined =>
  hasParity(protocol) ? undefined : 'Not under this choice: checkpoints of clusters count together, or there are none.';

/** Ranks of a team, at most, unless the job says so. */
export const teamDefaultText = (protocol: Protocol): string =>
  protocol === 'none' ? `up to ${MAX_TEAM}` : 'all ranks of a node, or fewer where this room has lost ranks often';

/** What the loss of a team costs. */
export const teamLossText = (protocol: Protocol): string =>
  protocol === 'none'
    ? 'Under this choice one lost rank ends the job anyway, so a large team risks nothing more.'
    : 'A team is lost and restarted as a whole: a large one repeats more work after a closed tab.';

/** Where ranks go unless the job says so. */
export const mapByDefault = (protocol: Protocol, team: number): 'slot' | 'node' =>
  team > 1 && refusedTeamText(protocol) === undefined ? 'slot' : 'node';

/** The options of a job that gets another protocol: without what the server would refuse. */
export function withProtocol(o: JobOptions, protocol: Protocol): JobOptions {
  const { protocol: _, clusters = 2, ...rest } = o;
  if (protocol !== 'app') delete rest.ft;
  if (refusedTeamText(protocol) !== undefined) delete rest.team;
  if (refusedParityText({ protocol }) !== undefined) delete rest.parity;
  if (goesBackTogether(protocol) && (rest.checkpointMs ?? Infinity) < LEAST_WAVE_MS) delete rest.checkpointMs;
  return {
    ...rest,
    ...(protocol === 'pessimistic' ? {} : { protocol }),
    ...(protocol === 'hc3i' ? { clusters } : {}),
  };
}

export const PROTOCOLS: Record<Protocol, string> = {
  pessimistic: 'pessimistic message logging',
  vcl: 'vcl: coordinated checkpointing; a loss takes all ranks back to the last checkpoint',
  pcl: 'pcl: blocking coordinated checkpointing; a loss takes all ranks back to the last checkpoint',
  hc3i: 'hc3i: clusters with checkpoints of their own; a loss takes its cluster back, and those that depend on it',
  app: 'app: the program handles the loss of a rank itself (ULFM, FT-MPI)',
  none: 'none: a lost rank ends the job',
};

/** What strict durability means under a protocol, for the form. */
export const strictText = (protocol: Protocol): string =>
  goesBackTogether(protocol)
    ? 'not needed: output is final only when a checkpoint of all ranks on disk covers it, so a power cut undoes nothing'
    : 'write each message to disk before forwarding it; slower, survives a power cut of the server';

export function durabilityText(job: Pick<JobView, 'protocol' | 'durability'>): string {
  if (goesBackTogether(job.protocol)) return 'checkpoints and output are on disk, messages in memory';
  return job.durability === 'strict' ? 'strict: on disk before it is forwarded' : 'behind: synced within milliseconds';
}

/** How a job is protected, in a sentence of its report. `checkpointMs` 0: the scheduler finds the time. */
export function toleranceText(o: { protocol: Protocol; checkpointMs: number }): string {
  switch (o.protocol) {
    case 'app':
      return 'app: the program handles the loss of a rank itself (ULFM, FT-MPI)';
    case 'none':
      return 'none: a lost rank ends the job';
    case 'vcl':
    case 'pcl':
      return (
        'all ranks take a checkpoint together, and a loss takes all of them back to the last one (' +
        `${o.protocol === 'pcl' ? 'blocking ' : ''}coordinated checkpointing); ${
          o.checkpointMs === 0
            ? 'the time between checkpoints follows from their cost and the losses'
            : `${duration(o.checkpointMs)} from one checkpoint to the next`
        }`
      );
    case 'hc3i':
      return (
        'the ranks of a cluster take a checkpoint together, and a loss takes their cluster back to its last one, and ' +
        `others as far as they depend on what is undone; ${
          o.checkpointMs === 0
            ? 'the time between checkpoints follows from their cost and the losses'
            : `${duration(o.checkpointMs)} from one checkpoint of a cluster to the next, and one for each new dependency`
        }`
      );
    case 'pessimistic':
      return (
        'every message between nodes is logged before it is delivered (pessimistic message logging); a checkpoint of ' +
        `each rank about every ${duration(o.checkpointMs)}`
      );
  }
}

/** The list of faults while it is empty. */
export function noFaultsText(protocol: Protocol): string {
  if (protocol === 'none')
    return 'None so far. The first fault ends this job, because its protocol keeps nothing to restart a rank from.';
  if (protocol === 'app')
    return 'None so far. No rank that is lost is restored: the others learn of it, and the program decides what to do.';
  const tryIt = 'None so far. Try it: close a volunteer’s tab, or kill a rank in the overview.';
  if (protocol === 'hc3i') return `${tryIt} The ranks of its cluster go back to their last checkpoint and continue.`;
  return goesBackTogether(protocol)
    ? `${tryIt} All ranks go back to the last checkpoint and continue from there.`
    : `${tryIt} The rank restarts and continues.`;
}

/** What the server keeps, above the list of checkpoints. */
export function keptText(protocol: Protocol): string {
  if (protocol === 'hc3i')
    return (
      'The ranks of a cluster take a checkpoint together. The server keeps all that a loss in any cluster may need. ' +
      'A lost rank takes its cluster back to its newest, and others as far as they depend on what is undone.'
    );
  return goesBackTogether(protocol)
    ? 'All ranks take a checkpoint together. The server keeps the two newest that all ranks have. A lost rank takes ' +
        'all of them back to the newest.'
    : 'The server keeps the two newest of each rank. A lost rank restarts from the newest and replays the work since ' +
        'then.';
}

/** What happens if a rank that runs is lost now. `newest`: its newest checkpoint. */
export function ifLostText(protocol: Protocol, newest: { bytes: number; at: number } | undefined, now: number): string {
  if (protocol === 'hc3i') return 'the ranks of its cluster go back to its newest checkpoint';
  if (goesBackTogether(protocol)) return 'all ranks go back to the newest checkpoint that all have';
  return newest
    ? `loads ${bytes(newest.bytes)}, replays up to ${elapsed(now - newest.at)}`
    : 'restarts, replays its whole log';
}

/** What a pause will do to this job: said before it is done. */
export function pauseAdvice(job: JobView): string {
  if (!restartsRanks(job.protocol))
    return (
      `This job cannot be paused: its protocol, ${job.protocol}, keeps nothing to resume a rank from. You can ` +
      'cancel it and run it again later.'
    );
  if (job.startedAt === undefined)
    return 'The job has not started. It leaves the queue, and returns to its place when you resume it.';
  const after =
    'Other jobs can use the slots in the meantime. The answer stays the same, and a pause is not counted as a fault.';
  if (goesBackTogether(job.protocol))
    return (
      `All ranks ${job.protocol === 'hc3i' ? 'of each cluster ' : ''}take a checkpoint together, if every rank gets to an MPI call within 15 seconds. Otherwise the job ` +
      `resumes from its previous checkpoint, or from the beginning where it has none. ${after}`
    );
  const left = job.tasks.filter((t) => t.state !== 'done');
  const without = left.filter((t) => t.images === 0).length;
  const who =
    without === left.length
      ? 'No rank has one so far'
      : without === 0
        ? 'Every rank has an older one'
        : `${without} of ${plural(left.length, 'rank')} have none so far`;
  const how =
    job.program.language === 'typescript'
      ? 'Each rank takes a checkpoint at its next checkpoint.here, if it gets there within 15 seconds. When ' +
        'you resume, ranks without a checkpoint restart and replay their log'
      : 'Each rank takes a checkpoint at its next MPI call, if there is one within 15 seconds. Ranks without a ' +
        'checkpoint fall back to their previous one, or restart and replay their log';
  return `${how}. ${who}. ${after}`;
}
