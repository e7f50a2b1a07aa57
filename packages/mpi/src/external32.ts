/**
 * The data representation "external32" (MPI 4.1 §14.5.2): big-endian, without gaps, every basic type with the length of
 * the standard's table whatever it has here. Of 32-bit WebAssembly's types these differ in length: MPI_AINT (8 bytes
 * there), MPI_WCHAR (2), and a `long` of 64 bits (4). The pairs keep no gap in either form.
 *
 * Data goes through the packed form: type map order, native bytes. So a conversion is one walk over the basic elements
 * of the type, as its constructors say.
 */
import { elementType } from './datatypes.ts';
import { PREDEFINED_TYPES } from './predefined-types.ts';
import { Combiner, FIRST_DERIVED, type TypeRecord } from './types/index.ts';

/** One word: so many native bytes become so many external ones. Longer ones are sign-extended. */
interface Word {
  native: number;
  external: number;
  signed: boolean;
}
/** A list of repeated parts, or one word. */
interface Shape {
  native: number;
  external: number;
  word: Word | undefined;
  parts: [repeat: number, of: Shape][];
}

const word = (native: number, external = native, signed = true): Shape => ({
  native,
  external,
  word: { native, external, signed },
  parts: [],
});
function list(parts: [number, Shape][]): Shape {
  const kept = parts.filter(([n, s]) => n > 0 && s.native > 0);
  if (kept.length === 1 && kept[0]![0] === 1) return kept[0]![1];
  return {
    native: kept.reduce((a, [n, s]) => a + n * s.native, 0),
    external: kept.reduce((a, [n, s]) => a + n * s.external, 0),
    word: undefined,
    parts: kept,
  };
}

const shapes = new Map<number, Shape>();

function predefined(handle: number): Shape {
  let shape = shapes.get(handle);
  if (shape) return shape;
  const { name, element } = PREDEFINED_TYPES.get(handle)!;
  const e = elementType(element);
  if (name === 'MPI_AINT') shape = word(4, 8);
  else if (name === 'MPI_WCHAR') shape = word(4, 2, false);
  else if (name === 'MPI_LONG') shape = word(e.bytes, 4);
  else if (name === 'MPI_UNSIGNED_LONG') shape = word(e.bytes, 4, false);
  else if (e.kind === 'complex' || e.kind === 'quadComplex' || name === 'MPI_COMPLEX4')
    shape = list([[2, word(e.bytes / 2)]]);
  else if (e.kind === 'pair') {
    const index = e.index!.BYTES_PER_ELEMENT;
    const value = e.bytes - index;
    shape = list([
      [1, word(value, name === 'MPI_LONG_INT' ? 4 : value)],
      [1, word(index)],
    ]);
  } else shape = word(e.bytes);
  shapes.set(handle, shape);
  return shape;
}

const derived = new WeakMap<TypeRecord, Shape>();

/** The basic elements of a type in the order of its type map. */
function shapeOf(t: TypeRecord | number): Shape {
  if (typeof t === 'number') return predefined(t);
  if (t.handle < FIRST_DERIVED) return predefined(t.handle);
  let shape = derived.get(t);
  if (!shape) derived.set(t, (shape = construct(t)));
  return shape;
}

function construct(t: TypeRecord): Shape {
  const { combiner, ints, types } = t.contents;
  if (combiner === Combiner.STRUCT) return list(types.map((of, i) => [ints[1 + i]!, shapeOf(of)]));
  // Every other constructor repeats one type.
  const of = shapeOf(types[0] ?? t.predefined!);
  return list([[of.native === 0 ? 0 : t.layout.size / of.native, of]]);
}

/** [MPI_Pack_external_size] of one element */
export const externalSize = (t: TypeRecord): number => shapeOf(t).external;

function copyWord(w: Word, from: Uint8Array, f: number, to: Uint8Array, t: number, pack: boolean): void {
  const { native, external } = w;
  if (pack) {
    const sign = w.signed && external > native && from[f + native - 1]! >= 0x80 ? 0xff : 0;
    for (let i = 0; i < external; i++) to[t + external - 1 - i] = i < native ? from[f + i]! : sign;
  } else {
    const sign = w.signed && native > external && from[f]! >= 0x80 ? 0xff : 0;
    for (let i = 0; i < native; i++) to[t + i] = i < external ? from[f + external - 1 - i]! : sign;
  }
}

function convert(s: Shape, from: Uint8Array, f: number, to: Uint8Array, t: number, pack: boolean): void {
  if (s.word) return copyWord(s.word, from, f, to, t, pack);
  for (const [repeat, of] of s.parts) {
    const [fStep, tStep] = pack ? [of.native, of.external] : [of.external, of.native];
    for (let i = 0; i < repeat; i++, f += fStep, t += tStep) convert(of, from, f, to, t, pack);
  }
}

/** Packed native elements to external ones. */
export function toExternal(type: TypeRecord, count: number, native: Uint8Array, external: Uint8Array): void {
  convert(list([[count, shapeOf(type)]]), native, 0, external, 0, true);
}
/** The reverse of {@link toExternal}. */
export function fromExternal(type: TypeRecord, count: number, external: Uint8Array, native: Uint8Array): void {
  convert(list([[count, shapeOf(type)]]), external, 0, native, 0, false);
}
