/**
 * FT-MPI's modes at one process (Fagg, Dongarra 2000; Chen et al. 2005, section 2.2; docs/ft-mpi.md): what it makes of
 * the news of a loss, and of the news that the job has recovered.
 *
 *  F4 From the news of a loss to the recovery every call fails with MPI_ERR_OTHER, but those that are needed to get
 *     there. What was under way then is void at once where nobody will ever wait for it: nothing writes into a buffer
 *     of a call that has returned.
 *  F5 Under RESET all messages and requests of before are void. Under CONT requests between processes that are left go
 *     on, and so do their messages, on MPI_COMM_WORLD and MPI_COMM_SELF.
 *  F6 Collectives of before are void under both: MPI_COMM_WORLD has another context since.
 *  F7 Communicators, windows and files of before, but MPI_COMM_WORLD and MPI_COMM_SELF, are invalid.
 */
import { HOLE, type FtModes, type MemberNotice } from '@mayfly/wire';
import { COLLECTIVE, COMM_SELF, COMM_WORLD } from '../constants.ts';
import { takeContext } from '../contexts.ts';
import { ERR, type ErrorRecord } from '../errors.ts';
import { releaseSpace, type Layer } from '../layer.ts';
import { complete, drop, unpost } from '../matching.ts';
import { noWindows } from '../windows/state.ts';
import type { CommRecord, RequestRecord } from '../state.ts';

/** The job's modes; undefined: none, or its losses end it. */
export function ftModesOf(layer: Layer): FtModes | undefined {
  const { ft } = layer.device;
  return ft?.communicators === 'abort' ? undefined : ft;
}

/** F4. */
export const needsRecovery = (layer: Layer): boolean => layer.state.failures?.broken === true;

export const LOSS =
  'a rank of MPI_COMM_WORLD is lost, and the program has to recover first (MPI_Comm_dup with FT_MPI_CHECK_RECOVER, ' +
  'or MPIX_Comm_recover)';
const broken = (call: string): ErrorRecord => ({ errorClass: ERR.OTHER, call, text: LOSS });

/** Calls whose requests nobody holds when the call has failed. */
const blocks = (r: RequestRecord): boolean => r.kind === 'coll' || !/^MPI_I|_init$|^MPI_Start/.test(r.call);

/** F4. @param tasks that are lost */
export function breakDown(layer: Layer, tasks: readonly number[]): void {
  const { state } = layer;
  const failures = state.failures!;
  failures.broken = true;
  const reset = ftModesOf(layer)!.messages === 'reset';
  for (const r of [...state.requests.rows.values()]) {
    if (r.done || r.parent || r.handle === failures.recovering || isGeneral(r)) continue;
    const peer = r.kind === 'recv' ? r.source : r.kind === 'send' ? r.peer : HOLE;
    if (reset || blocks(r) || tasks.includes(peer)) voidRequest(layer, r);
  }
}

/** The program completes it (MPI_Grequest_start): no message is waited for. */
const isGeneral = (r: RequestRecord): boolean => r.call === 'MPI_Grequest_start';

/** Nothing comes of it any more; who holds it learns that when it looks. */
function voidRequest(layer: Layer, r: RequestRecord): void {
  const { requests, posted } = layer.state;
  if (r.kind === 'recv') unpost(layer, r);
  else if (r.kind === 'send') layer.state.syncs.delete(r.sync);
  else {
    for (const child of [...requests.rows.values()]) {
      if (child.parent !== r.handle) continue;
      if (child.kind === 'recv' && !child.done && posted.get(child.context)?.includes(child.handle))
        unpost(layer, child);
      requests.rows.delete(child.handle);
    }
    r.rounds = [];
    r.outstanding = 0;
  }
  r.error = broken(r.call);
  r.unpack = undefined;
  for (const space of r.spaces) releaseSpace(layer, space);
  r.spaces = [];
  complete(layer, r);
}

export function recovered(layer: Layer, n: Extract<MemberNotice, { op: 'recovered' }>): void {
  const { state } = layer;
  const { comms, requests } = state;
  const failures = state.failures!;
  const reset = ftModesOf(layer)?.messages !== 'cont';
  for (const comm of [...comms.rows.values()]) if (comm.handle > COMM_SELF && !comm.stale) invalidate(layer, comm);
  state.windows = noWindows();
  state.files.files.rows.clear();
  const world = comms.rows.get(COMM_WORLD)!;
  if (reset) {
    leaveContext(layer, world.context);
    const self = comms.rows.get(COMM_SELF)!;
    leaveContext(layer, self.context);
    self.context = takeContext(layer, 'MPI_Comm_dup');
    for (const m of state.messages.rows.keys()) state.messages.rows.delete(m);
  } else moveContext(layer, world.context, n.context);
  world.context = n.context;
  world.group = [...n.ranks];
  world.rank = n.ranks.indexOf(state.task);
  world.collectives = 0;
  delete world.revoked;
  delete world.acknowledged;
  delete world.agreements;
  delete world.holes;
  if (n.ranks.includes(HOLE)) world.holes = true;
  state.size = n.ranks.length;
  for (const t of n.ranks) state.known = Math.max(state.known, t + 1);
  failures.epoch = n.epoch;
  failures.failedRanks = [...n.failed];
  const request = requests.rows.get(failures.recovering ?? 0);
  delete failures.broken;
  delete failures.recovering;
  if (request) complete(layer, request);
}

/** F7. */
function invalidate(layer: Layer, comm: CommRecord): void {
  comm.stale = true;
  for (const r of [...layer.state.requests.rows.values()])
    if (r.comm === comm.handle && !r.done && !r.parent && !isGeneral(r)) voidRequest(layer, r);
  leaveContext(layer, comm.context);
}

/** What comes in it is void from now on. */
function leaveContext(layer: Layer, context: number): void {
  layer.state.failures!.revoked.push(context);
  for (const c of [context, context + COLLECTIVE]) drop(layer, c, () => true);
}

/** F5, F6 under CONT: what was sent between processes that are left is received in the new context. */
function moveContext(layer: Layer, from: number, to: number): void {
  const { state } = layer;
  const failures = state.failures!;
  const moved = (failures.moved ??= new Map<number, number>());
  for (const [old, now] of moved) if (now === from) moved.set(old, to);
  moved.set(from, to);
  drop(layer, from + COLLECTIVE, () => true);
  drop(layer, from, (e) => failures.lost.includes(e.src));
  const queue = state.unexpected.get(from);
  state.unexpected.delete(from);
  if (queue) state.unexpected.set(to, queue);
  const posted = state.posted.get(from);
  state.posted.delete(from);
  if (!posted) return;
  state.posted.set(to, posted);
  for (const handle of posted) {
    const r = state.requests.rows.get(handle);
    if (r?.kind === 'recv') r.context = to;
  }
}
