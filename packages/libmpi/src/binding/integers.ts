/** Handles as whole numbers, for Fortran and for tools (MPI 5.0 ABI; MPI 4.1 §19.3.4): a handle is its own number. */
import type { Direct, Implementations } from './define.ts';

const TYPES = ['Comm', 'Errhandler', 'File', 'Group', 'Info', 'Message', 'Op', 'Request', 'Session', 'Type', 'Win'];

export function integers(): Implementations {
  const same: Direct = (handle: number) => handle;
  const out: Implementations = {};
  for (const t of TYPES) for (const way of ['toint', 'fromint', 'c2f', 'f2c']) out[`${t}_${way}`] = same;
  return out;
}
