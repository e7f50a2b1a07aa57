/** The recovery under FT-MPI's modes (docs/ft-mpi.md), as a call of its own and as MPI_Comm_dup. */
import { ERR, failures, requests } from '@mayfly/mpi';
import { CHECK_RECOVER } from '../abi/extensions.ts';
import { record, type Waiting } from './define.ts';
import { Predefined } from './handles.ts';
import type { Core } from './core.ts';
import type { CallRecord } from './state.ts';

/**
 * The recovery under FT-MPI's modes, as a call that makes a communicator: it gives MPI_COMM_WORLD. It is no error that
 * there is nothing to recover from.
 */
export const recovering = (
  core: Core,
  call: string,
): { start(at: number): CallRecord; finish(r: CallRecord): number } => ({
  start: (at) => {
    core.heap.check(at, 4, 'newcomm');
    return record(call, failures.startRecovery(core.layer, core.call) ?? 0, [at]);
  },
  finish: (r) => {
    if (r.request !== 0) requests.wait(core.layer, r.request, core.call);
    core.heap.setInt(r.at[0]!, Predefined.COMM_WORLD, 'newcomm');
    return ERR.SUCCESS;
  },
});

/** Phase of an MPI_Comm_dup that is a recovery. */
const RECOVERS = 1;

/**
 * "newcomm = FT_MPI_CHECK_RECOVER; MPI_Comm_dup(oldcomm, &newcomm);" (Chen et al. 2005, section 4.2).
 */
export function dupOrRecover(core: Core, dup: Waiting): Waiting {
  const recover = recovering(core, 'Comm_dup');
  return {
    start: (...args) =>
      failures.ftModesOf(core.layer) && core.heap.int(args[1]!, 'newcomm') === CHECK_RECOVER
        ? { ...recover.start(args[1]!), phase: RECOVERS }
        : dup.start(...args),
    finish: (r) => (r.phase === RECOVERS ? recover : dup).finish(r),
  };
}
