/**
 * Slots: what a request handle names. A slot names a request of the layer. Slot {@link COMPLETE_SLOT} is the send that
 * is complete already: it belongs to no request and to all sends. Slots are reused, the lowest free one first.
 */
import { ERR } from '@mayfly/mpi';
import { Kind, Null, handleOf, numberOf } from './handles.ts';
import type { Core } from './core.ts';
import type { Slot } from './state.ts';

/** What a starter answers when the operation was complete at once. */
export const COMPLETE = 0;
const COMPLETE_SLOT = 0;
export const COMPLETE_HANDLE = handleOf(Kind.REQUEST, COMPLETE_SLOT);

/**
 * A handle for a request of the layer.
 *
 * @param newComm communicators that are made without blocking: where the handle goes, and what the new one gets besides
 */
export function newSlot(
  core: Core,
  request: number,
  newComm = 0,
  parent = 0,
  gets?: Slot['gets'],
  /** MPIX_Comm_iagree: where the flag goes. */
  flag = 0,
): number {
  if (request === COMPLETE && newComm === 0) return COMPLETE_HANDLE;
  return takeSlot(core, { request, newComm, parent, persistent: undefined, general: undefined, gets, flag });
}

export function takeSlot(core: Core, slot: Slot): number {
  const { slots, freeSlots } = core.state;
  const n = freeSlots.pop() ?? slots.length;
  slots[n] = slot;
  return handleOf(Kind.REQUEST, n);
}

export function dropSlot(core: Core, handle: number): void {
  const n = numberOf(Kind.REQUEST, handle);
  core.state.slots[n] = undefined;
  core.state.freeSlots.push(n);
}

/** The slot of a handle; undefined for MPI_REQUEST_NULL and for the complete send. @throws MPIError ERR_REQUEST */
export function slotOf(core: Core, handle: number): Slot | undefined {
  if (handle === Null.REQUEST || handle === COMPLETE_HANDLE) return undefined;
  return (
    core.state.slots[numberOf(Kind.REQUEST, handle)] ??
    core.fail(ERR.REQUEST, `${handle} is not a request, or it is complete or was freed`)
  );
}
