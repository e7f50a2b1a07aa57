/**
 * Derived datatypes (MPI 4.1 chapter 5) as a table of plain records. datatype-record.ts defines the record.
 * datatype-table.ts finds, commits and frees datatypes, constructors.ts and arrays.ts make them, and signature.ts
 * counts their elements.
 */
export { darray, subarray, type Darray } from './arrays.ts';
export { contiguous, dup, indexed, resized, struct, vector } from './constructors.ts';
export { Combiner, FIRST_DERIVED, type Contents, type Signature, type TypeRecord } from './datatype-record.ts';
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
} from './datatype-table.ts';
export { uniform } from './uniform.ts';
