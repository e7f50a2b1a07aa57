/** Failures of processes: ULFM's calls and FT-MPI's recovery (packages/mpi/src/failure). */
import { ERR, failures, requests } from '@mayfly/mpi';
import { newGroup, madeComm } from './communicators.ts';
import { record, type Implementations } from './define.ts';
import { Null } from './handles.ts';
import { recovering } from './recovering.ts';
import { newSlot } from './slots.ts';
import type { Core } from './core.ts';
import type { CallRecord } from './state.ts';

/** By their whole names. */
export function failureCalls(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const outcomeOf = (r: CallRecord): requests.Outcome => requests.wait(layer, r.request, r.call);
  return {
    MPIX_Comm_revoke: (comm: number) => success(() => failures.revoke(layer, core.commNumber(comm), core.call)),
    MPIX_Comm_is_revoked: (comm: number, flag: number) =>
      success(() => {
        heap.check(flag, 4, 'flag');
        heap.setInt(flag, failures.isRevoked(layer, core.commNumber(comm), core.call) ? 1 : 0, 'flag');
      }),
    MPIX_Comm_shrink: {
      start: (comm, at) => {
        heap.check(at!, 4, 'newcomm');
        heap.setInt(at!, Null.COMM, 'newcomm');
        return record('MPIX_Comm_shrink', failures.shrink(layer, core.commNumber(comm!), core.call), [at!]);
      },
      finish: (r) => {
        const outcome = outcomeOf(r);
        if (outcome.error) throw core.failed(outcome.error, outcome.comm);
        madeComm(core, outcome.result, r.at[0]!);
        return ERR.SUCCESS;
      },
    },
    MPIX_Comm_ishrink: (comm: number, at: number, request: number) =>
      success(() => {
        heap.check(at, 4, 'newcomm');
        heap.check(request, 4, 'request');
        heap.setInt(at, Null.COMM, 'newcomm');
        const started = failures.shrink(layer, core.commNumber(comm), core.call);
        heap.setInt(request, newSlot(core, started, at), 'request');
      }),
    MPIX_Comm_agree: {
      start: (comm, at) => {
        const flag = heap.int(at!, 'flag');
        return record('MPIX_Comm_agree', failures.agree(layer, core.commNumber(comm!), flag, core.call), [at!]);
      },
      finish: (r) => {
        const { agreed, error, comm } = outcomeOf(r);
        if (agreed) heap.setInt(r.at[0]!, agreed.flag, 'flag');
        // "… after the value is agreed": the flag is there with the error, too.
        if (error) throw core.failed(error, comm);
        return ERR.SUCCESS;
      },
    },
    MPIX_Comm_iagree: (comm: number, at: number, request: number) =>
      success(() => {
        const flag = heap.int(at, 'flag');
        heap.check(request, 4, 'request');
        const started = failures.agree(layer, core.commNumber(comm), flag, core.call);
        heap.setInt(request, newSlot(core, started, 0, 0, undefined, at), 'request');
      }),
    MPIX_Comm_failure_ack: (comm: number) =>
      success(() => failures.failureAck(layer, core.commNumber(comm), core.call)),
    MPIX_Comm_failure_get_acked: (comm: number, at: number) =>
      success(() => newGroup(core, at, failures.getAcked(layer, core.commNumber(comm), core.call))),
    MPIX_Comm_get_failed: (comm: number, at: number) =>
      success(() => newGroup(core, at, failures.getFailed(layer, core.commNumber(comm), core.call))),
    MPIX_Comm_recover: recovering(core, 'MPIX_Comm_recover'),
    MPIX_Comm_ack_failed: (comm: number, most: number, at: number) =>
      success(() => {
        heap.check(at, 4, 'num_acked');
        heap.setInt(at, failures.ackFailed(layer, core.commNumber(comm), most, core.call), 'num_acked');
      }),
  };
}
