/**
 * Derived datatypes (MPI 4.1 chapter 5) as a table of plain records. record.ts says what a datatype is, table.ts finds,
 * commits and frees it, make.ts and arrays.ts have its constructors, signature.ts counts its elements.
 */
export { darray, subarray, type Darray } from './arrays.ts';
export { contiguous, dup, indexed, resized, struct, vector } from './make.ts';
export { Combiner, FIRST_DERIVED, type Contents, type Signature, type TypeRecord } from './record.ts';
export { bytesOf, elementsIn, unitOf } from './signature.ts';
export {
  BYTE_TYPE,
  DATATYPE_NULL,
  LB_MARKER,
  UB_MARKER,
  commit,
  committed,
  free,
  trueExtent,
  typeOf,
} from './table.ts';
