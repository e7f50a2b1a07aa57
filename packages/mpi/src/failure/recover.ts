/** FT-MPI's recovery as a program asks for it (rules: recovery.ts). */
import { HOLE, WORLD, WorldMode, encodeMember } from '@mayfly/wire';
import { COMM_WORLD } from '../constants.ts';
import { takeContext } from '../contexts.ts';
import { ERR, fail } from '../errors.ts';
import { pollUntil } from '../progress.ts';
import { LOSS, ftModesOf, needsRecovery } from './recovery.ts';
import { noFailures } from './state.ts';
import type { Layer } from '../layer.ts';

/**
 * F4, at the beginning of a call. What has arrived is heard first: a process that only sends would never hear of a
 * loss.
 * @throws MPIError ERR_OTHER
 */
export function needWhole(layer: Layer, call: string): void {
  if (!ftModesOf(layer)) return;
  if (!needsRecovery(layer) && !layer.inCallback) pollUntil(layer, () => false);
  if (needsRecovery(layer)) fail(ERR.OTHER, call, LOSS, COMM_WORLD);
}

/**
 * [MPI_Comm_dup with FT_MPI_CHECK_RECOVER, MPIX_Comm_recover, MPI_Init of a replacement] The request's result is
 * MPI_COMM_WORLD. Undefined: nothing is to be recovered from, as far as this process has heard.
 */
export function startRecovery(layer: Layer, call: string): number | undefined {
  const { state } = layer;
  if (!ftModesOf(layer)) return undefined;
  if (!needsRecovery(layer)) pollUntil(layer, () => false);
  if (!needsRecovery(layer)) return undefined;
  const failures = (state.failures ??= noFailures());
  const offer = takeContext(layer, call);
  const request = state.requests.next++;
  failures.recovering = request;
  state.requests.rows.set(request, {
    kind: 'coll',
    handle: request,
    call,
    comm: COMM_WORLD,
    done: false,
    freed: false,
    error: undefined,
    status: { source: HOLE, tag: HOLE, bytes: 0, cancelled: false, object: false },
    spaces: [],
    parent: 0,
    unpack: undefined,
    context: 0,
    tag: 0,
    rounds: [],
    round: 0,
    // The notice.
    outstanding: 1,
    running: false,
    result: COMM_WORLD,
    agreement: 'recover',
  });
  layer.device.send(WORLD, WorldMode.MEMBER, 0, 0, 0, encodeMember({ op: 'recover', offer }));
  return request;
}
