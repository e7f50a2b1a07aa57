/**
 * The last step of a communicator's making: from what a schedule has gathered to a record in the table.
 *
 * Context ids are agreed by the parent's processes: each brings the first context that is free for it, the new communicator takes the
 * maximum, and every process goes on above that. Communicators of disjoint groups (one split) may share a context.
 */
import { NULL, UNDEFINED } from './constants.ts';
import { elements, elementType, UINT32 } from './datatypes.ts';
import type { Layer } from './layer.ts';
import type { CommRecord, NewComm, Topology } from './state.ts';

/** Bytes that each rank brings to a split: i32 colour, i32 key, u32 context. */
export const SPLIT_BYTES = 12;

/** Returns the new handle, or NULL where this process is not in the group. */
export function makeComm(layer: Layer, make: NewComm, gathered: Uint8Array): number {
  const parent = layer.state.comms.rows.get(make.comm)!;
  const view = new DataView(gathered.buffer, gathered.byteOffset, gathered.byteLength);
  if (make.how === 'dup') {
    const handle = addComm(layer, parent, elements(elementType(UINT32), gathered).array[0] as number, parent.group, make.name, parent.topology);
    const made = layer.state.comms.rows.get(handle)!;
    for (const [keyval, value] of parent.attributes) made.attributes.set(keyval, value);
    return handle;
  }
  if (make.how === 'create') return addComm(layer, parent, view.getUint32(0, true), make.group, make.name, make.topology);

  const entries = [];
  let context = 0;
  for (let rank = 0; rank < parent.group.length; rank++) {
    const at = rank * SPLIT_BYTES;
    entries.push({ rank, color: view.getInt32(at, true), key: view.getInt32(at + 4, true) });
    context = Math.max(context, view.getUint32(at + 8, true));
  }
  const mine = entries[parent.rank]!.color;
  const group = entries
    .filter((e) => e.color === mine)
    .sort((a, b) => a.key - b.key || a.rank - b.rank)
    .map((e) => parent.group[e.rank]!);
  return addComm(layer, parent, context, mine === UNDEFINED ? [] : group, make.name, make.topology);
}

function addComm(layer: Layer, parent: CommRecord, context: number, group: number[], name: string, topology: Topology | undefined): number {
  const { state } = layer;
  state.nextContext = context + 2;
  // The handle is taken also where no record is made: handles then agree between processes, which makes messages readable.
  const handle = state.comms.next++;
  const rank = group.indexOf(state.task);
  if (rank < 0) return NULL;
  state.comms.rows.set(handle, {
    handle, name: name || `communicator ${handle}`, context, group: [...group], rank, errhandler: parent.errhandler, topology, collectives: 0, attributes: new Map(),
  });
  return handle;
}
