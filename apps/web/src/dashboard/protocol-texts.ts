/** What the pages say of a job's protocol: what it costs, what a loss costs, what a pause does. Pure. */
import {
  accepts,
  DEFAULT_PROTOCOL,
  goesBackTogether,
  manifests,
  PROTOCOL_NAMES,
  refusalOf,
  restarts,
  type Feature,
} from '@mayfly/protocols/manifests';
import { MAX_TEAM, type JobOptions, type JobReport, type JobView } from '@mayfly/wire';
import { duration, elapsed, bytes, plural } from '../shared/format.ts';

export { goesBackTogether, restarts };
export type Protocol = JobView['protocol'];

export const CHOICES = PROTOCOL_NAMES.map((name) => manifests[name]);

/** Why the form does not offer this under a protocol. */
export function refusedText(protocol: Protocol, feature: Feature): string | undefined {
  const reason = refusalOf(protocol, feature);
  return reason === undefined ? undefined : `Not available with ${protocol}: ${reason}.`;
}

/** Ranks of a team, at most, unless the job says so. */
export const teamDefaultText = (protocol: Protocol): string =>
  !restarts(protocol) ? `up to ${MAX_TEAM}` : 'all ranks of a node, or fewer where this room has lost ranks often';

/** What the loss of a team costs. */
export const teamLossText = (protocol: Protocol): string =>
  !restarts(protocol)
    ? 'Under this choice one lost rank ends the job anyway, so a large team risks nothing more.'
    : 'A team is lost and restarted as a whole: a large one repeats more work after a closed tab.';

/** Where ranks go unless the job says so. */
export const mapByDefault = (protocol: Protocol, team: number): 'slot' | 'node' =>
  team > 1 && accepts(protocol, 'teams') ? 'slot' : 'node';

/** The options of a job that gets another protocol: without what the server would refuse. */
export function withProtocol(o: JobOptions, protocol: Protocol): JobOptions {
  const { protocol: _, clusters = 2, ...rest } = o;
  if (!accepts(protocol, 'ft')) delete rest.ft;
  if (!accepts(protocol, 'teams')) delete rest.team;
  if (!accepts(protocol, 'parity')) delete rest.parity;
  if (!accepts(protocol, 'moves')) {
    delete rest.stuckAfterMs;
    delete rest.stuckFactor;
  }
  if (rest.durability === 'strict' && !accepts(protocol, 'strict')) delete rest.durability;
  if (!accepts(protocol, 'checkpoints') || (rest.checkpointMs ?? Infinity) < manifests[protocol].leastCheckpointMs)
    delete rest.checkpointMs;
  if (!accepts(protocol, 'clusters')) delete rest.clusterCheckpointMs;
  return {
    ...rest,
    ...(protocol === DEFAULT_PROTOCOL ? {} : { protocol }),
    ...(accepts(protocol, 'clusters') ? { clusters } : {}),
  };
}

/** What strict durability means under a protocol, for the form. */
export const strictText = (protocol: Protocol): string => {
  const reason = refusalOf(protocol, 'strict');
  return reason === undefined ? manifests[protocol].texts.strict : `not needed: ${reason}`;
};

export function durabilityText(job: Pick<JobView, 'protocol' | 'durability'>): string {
  if (goesBackTogether(job.protocol)) return 'checkpoints and output are on disk, messages in memory';
  return job.durability === 'strict' ? 'strict: on disk before it is forwarded' : 'behind: synced within milliseconds';
}

/** How a job is protected, in a sentence of its report. `checkpointMs` 0: the scheduler finds the time. */
export function toleranceText({
  protocol,
  checkpointMs,
  clusterCheckpointMs: timers,
}: Pick<JobReport['job']['options'], 'protocol' | 'checkpointMs' | 'clusterCheckpointMs'>): string {
  const { goesBack, texts } = manifests[protocol];
  if (goesBack === 'nothing') return texts.protection;
  if (goesBack === 'rank') return `${texts.protection} about every ${duration(checkpointMs)}`;
  if (timers) {
    const each = timers.map((ms, i) => `cluster ${i} ${ms === null ? 'without a timer' : `every ${duration(ms)}`}`);
    return `${texts.protection}: ${each.join(', ')}; and one for each new dependency`;
  }
  if (checkpointMs === 0)
    return `${texts.protection}; the time between checkpoints follows from their cost and the losses`;
  return goesBack === 'job'
    ? `${texts.protection}; ${duration(checkpointMs)} from one checkpoint to the next`
    : `${texts.protection}; ${duration(checkpointMs)} from one checkpoint of a cluster to the next, and one for each ` +
        'new dependency';
}

const COMPARABLE = 'After it ends, you can run it again here and compare the answers byte for byte.';

/** What a loss does to the job, in the place of the comparison with other runs: by its protocol and its state. */
export function beforeComparison({ state, protocol }: Pick<JobView, 'state' | 'protocol'>): string {
  switch (state) {
    case 'done':
      return 'Looking for other runs of this job…';
    case 'failed':
      return 'The job failed, so there is no answer to compare.';
    case 'cancelled':
      return 'The job was cancelled, so there is no answer to compare.';
    case 'waiting':
    case 'pausing':
    case 'paused':
      return COMPARABLE;
    default:
  }
  if (restarts(protocol)) return `Kill a rank or close a tab: the job continues. ${COMPARABLE}`;
  if (accepts(protocol, 'ft'))
    return 'Mayfly does not restart a lost rank here: the others learn of it, and the program decides what to do.';
  return (
    `A lost rank ends this job, because its protocol is ${protocol}. If it finishes, you can run it again here and ` +
    'compare the answers byte for byte.'
  );
}

/** The list of faults while it is empty. */
export function noFaultsText(protocol: Protocol, state: JobView['state']): string {
  const tryIt =
    restarts(protocol) && (state === 'running' || state === 'stalled')
      ? 'Try it: close a volunteer’s tab, or kill a rank in the overview. '
      : '';
  return `None so far. ${tryIt}${manifests[protocol].texts.noFaults}`;
}

/** What the server keeps, above the list of checkpoints. */
export const keptText = (protocol: Protocol): string => manifests[protocol].texts.kept;

/** What happens if a rank that runs is lost now. `newest`: its newest checkpoint. */
export function ifLostText(protocol: Protocol, newest: { bytes: number; at: number } | undefined, now: number): string {
  const { goesBack } = manifests[protocol];
  if (goesBack === 'cluster') return 'the ranks of its cluster go back to its newest checkpoint';
  if (goesBack === 'job') return 'all ranks go back to the newest checkpoint that all have';
  return newest
    ? `loads ${bytes(newest.bytes)}, replays up to ${elapsed(now - newest.at)}`
    : 'restarts, replays its whole log';
}

/** What a pause will do to this job: said before it is done. */
export function pauseAdvice(job: JobView): string {
  const refused = refusalOf(job.protocol, 'pause');
  if (refused !== undefined)
    return (
      `This job cannot be paused: under its protocol, ${job.protocol}, ${refused}. You can cancel it and run it again ` +
      'later.'
    );
  if (job.startedAt === undefined)
    return 'The job has not started. It leaves the queue, and returns to its place when you resume it.';
  const after =
    'Other jobs can use the slots in the meantime. The answer stays the same, and a pause is not counted as a fault.';
  if (goesBackTogether(job.protocol))
    return (
      `All ranks ${manifests[job.protocol].goesBack === 'cluster' ? 'of each cluster ' : ''}take a checkpoint together, if every rank gets to an MPI call within 15 seconds. Otherwise the job ` +
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
