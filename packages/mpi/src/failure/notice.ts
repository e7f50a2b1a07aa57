/**
 * Notices of the membership service (protocol `app`): arrivals from MEMBERS. They stand in this process's arrival order
 * behind everything that a lost process managed to send, and are the same, in the same order, at all processes.
 *
 *  F1 When a loss is heard of, everything that cannot end any more ends with an error: receives from the lost process,
 *     synchronous sends to it, collectives that still need a message of it. What needs none goes on.
 *  F2 A process that leaves a collective tells those that wait for it there, and they leave it as well (schedule.ts).
 *     So nobody waits for ever, whoever has heard of the loss first. What comes of a collective that is over here is
 *     dropped.
 *  F3 A revoked communicator fails what is pending and what comes later (brokenFor), but agreements.
 */
import { MEMBERS, decodeNotice, type MemberNotice } from '@mayfly/wire';
import { COLLECTIVE } from '../constants.ts';
import { addComm } from '../comm-make.ts';
import { ERR, type ErrorRecord } from '../errors.ts';
import { complete, drop, endCollective, pull, retire, unpost } from '../matching.ts';
import { brokenFor, hopeless, isVoid } from './broken.ts';
import { breakDown, ftModesOf, recovered } from './recovery.ts';
import { noFailures } from './state.ts';
import type { Arrival } from '../device.ts';
import type { Deferred, Layer } from '../layer.ts';
import type { CollectiveRequest, CommRecord, RequestRecord } from '../state.ts';

export const isNotice = (a: Arrival): boolean => a.src === MEMBERS;

/** Its body may still be in the log, and what follows from it may send: later (progress.ts). */
export function arriveNotice(layer: Layer, a: Arrival): void {
  layer.deferred.push({ do: 'notice', arrival: a.number, size: a.size, body: a.body?.slice() });
}

export function settleNotice(layer: Layer, d: Extract<Deferred, { do: 'notice' }>): void {
  let { body } = d;
  if (!body) pull(layer, d.arrival, d.size, (body = new Uint8Array(d.size)));
  const notice = decodeNotice(body);
  layer.state.failures ??= noFailures();
  if (notice.op === 'lost') lose(layer, notice.tasks);
  else if (notice.op === 'revoked') revoke(layer, notice.context);
  else if (notice.op === 'recovered') recovered(layer, notice);
  else agreed(layer, notice);
}

const open = (layer: Layer): RequestRecord[] => [...layer.state.requests.rows.values()].filter((r) => !r.done);

/** F1. */
function lose(layer: Layer, tasks: readonly number[]): void {
  const { lost } = layer.state.failures!;
  for (const t of tasks) if (!lost.includes(t)) lost.push(t);
  if (ftModesOf(layer)) return breakDown(layer, tasks);
  for (const r of open(layer)) {
    // A collective that ended just now has taken its receives with it.
    if (r.done || layer.state.requests.rows.get(r.handle) !== r) continue;
    if (r.kind === 'coll') {
      if (!r.agreement && needsLost(layer, r)) endCollective(layer, r, needed(r.call));
    } else if (r.kind === 'send') {
      if (r.sync !== 0 && tasks.includes(r.peer)) end(layer, r, failedPeer(r.call));
    } else {
      const error = hopeless(layer, r);
      if (error) end(layer, r, error);
    }
  }
  for (const comm of layer.state.comms.rows.values())
    drop(layer, comm.context + COLLECTIVE, (e) => isVoid(layer, comm.context + COLLECTIVE, e.tag));
}

const failedPeer = (call: string): ErrorRecord => ({
  errorClass: ERR.PROC_FAILED,
  call,
  text: 'the receiver has failed, and has not received the message',
});

const needed = (call: string): ErrorRecord => ({
  errorClass: ERR.PROC_FAILED,
  call,
  text: 'a process has failed whose message is needed',
});

/** The collective waits for a message of a lost process, or will. */
function needsLost(layer: Layer, r: CollectiveRequest): boolean {
  const { lost } = layer.state.failures!;
  if (r.rounds.slice(r.round).some((round) => round.some((s) => s.op === 'recv' && lost.includes(s.peer)))) return true;
  return open(layer).some((c) => c.kind === 'recv' && c.parent === r.handle && lost.includes(c.source));
}

function end(layer: Layer, r: RequestRecord, error: ErrorRecord): void {
  if (r.kind === 'recv') unpost(layer, r);
  if (r.kind === 'send') layer.state.syncs.delete(r.sync);
  r.error = error;
  complete(layer, r);
}

/** F3. Again and again, if need be. */
export function revoke(layer: Layer, context: number): void {
  const failures = (layer.state.failures ??= noFailures());
  if (!failures.revoked.includes(context)) failures.revoked.push(context);
  for (const comm of layer.state.comms.rows.values()) if (comm.context === context) revokeComm(layer, comm);
}

function revokeComm(layer: Layer, comm: CommRecord): void {
  comm.revoked = true;
  for (const c of [comm.context, comm.context + COLLECTIVE]) drop(layer, c, () => true);
  for (const r of open(layer)) {
    if (r.done || r.comm !== comm.handle || r.parent) continue;
    const error = brokenFor(layer, comm, r.call)!;
    if (r.kind !== 'coll') {
      if (r.kind === 'recv' || r.sync !== 0) end(layer, r, error);
    } else if (!r.agreement) endCollective(layer, r, error);
  }
}

/** All members get the same answer. */
function agreed(layer: Layer, n: Extract<MemberNotice, { op: 'agreed' }>): void {
  const { state } = layer;
  const key = `${n.context}/${n.number}`;
  const r = state.requests.rows.get(state.failures!.agreements.get(key) ?? 0);
  state.failures!.agreements.delete(key);
  if (r?.kind !== 'coll' || !r.agreement) return;
  r.agreed = { flag: n.flag, lost: [...n.lost] };
  const comm = state.comms.rows.get(r.comm);
  if (r.agreement === 'shrink' && comm) r.result = shrunk(layer, comm, n);
  else if (n.unacknowledged)
    r.error = {
      errorClass: ERR.PROC_FAILED,
      call: r.call,
      text: 'a process has failed that not all have acknowledged',
    };
  complete(layer, r);
  if (r.freed) retire(layer, r);
}

/** U5: ranks keep their order. */
function shrunk(layer: Layer, comm: CommRecord, n: Extract<MemberNotice, { op: 'agreed' }>): number {
  const left = (tasks: readonly number[]): number[] => tasks.filter((t) => !n.lost.includes(t));
  return addComm(layer, comm.errhandler, {
    context: n.offer,
    group: left(comm.group),
    remote: comm.remote && left(comm.remote),
    name: `${comm.name}, shrunk`,
  });
}
