/**
 * The predefined datatypes of C (and the Fortran ones of known size), by the value that the standard ABI gives them.
 * Sizes are those of 32-bit WebAssembly: long and pointers have 4 bytes, long double 16.
 */
import { elementType } from './datatypes.ts';
import { contiguousLayout, type Layout, type Narrow } from './layout.ts';

export interface PredefinedType {
  readonly handle: number;
  readonly name: string;
  /** Id of the element type that reductions compute with. */
  readonly element: number;
  readonly layout: Layout;
  readonly alignment: number;
}

/** name, ABI value, element id, alignment (absent: its length). */
const LIST = `
AINT 0x201 5, COUNT 0x202 9, OFFSET 0x203 9, PACKED 0x207 28 1, SHORT 0x208 3, INT 0x209 5, LONG 0x20a 5,
LONG_LONG 0x20b 9, UNSIGNED_SHORT 0x20c 4,
UNSIGNED 0x20d 6, UNSIGNED_LONG 0x20e 6, UNSIGNED_LONG_LONG 0x20f 10, FLOAT 0x210 7, C_FLOAT_COMPLEX 0x212 12 4,
CXX_FLOAT_COMPLEX 0x213 12 4,
DOUBLE 0x214 8, C_DOUBLE_COMPLEX 0x216 13 8, CXX_DOUBLE_COMPLEX 0x217 13 8, LOGICAL 0x218 24, INTEGER 0x219 5,
REAL 0x21a 7, COMPLEX 0x21b 12 4,
DOUBLE_PRECISION 0x21c 8, DOUBLE_COMPLEX 0x21d 13 8, CHARACTER 0x21e 32 1, LONG_DOUBLE 0x220 14,
C_LONG_DOUBLE_COMPLEX 0x224 15 16,
CXX_LONG_DOUBLE_COMPLEX 0x225 15 16, FLOAT_INT 0x228 16 4, DOUBLE_INT 0x229 17 8, LONG_INT 0x22a 18 4,
2INT 0x22b 18 4, SHORT_INT 0x22c 19 4,
LONG_DOUBLE_INT 0x22d 20 16, 2REAL 0x230 21 4, 2DOUBLE_PRECISION 0x231 22 8, 2INTEGER 0x232 18 4, C_BOOL 0x238 23,
CXX_BOOL 0x239 23, WCHAR 0x23c 5,
INT8_T 0x240 1, UINT8_T 0x241 2, CHAR 0x243 1, SIGNED_CHAR 0x244 1, UNSIGNED_CHAR 0x245 2, BYTE 0x247 0,
INT16_T 0x248 3, UINT16_T 0x249 4,
INT32_T 0x250 5, UINT32_T 0x251 6, INT64_T 0x258 9, UINT64_T 0x259 10, LOGICAL1 0x2c0 23, INTEGER1 0x2c1 1,
LOGICAL2 0x2c8 25, INTEGER2 0x2c9 3,
REAL2 0x2ca 29, LOGICAL4 0x2d0 24, INTEGER4 0x2d1 5, REAL4 0x2d2 7, COMPLEX4 0x2d3 30 2, LOGICAL8 0x2d8 26,
INTEGER8 0x2d9 9, REAL8 0x2da 8,
COMPLEX8 0x2db 12 4, LOGICAL16 0x2e0 27, INTEGER16 0x2e1 31, REAL16 0x2e2 14, COMPLEX16 0x2e3 13 8,
COMPLEX32 0x2eb 15 16,
LONG64 0x2f0 9, UNSIGNED_LONG64 0x2f1 10, LONG64_INT 0x2f2 33 8,
SIZE_AS_INT64 0x2f3 9 4, SIZE_AS_UINT64 0x2f4 10 4, PTRDIFF_AS_INT64 0x2f5 9 4, PTRDIFF_AS_UINT64 0x2f6 10 4`;

/**
 * "MPI_C_COMPLEX … MPI_C_FLOAT_COMPLEX (as synonym)" (§3.2.2): the name is that of the first. The three of a `long` of
 * 64 bits are what a program that is compiled with -mlong64 gets by the standard's names; the ABI has no values for
 * them, and theirs lie among its predefined datatypes, where it has none.
 */
const NAMES: Readonly<Record<string, string>> = {
  C_FLOAT_COMPLEX: 'C_COMPLEX',
  LONG64: 'LONG',
  UNSIGNED_LONG64: 'UNSIGNED_LONG',
  LONG64_INT: 'LONG_INT',
  SIZE_AS_INT64: 'INT64_T',
  SIZE_AS_UINT64: 'UINT64_T',
  PTRDIFF_AS_INT64: 'INT64_T',
  PTRDIFF_AS_UINT64: 'UINT64_T',
};

/** What mpicc puts in for a 64-bit integer type where the buffer is one of size_t or ptrdiff_t, which have 32 bits. */
const NARROW: Readonly<Record<string, Narrow>> = {
  SIZE_AS_INT64: 'difference',
  SIZE_AS_UINT64: 'size',
  PTRDIFF_AS_INT64: 'signed',
  PTRDIFF_AS_UINT64: 'signed',
};

/**
 * Pairs whose value and index do not touch, or which have bytes behind them: value bytes, offset of the index, extent.
 */
const GAPS: Readonly<Record<string, readonly [value: number, index: number, extent: number]>> = {
  DOUBLE_INT: [8, 8, 16],
  SHORT_INT: [2, 4, 8],
  LONG_DOUBLE_INT: [16, 16, 32],
  LONG64_INT: [8, 8, 16],
};

function layoutOf(name: string, bytes: number): Layout {
  const narrow = NARROW[name];
  if (narrow) return { size: bytes, lb: 0, extent: bytes / 2, segments: [0, bytes / 2, 1, 0], narrow };
  const gap = GAPS[name];
  if (!gap) return contiguousLayout(bytes);
  const [value, index, extent] = gap;
  const segments = value === index ? [0, value + 4, 1, 0] : [0, value, 1, 0, index, 4, 1, 0];
  return { size: value + 4, lb: 0, extent, segments };
}

export const PREDEFINED_TYPES: ReadonlyMap<number, PredefinedType> = new Map(
  LIST.trim()
    .split(/,\s*/)
    .map((line) => {
      const [name, handle, element, alignment] = line.split(' ');
      const { bytes } = elementType(Number(element));
      const t: PredefinedType = {
        handle: Number(handle),
        name: `MPI_${NAMES[name!] ?? name!}`,
        element: Number(element),
        layout: layoutOf(name!, bytes),
        alignment: Number(alignment ?? bytes),
      };
      return [t.handle, t] as const;
    }),
);
