/**
 * Making and freeing windows (MPI 4.1 §12.2): the processes tell each other the sizes and units of their memory and
 * agree on a context, as for a communicator (contexts.ts). A making is a schedule; its second half writes the record.
 */
import * as collectives from '../collectives/index.ts';
import { NO_BYTES, part, type Buf } from '../buffers.ts';
import { intra } from '../checks.ts';
import { ERRORS_ARE_FATAL } from '../constants.ts';
import { takeContext } from '../contexts.ts';
import { ERR, MPIError, fail } from '../errors.ts';
import { releaseSpace, scratch, type Layer } from '../layer.ts';
import { settle } from '../progress.ts';
import { wait } from '../requests.ts';
import { ended, windowOf } from './origin.ts';
import { commOfWindow, drainEarly } from './target.ts';
import type { Flavor, WindowRecord } from './state.ts';

/** f64 bytes, f64 unit, u32 context. */
const ENTRY = 24;

/**
 * [MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Win_create_dynamic] @returns the handle of a window
 * that is not made yet
 */
export function startMake(layer: Layer, comm: number, flavor: Flavor, base: Buf, unit: number, call: string): number {
  const parent = intra(layer, comm, call);
  if (unit <= 0) fail(ERR.DISP, call, `disp_unit ${unit} is not > 0`, comm);
  if (flavor === 'shared' && parent.group.length > 1)
    fail(
      ERR.RMA_SHARED,
      call,
      `no two of the ${parent.group.length} ranks of ${parent.name} share memory: split it by ` +
        'MPI_COMM_TYPE_SHARED first',
      comm,
    );
  const { windows } = layer.state;
  const n = parent.group.length;
  const all = scratch(layer, ENTRY * n);
  const own = layer.memory.view(part(all, parent.rank * ENTRY, ENTRY));
  const entry = new DataView(own.buffer, own.byteOffset, ENTRY);
  entry.setFloat64(0, base.bytes, true);
  entry.setFloat64(8, unit, true);
  entry.setUint32(16, takeContext(layer, call), true);
  const request = collectives.allgather(layer, comm, undefined, all, call);
  const handle = windows.table.next++;
  const w: WindowRecord = {
    handle,
    comm,
    flavor,
    base,
    sizes: [],
    units: [],
    regions: [],
    attributes: new Map(),
    schedule: { request, result: all },
    access: 'none',
    fences: 0,
    issued: new Array<number>(n).fill(0),
    started: [],
    locks: new Map(),
    unconfirmed: new Map(),
    owed: new Map(),
    failed: undefined,
    came: 0,
    expected: -1,
    exposed: undefined,
    holders: new Map(),
    waiting: [],
    held: new Map(),
  };
  windows.table.rows.set(handle, w);
  windows.making++;
  return handle;
}

export function finishMake(layer: Layer, handle: number, call: string): void {
  const { state } = layer;
  const { windows } = state;
  const w = windows.table.rows.get(handle)!;
  const { request, result } = w.schedule!;
  const { error } = wait(layer, request, call);
  const view = layer.memory.view(result);
  const entries = new DataView(view.buffer, view.byteOffset, view.length);
  releaseSpace(layer, result.space);
  w.schedule = undefined;
  windows.making--;
  if (error) {
    windows.table.rows.delete(handle);
    throw new MPIError(error.errorClass, error.call, error.text, w.comm);
  }
  const parent = state.comms.rows.get(w.comm)!;
  let context = 0;
  for (let at = 0; at < view.length; at += ENTRY) {
    w.sizes.push(entries.getFloat64(at, true));
    w.units.push(entries.getFloat64(at + 8, true));
    context = Math.max(context, entries.getUint32(at + 16, true));
  }
  w.comm = state.comms.next++;
  state.comms.rows.set(w.comm, {
    handle: w.comm,
    name: `window ${handle}`,
    context,
    group: [...parent.group],
    rank: parent.rank,
    errhandler: ERRORS_ARE_FATAL,
    collectives: 0,
    attributes: new Map(),
    window: handle,
  });
  windows.byContext.set(context, handle);
  drainEarly(layer, w);
  settle(layer);
}

/**
 * [MPI_Win_free] "MPI_WIN_FREE … can be called … only after the process has completed its involvement in RMA
 * communications" (§12.2.5); it is a barrier.
 */
export function startFree(layer: Layer, handle: number, call = 'MPI_Win_free'): void {
  const w = windowOf(layer, handle, call);
  const used = w.access === 'fence' ? w.issued.some((n) => n > 0) : w.access !== 'none';
  if (used) fail(ERR.RMA_SYNC, call, `there is ${ended(w)}`, w.comm);
  if (w.exposed) fail(ERR.RMA_SYNC, call, 'there is an exposure epoch of MPI_Win_post', w.comm);
  w.schedule = { request: collectives.barrier(layer, w.comm, call), result: NO_BYTES };
}

export function finishFree(layer: Layer, handle: number, call = 'MPI_Win_free'): void {
  const w = windowOf(layer, handle, call);
  wait(layer, w.schedule!.request, call);
  const { windows, comms } = layer.state;
  windows.byContext.delete(commOfWindow(layer, w).context);
  comms.rows.delete(w.comm);
  windows.table.rows.delete(handle);
  if (w.base.space > 0) releaseSpace(layer, w.base.space);
}

const dynamic = (layer: Layer, handle: number, call: string): WindowRecord => {
  const w = windowOf(layer, handle, call);
  return w.flavor === 'dynamic'
    ? w
    : fail(ERR.RMA_FLAVOR, call, 'the window was not made by MPI_Win_create_dynamic', w.comm);
};

/** [MPI_Win_attach] Regions must not overlap (§12.2.4). */
export function attach(layer: Layer, handle: number, address: number, bytes: number, call = 'MPI_Win_attach'): void {
  const w = dynamic(layer, handle, call);
  if (w.regions.some((r) => address < r.address + r.bytes && r.address < address + bytes))
    fail(
      ERR.RMA_ATTACH,
      call,
      `addresses ${address} to ${address + bytes} overlap with memory that is attached already`,
      w.comm,
    );
  w.regions.push({ address, bytes });
}

/** [MPI_Win_detach] */
export function detach(layer: Layer, handle: number, address: number, call = 'MPI_Win_detach'): void {
  const w = dynamic(layer, handle, call);
  const i = w.regions.findIndex((r) => r.address === address);
  if (i < 0) fail(ERR.RMA_ATTACH, call, `no memory is attached at address ${address}`, w.comm);
  w.regions.splice(i, 1);
}
