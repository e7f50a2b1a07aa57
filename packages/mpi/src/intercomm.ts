/**
 * Intercommunicators (MPI 4.1 §7.6): two disjoint groups, each sees the other as `remote`. Here is how they come to be
 * of two groups whose leaders can reach each other, and how they become one group; dup, create and split of them stand
 * in comm.ts.
 */
import { bcastBinomial } from './collectives/bcast-binomial.ts';
import { allreduceRecursiveDoubling } from './collectives/allreduce-recursive-doubling.ts';
import { part } from './buffers.ts';
import { cardBytes, refusal, writeCard } from './cards.ts';
import { checkSendTag, intra } from './checks.ts';
import { groupAlone } from './comm.ts';
import { exchange } from './collectives/inter.ts';
import { MERGE_BYTES } from './comm-make.ts';
import { COLLECTIVE } from './constants.ts';
import { agreeOnContext, takeContext } from './contexts.ts';
import { UINT32 } from './datatypes.ts';
import { ERR, fail, MPIError } from './errors.ts';
import { opHandle } from './ops.ts';
import { Schedule, start } from './schedule.ts';
import { commOf, type Layer } from './layer.ts';
import type { CommRecord, Via } from './state.ts';

/** @throws MPIError ERR_COMM for an intracommunicator */
export function inter(layer: Layer, handle: number, call: string): CommRecord & { remote: number[] } {
  const comm = commOf(layer, handle, call);
  if (!comm.remote) fail(ERR.COMM, call, `${comm.name} is an intracommunicator`, handle);
  return comm as CommRecord & { remote: number[] };
}

/**
 * How a leader reaches the other one: `undefined` at all others. An error at a leader becomes its whole group's: nobody
 * is left waiting for it.
 */
export type Reach = { task: number; via: Via } | { wrong: MPIError } | undefined;

/**
 * Tags of leaders that meet on their peer communicator, apart from its collectives' (schedules count theirs from 0).
 */
const leaderTag = (tag: number): number => 0x8000_0000 | (tag & 0x3fff_ffff);

/** The schedule's group and another one, whose leader the own one reaches, become an intercommunicator. */
export function connect(s: Schedule, leader: number, reach: Reach, parent: number): number {
  const { layer } = s;
  const bytes = cardBytes(layer);
  const cards = s.scratch(2 * bytes);
  const own = part(cards, 0, bytes);
  const their = part(cards, bytes, bytes);
  writeCard(s.layer, own, s.comm.group);
  agreeOnContext(s, part(own, 0, 4));
  let wrong: { errorClass: number; text: string } | undefined;
  if (reach && 'wrong' in reach) {
    wrong = { errorClass: reach.wrong.errorClass, text: reach.wrong.text };
    layer.memory.view(their).set(refusal(layer, wrong.errorClass));
  } else if (reach) s.sendTask(reach.task, own, reach.via).recvTask(reach.task, their, reach.via).next();
  bcastBinomial(s, their, leader);
  s.next().makeComm({ how: 'inter', comm: parent, group: [...s.comm.group], name: '', wrong }, cards);
  return start(s);
}

/** What a check at a leader answers or throws. */
export function reaching(f: () => Reach): Reach {
  try {
    return f();
  } catch (e) {
    if (e instanceof MPIError) return { wrong: e };
    throw e;
  }
}

/** [MPI_Intercomm_create] The peer communicator, the remote leader and the tag count at the local leader only. */
export function create(
  layer: Layer,
  local: number,
  localLeader: number,
  peer: () => number,
  remoteLeader: number,
  tag: number,
  call = 'MPI_Intercomm_create',
): number {
  const comm = intra(layer, local, call);
  if (!Number.isInteger(localLeader) || localLeader < 0 || localLeader >= comm.group.length)
    fail(
      ERR.RANK,
      call,
      `local leader ${String(localLeader)} is not a rank: ${comm.name} has ranks 0 to ${comm.group.length - 1}`,
      local,
    );
  const s = new Schedule(layer, comm, call);
  const reach =
    comm.rank !== localLeader
      ? undefined
      : reaching(() => {
          const p = commOf(layer, peer(), call);
          const tasks = p.remote ?? p.group;
          if (!Number.isInteger(remoteLeader) || remoteLeader < 0 || remoteLeader >= tasks.length)
            fail(
              ERR.RANK,
              call,
              `remote leader ${String(remoteLeader)} is not a rank: ${p.name} has ranks 0 to ${tasks.length - 1}`,
              local,
            );
          checkSendTag(p, tag, call);
          const task = tasks[remoteLeader]!;
          if (comm.group.includes(task))
            fail(ERR.RANK, call, `remote leader ${remoteLeader} is in the local group`, local);
          return { task, via: { context: p.context + COLLECTIVE, tag: leaderTag(tag) } };
        });
  return connect(s, localLeader, reach, local);
}

/** [MPI_Intercomm_create_from_groups] The remote group and its leader count at the local leader only. */
export function createFromGroups(
  layer: Layer,
  local: readonly number[],
  localLeader: number,
  remote: () => readonly number[],
  remoteLeader: number,
  stringTag: string,
): number {
  const call = 'MPI_Intercomm_create_from_groups';
  const comm = groupAlone(layer, local, stringTag, call);
  if (!Number.isInteger(localLeader) || localLeader < 0 || localLeader >= local.length)
    fail(
      ERR.RANK,
      call,
      `local leader ${localLeader} is not a rank: the local group has ranks 0 to ${local.length - 1}`,
    );
  const s = new Schedule(layer, comm, call);
  const reach =
    comm.rank !== localLeader
      ? undefined
      : reaching(() => {
          const tasks = remote();
          if (!Number.isInteger(remoteLeader) || remoteLeader < 0 || remoteLeader >= tasks.length)
            fail(
              ERR.RANK,
              call,
              `remote leader ${String(remoteLeader)} is not a rank: the remote group has ranks 0 to ` +
                `${tasks.length - 1}`,
            );
          const task = tasks[remoteLeader]!;
          if (local.includes(task)) fail(ERR.RANK, call, `remote leader ${remoteLeader} is in the local group`);
          return { task, via: { context: comm.context + COLLECTIVE, tag: leaderTag(comm.collectives) } };
        });
  return connect(s, localLeader, reach, 0);
}

/** [MPI_Intercomm_merge] @param high this group's ranks come after the other's */
export function merge(layer: Layer, handle: number, high: boolean, call = 'MPI_Intercomm_merge'): number {
  const comm = inter(layer, handle, call);
  const s = new Schedule(layer, comm, call);
  const both = s.scratch(2 * MERGE_BYTES);
  const own = part(both, 0, MERGE_BYTES);
  const bytes = layer.memory.view(own);
  const words = new DataView(bytes.buffer, bytes.byteOffset);
  words.setUint32(0, takeContext(layer, call), true);
  words.setUint32(high ? 4 : 8, 1, true);
  allreduceRecursiveDoubling(s, own, { op: opHandle('MPI_MAX'), type: UINT32, commute: true, unit: 4 });
  s.next();
  exchange(s, own, part(both, MERGE_BYTES, MERGE_BYTES));
  s.makeComm({ how: 'merge', comm: handle }, both);
  return start(s);
}
