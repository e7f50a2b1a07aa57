/** The clusters of a job (protocol `hc3i`), their timers and their rooms, as its submission has them. */
import { accepts, manifests } from '@mayfly/protocols';
import { MAX_CLUSTERS, MayflyError, type JobOptions, type JobSubmission, type ProtocolName } from '@mayfly/wire';

const bad = (message: string): MayflyError => new MayflyError('BAD_REQUEST', message);

/**
 * By rank: its cluster. Undefined: the protocol has none.
 * @param size ranks of the job
 * @throws MayflyError BAD_REQUEST
 */
export function clustersOf(
  protocol: ProtocolName,
  clusters: JobOptions['clusters'],
  size: number,
): number[] | undefined {
  if (!accepts(protocol, 'clusters')) return undefined;
  if (clusters === undefined)
    throw bad(
      `The protocol "${protocol}" needs the option "clusters": into how many clusters the ranks are split, or the ranks ` +
        'of each cluster.',
    );
  const count = typeof clusters === 'number' ? clusters : clusters.length;
  if (count < 2 || count > MAX_CLUSTERS)
    throw bad(`The job has ${count} clusters: a job of "${protocol}" has 2 to ${MAX_CLUSTERS}.`);
  if (count > size) throw bad(`The job has ${count} clusters and ${size} ranks: each cluster needs a rank.`);
  if (typeof clusters === 'number') return Array.from({ length: size }, (_, rank) => Math.floor((rank * count) / size));
  const of: (number | undefined)[] = Array.from({ length: size }, () => undefined);
  for (const [cluster, ranks] of clusters.entries()) {
    if (ranks.length === 0) throw bad(`Cluster ${cluster} has no ranks: each cluster needs one.`);
    for (const rank of ranks) {
      if (rank >= size) throw bad(`Cluster ${cluster} has rank ${rank}: the job has the ranks 0 to ${size - 1}.`);
      if (of[rank] !== undefined)
        throw bad(`Rank ${rank} is in cluster ${of[rank]} and in cluster ${cluster}: each rank is in one cluster.`);
      of[rank] = cluster;
    }
  }
  return of.map((cluster, rank) => {
    if (cluster === undefined) throw bad(`Rank ${rank} is in no cluster: each rank is in one cluster.`);
    return cluster;
  });
}

/**
 * The timer of each cluster fits the clusters.
 * @param clusters by rank, if the job has any
 * @throws MayflyError BAD_REQUEST
 */
export function needTimers(
  protocol: ProtocolName,
  { checkpointMs, clusterCheckpointMs: timers }: Pick<JobOptions, 'checkpointMs' | 'clusterCheckpointMs'>,
  clusters: readonly number[] | undefined,
): void {
  if (timers === undefined) return;
  if (!clusters)
    throw bad(
      `The job names the time between checkpoints of each cluster ("clusterCheckpointMs"), and a job of "${protocol}" ` +
        'has no clusters: give one time ("checkpointMs") instead.',
    );
  if (checkpointMs !== undefined)
    throw bad('The job has one time between checkpoints for all clusters, and one for each: leave one of them out.');
  const count = Math.max(...clusters) + 1;
  if (timers.length !== count)
    throw bad(
      `The job names ${timers.length} time${timers.length === 1 ? '' : 's'} between checkpoints and has ${count} ` +
        'clusters: name one for each cluster (null: no timer).',
    );
  const least = manifests[protocol].leastCheckpointMs;
  const short = timers.findIndex((ms) => ms !== null && ms < least);
  if (short >= 0)
    throw bad(
      `Cluster ${short} is to take a checkpoint every ${timers[short]} ms: at least ${least} ms lie between two ` +
        'checkpoints. null is a cluster without a timer.',
    );
}

/**
 * The room of a job, or the room of each of its clusters.
 * @param clusters by rank, if it has any
 * @param exists there is a room with this code
 * @throws MayflyError BAD_REQUEST
 */
export function needRooms(
  protocol: ProtocolName,
  { room, rooms }: Pick<JobSubmission, 'room' | 'rooms'>,
  clusters: readonly number[] | undefined,
  exists: (code: string) => boolean,
): Pick<JobSubmission, 'room' | 'rooms'> {
  if (rooms !== undefined && room !== undefined)
    throw bad('Both "room" and "rooms" are there: name one room for all ranks, or one for each cluster.');
  if (rooms !== undefined && !clusters)
    throw bad(
      `A job of the protocol "${protocol}" runs in one room: name it as "room". Rooms are for each cluster of "hc3i".`,
    );
  const count = clusters ? Math.max(...clusters) + 1 : 0;
  if (rooms !== undefined && rooms.length !== count)
    throw bad(
      `The job names ${rooms.length} room${rooms.length === 1 ? '' : 's'} and has ${count} clusters: name one room ` +
        'for each cluster.',
    );
  for (const code of [room, ...(rooms ?? [])])
    if (code !== undefined && code !== null && !exists(code))
      throw bad(`There is no room with ${rooms ? `the code ${code}` : 'that code'}.`);
  return { ...(room === undefined ? {} : { room }), ...(rooms && { rooms }) };
}
