/**
 * Reduction operations (MPI 4.1 §6.9): the predefined kernels over elements, and the record of a user-defined one,
 * whose function the binding keeps.
 */
import type { ElementArray, ElementType } from './datatypes.ts';

export const BUILTIN_OPS = [
  'MPI_SUM',
  'MPI_PROD',
  'MPI_MIN',
  'MPI_MAX',
  'MPI_LAND',
  'MPI_LOR',
  'MPI_LXOR',
  'MPI_BAND',
  'MPI_BOR',
  'MPI_BXOR',
  'MPI_MINLOC',
  'MPI_MAXLOC',
  'MPI_REPLACE',
  'MPI_NO_OP',
] as const;
export type BuiltinOp = (typeof BUILTIN_OPS)[number];
/** Handle of a predefined operation: its position in {@link BUILTIN_OPS}, from 1. */
export const opHandle = (name: BuiltinOp): number => BUILTIN_OPS.indexOf(name) + 1;

export interface OpRecord {
  name: string;
  commute: boolean;
  /** Absent: user-defined. */
  builtin?: BuiltinOp | undefined;
}

/**
 * A user-defined operation as the binding keeps it: inout[i] = input[i] ∘ inout[i]; elements lie packed. `type`: an
 * element type's id, or DERIVED + handle.
 */
export type OpCallback = (input: Uint8Array, inout: Uint8Array, type: number) => void;

/** Why the operation cannot be applied to elements of this type; undefined when it can (table of §6.9.2). */
export function unsuited(op: BuiltinOp, type: ElementType, count: number): string | undefined {
  const bitwise = op.startsWith('MPI_B');
  const logical = op.startsWith('MPI_L');
  const located = op.endsWith('LOC');
  const no = `${op} is not for ${type.name}`;
  if (op === 'MPI_REPLACE' || op === 'MPI_NO_OP') return `${op} is for one-sided communication only`;
  switch (type.kind) {
    case 'integer':
    case 'bigint':
    case 'float':
      if ((logical || bitwise) && type.kind === 'float') return `${op} is for integers, not for ${type.name}`;
      if (located && count % 2 !== 0)
        return `${op} takes pairs of value and index: the number of elements, ${count}, is odd`;
      return undefined;
    case 'complex':
    case 'quadComplex':
      return op === 'MPI_SUM' || op === 'MPI_PROD' ? undefined : no;
    case 'quad':
      return logical || bitwise || located ? no : undefined;
    case 'pair':
      return located ? undefined : `${no}: a pair of value and index is for MPI_MINLOC and MPI_MAXLOC`;
    case 'logical':
      return logical ? undefined : no;
    case 'bytes':
      return no;
  }
}

type Numbers = number[];
type Big = bigint[];

// One loop per operation and number kind: a shared loop with a function argument is several times slower once it has
// seen more
// than a few operations. The typed arrays stand under a common element type; `Numbers` is for the compiler only.
function numeric(op: BuiltinOp, a: Numbers, b: Numbers): void {
  const n = b.length;
  switch (op) {
    case 'MPI_SUM':
      for (let i = 0; i < n; i++) b[i] = a[i]! + b[i]!;
      return;
    case 'MPI_MIN':
      // Not Math.min: the comparison is one machine instruction. A NaN in either operand stays.
      for (let i = 0; i < n; i++) {
        const x = a[i]!;
        if (x < b[i]! || x !== x) b[i] = x;
      }
      return;
    case 'MPI_MAX':
      for (let i = 0; i < n; i++) {
        const x = a[i]!;
        if (x > b[i]! || x !== x) b[i] = x;
      }
      return;
    case 'MPI_LAND':
      for (let i = 0; i < n; i++) b[i] = a[i] !== 0 && b[i] !== 0 ? 1 : 0;
      return;
    case 'MPI_LOR':
      for (let i = 0; i < n; i++) b[i] = a[i] !== 0 || b[i] !== 0 ? 1 : 0;
      return;
    case 'MPI_LXOR':
      for (let i = 0; i < n; i++) b[i] = (a[i] !== 0) !== (b[i] !== 0) ? 1 : 0;
      return;
    case 'MPI_BAND':
      for (let i = 0; i < n; i++) b[i] = a[i]! & b[i]!;
      return;
    case 'MPI_BOR':
      for (let i = 0; i < n; i++) b[i] = a[i]! | b[i]!;
      return;
    case 'MPI_BXOR':
      for (let i = 0; i < n; i++) b[i] = a[i]! ^ b[i]!;
      return;
    case 'MPI_PROD':
    case 'MPI_MINLOC':
    case 'MPI_MAXLOC':
    case 'MPI_REPLACE':
    case 'MPI_NO_OP':
      return;
  }
}

/** Products: of 32-bit integers they exceed 2^53, so the low bits need Math.imul. */
function product(a: Numbers, b: Numbers, int32: boolean): void {
  if (int32) for (let i = 0; i < b.length; i++) b[i] = Math.imul(a[i]!, b[i]!);
  else for (let i = 0; i < b.length; i++) b[i] = a[i]! * b[i]!;
}

function big(op: BuiltinOp, a: Big, b: Big): void {
  const truth = (x: boolean): bigint => (x ? 1n : 0n);
  for (let i = 0; i < b.length; i++) {
    const x = a[i]!;
    const y = b[i]!;
    switch (op) {
      case 'MPI_SUM':
        b[i] = x + y;
        break;
      case 'MPI_PROD':
        b[i] = x * y;
        break;
      case 'MPI_MIN':
        b[i] = x < y ? x : y;
        break;
      case 'MPI_MAX':
        b[i] = x > y ? x : y;
        break;
      case 'MPI_LAND':
        b[i] = truth(x !== 0n && y !== 0n);
        break;
      case 'MPI_LOR':
        b[i] = truth(x !== 0n || y !== 0n);
        break;
      case 'MPI_LXOR':
        b[i] = truth((x !== 0n) !== (y !== 0n));
        break;
      case 'MPI_BAND':
        b[i] = x & y;
        break;
      case 'MPI_BOR':
        b[i] = x | y;
        break;
      case 'MPI_BXOR':
        b[i] = x ^ y;
        break;
      case 'MPI_MINLOC':
      case 'MPI_MAXLOC':
      case 'MPI_REPLACE':
      case 'MPI_NO_OP':
        break;
    }
  }
}

/** Pairs value, index: the better value wins, of equal ones the lower index (§6.9.4). */
function located(max: boolean, a: Numbers, b: Numbers): void {
  for (let i = 0; i + 1 < b.length; i += 2) {
    const x = a[i]!;
    const y = b[i]!;
    const better = max ? x > y : x < y;
    if (better || (x === y && a[i + 1]! < b[i + 1]!)) {
      b[i] = x;
      b[i + 1] = a[i + 1]!;
    }
  }
}

/** inout[i] = input[i] ∘ inout[i] */
export function applyBuiltin(op: BuiltinOp, type: ElementType, input: ElementArray, inout: ElementArray): void {
  const a = input as unknown as Numbers;
  const b = inout as unknown as Numbers;
  if (op === 'MPI_MINLOC' || op === 'MPI_MAXLOC') located(op === 'MPI_MAXLOC', a, b);
  else if (type.kind === 'bigint') big(op, input as unknown as Big, inout as unknown as Big);
  else if (op === 'MPI_PROD') product(a, b, type.kind === 'integer' && type.bytes === 4);
  else numeric(op, a, b);
}
