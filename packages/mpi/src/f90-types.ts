/**
 * The parameterised types of Fortran (MPI 4.1 §19.1.9): the predefined type that a compiler would choose for
 * selected_int_kind and selected_real_kind. Each is an unnamed predefined type: committed, not to be freed, and the
 * same handle for the same parameters.
 */
import { ERR, fail } from './errors.ts';
import { Combiner, dup, typeOf } from './types/index.ts';
import { PREDEFINED_TYPES } from './predefined-types.ts';
import { UNDEFINED } from './constants.ts';
import type { Layer } from './layer.ts';

/** Digits and exponent ranges, from the shortest on. */
const INTEGERS: readonly (readonly [digits: number, name: string])[] = [
  [2, 'MPI_INTEGER1'],
  [4, 'MPI_INTEGER2'],
  [9, 'MPI_INTEGER4'],
  [18, 'MPI_INTEGER8'],
];
const REALS: readonly (readonly [precision: number, range: number, real: string, complex: string])[] = [
  [6, 37, 'MPI_REAL4', 'MPI_COMPLEX8'],
  [15, 307, 'MPI_REAL8', 'MPI_COMPLEX16'],
  [33, 4931, 'MPI_REAL16', 'MPI_COMPLEX32'],
];
const byName = new Map([...PREDEFINED_TYPES.values()].map((t) => [t.name, t.handle]));

function same(layer: Layer, combiner: number, ints: number[], name: string): number {
  for (const t of layer.state.types.rows.values())
    if (
      t.predefined !== undefined &&
      t.contents.combiner === combiner &&
      t.contents.ints.every((x, i) => x === ints[i])
    )
      return t.handle;
  const handle = dup(layer, byName.get(name)!);
  const t = typeOf(layer, handle, name);
  t.contents = { combiner, ints, addresses: [], types: [] };
  t.predefined = byName.get(name)!;
  return handle;
}

/** [MPI_Type_create_f90_integer] */
export function f90Integer(layer: Layer, r: number): number {
  const found =
    INTEGERS.find(([digits]) => r <= digits) ??
    fail(ERR.ARG, 'MPI_Type_create_f90_integer', `there is no integer of ${r} digits`);
  return same(layer, Combiner.F90_INTEGER, [r], found[1]);
}

/** [MPI_Type_create_f90_real, MPI_Type_create_f90_complex] p or r may be MPI_UNDEFINED, not both */
export function f90Real(layer: Layer, p: number, r: number, complex: boolean): number {
  const call = `MPI_Type_create_f90_${complex ? 'complex' : 'real'}`;
  if (p === UNDEFINED && r === UNDEFINED) fail(ERR.ARG, call, 'p and r are both MPI_UNDEFINED');
  const found =
    REALS.find(([precision, range]) => (p === UNDEFINED || p <= precision) && (r === UNDEFINED || r <= range)) ??
    fail(ERR.ARG, call, `there is no real type with ${p} digits and range ${r}`);
  return same(layer, complex ? Combiner.F90_COMPLEX : Combiner.F90_REAL, [p, r], found[complex ? 3 : 2]);
}
