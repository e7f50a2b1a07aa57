/**
 * What a datatype is: what its constructor was given (envelope and contents), the layout in memory, and the signature
 * that MPI_Get_elements counts with. Handles of predefined types are their ABI values, derived ones begin at
 * {@link FIRST_DERIVED}.
 */
import type { Layout } from '../layout.ts';

/** The constructor that made a type, by its ABI value (MPI_COMBINER_…). */
export const Combiner = {
  NAMED: 101,
  DUP: 102,
  CONTIGUOUS: 103,
  VECTOR: 104,
  HVECTOR: 105,
  INDEXED: 106,
  HINDEXED: 107,
  INDEXED_BLOCK: 108,
  HINDEXED_BLOCK: 109,
  STRUCT: 110,
  SUBARRAY: 111,
  DARRAY: 112,
  F90_REAL: 113,
  F90_COMPLEX: 114,
  F90_INTEGER: 115,
  RESIZED: 116,
} as const;

/** Basic elements in the order of the type map: bytes of one, or a repeated list. */
export type Signature = number | { elements: number; bytes: number; parts: [repeat: number, of: Signature][] };

/** What the constructor was given, in the order of MPI_Type_get_contents. */
export interface Contents {
  combiner: number;
  ints: number[];
  addresses: number[];
  /** Predefined ones by handle; of derived ones what they were, since the program may free them. */
  types: (number | TypeRecord)[];
}

export interface TypeRecord {
  handle: number;
  name: string;
  committed: boolean;
  layout: Layout;
  alignment: number;
  /** Bounds set by resized, here or below: then they are what the bounds are made of (§5.1.6). */
  explicitLb: boolean;
  explicitUb: boolean;
  signature: Signature;
  contents: Contents;
  /** Id for reductions: the element type of a predefined type and its duplicates, else handle + DERIVED. */
  element: number;
  /** An unnamed predefined type of Fortran (f90-types.ts): the named one that it is. */
  predefined?: number;
  attributes: Map<number, unknown>;
}

export const FIRST_DERIVED = 0x1000;
