/** From a window's handle to its record, and the predefined attributes of windows (MPI 4.1 §12.2.6). */
import { windows } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { Kind, numberOf } from './handles.ts';
import type { Core } from './core.ts';

/** The layer's window. @throws MPIError ERR_WIN */
export const windowOf = (core: Core, handle: number): windows.WindowRecord =>
  windows.windowOf(core.layer, Math.max(numberOf(Kind.WIN, handle), 0), core.call);

const FLAVORS: Readonly<Record<windows.Flavor, number>> = {
  create: constant('MPI_WIN_FLAVOR_CREATE'),
  allocate: constant('MPI_WIN_FLAVOR_ALLOCATE'),
  dynamic: constant('MPI_WIN_FLAVOR_DYNAMIC'),
  shared: constant('MPI_WIN_FLAVOR_SHARED'),
};
const [SIZE, DISP_UNIT, CREATE_FLAVOR, MODEL] = ['SIZE', 'DISP_UNIT', 'CREATE_FLAVOR', 'MODEL'].map((n) =>
  constant(`MPI_WIN_${n}`),
);
const BASE = constant('MPI_WIN_BASE');

/**
 * The value of a predefined attribute: the base itself, of others the address of a whole number in the program's
 * memory.
 */
export function predefinedOfWindow(core: Core, w: windows.WindowRecord, key: number): number | undefined {
  if (key === BASE) return w.base.offset;
  const cells = [SIZE, DISP_UNIT, CREATE_FLAVOR, MODEL].indexOf(key);
  if (cells < 0) return undefined;
  const own = core.state.windows.get(w.handle)!;
  if (own.cells === 0) own.cells = core.program.malloc(16);
  const { rank } = windows.commOfWindow(core.layer, w);
  core.heap.setInts(
    own.cells,
    [w.sizes[rank]!, w.units[rank]!, FLAVORS[w.flavor], constant('MPI_WIN_UNIFIED')],
    'attribute',
  );
  return own.cells + 4 * cells;
}

export const PREDEFINED_OF_WINDOWS: readonly number[] = [BASE, SIZE!, DISP_UNIT!, CREATE_FLAVOR!, MODEL!];
