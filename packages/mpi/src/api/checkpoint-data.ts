/**
 * Data that a program registers for checkpoints: what may be registered, how it lies in a checkpoint, and how it comes
 * back. Typed arrays as bytes, one behind the other; everything else as structured values (codec.ts).
 */
import { pad8 } from '@mayfly/wire';
import { MalformedValue, Unencodable, arrayNamed, encodeValue } from '../codec.ts';
import { typeOfArray, type ElementArray } from '../datatypes.ts';
import { describe } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export type Tag = Mayfly.CheckpointTag;

/** One entry of the index. */
export type Entry = { tag: Tag; array: { type: string; offset: number; bytes: number } } | { tag: Tag; value: unknown };

const PADDING = new Uint8Array(8);

const isKept = (data: unknown): data is Mayfly.Kept =>
  typeof data === 'object' &&
  data !== null &&
  !(data instanceof Map) &&
  typeof (data as Mayfly.Kept).get === 'function' &&
  typeof (data as Mayfly.Kept).set === 'function';

const asBytes = (a: ElementArray): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
export const show = (tag: Tag): string => (typeof tag === 'string' ? `'${tag}'` : String(tag));

/** Gives an object the content of another of the same kind, so that references to it stay valid. */
function assign(into: object, from: unknown): boolean {
  if (Array.isArray(into) && Array.isArray(from)) {
    into.length = 0;
    for (const x of from) into.push(x);
  } else if (into instanceof Map && from instanceof Map) {
    into.clear();
    for (const [k, v] of from) into.set(k, v);
  } else if (into instanceof Set && from instanceof Set) {
    into.clear();
    for (const v of from) into.add(v);
  } else {
    const plain = (o: unknown): boolean =>
      typeof o === 'object' &&
      o !== null &&
      !Array.isArray(o) &&
      !ArrayBuffer.isView(o) &&
      !(o instanceof Map) &&
      !(o instanceof Set);
    if (!plain(into) || !plain(from)) return false;
    for (const key of Object.keys(into))
      if (!Object.hasOwn(from as object, key)) delete (into as Record<string, unknown>)[key];
    Object.assign(into, from);
  }
  return true;
}

export type Data = Mayfly.Buffer | Mayfly.Kept | object;
/** Throws. */
type Bad = (why: string) => never;

export function checkTagOf(tag: unknown, bad: Bad): void {
  if (!(typeof tag === 'string' && tag.length > 0) && !(typeof tag === 'number' && Number.isInteger(tag)))
    bad(`the tag is ${describe(tag)}: it has to be a word or a whole number`);
}

export function checkDataOf(data: unknown, bad: Bad): void {
  if (typeOfArray(data) || isKept(data)) return;
  if (typeof data !== 'object' || data === null)
    bad(`the data is ${describe(data)}: a typed array, an object, or { get, set } can be registered`);
  try {
    encodeValue(data, 'the data');
  } catch (e) {
    if (e instanceof Unencodable) bad(e.message);
    throw e;
  }
}

/** `parts`: the arrays, each from a multiple of eight bytes on. */
export function entriesOf(registered: ReadonlyMap<Tag, Data>): { entries: Entry[]; parts: Uint8Array[] } {
  const parts: Uint8Array[] = [];
  const entries: Entry[] = [];
  let offset = 0;
  for (const [tag, data] of registered) {
    const type = typeOfArray(data);
    if (type) {
      const bytes = asBytes(data as ElementArray);
      parts.push(bytes);
      if (bytes.length % 8) parts.push(PADDING.subarray(0, pad8(bytes.length) - bytes.length));
      entries.push({ tag, array: { type: type.array.name, offset, bytes: bytes.length } });
      offset += pad8(bytes.length);
    } else entries.push({ tag, value: isKept(data) ? data.get() : data });
  }
  return { entries, parts };
}

/** `holds`: what has the data from now on, and can be registered. */
export function putBack(
  e: Entry,
  arrays: Uint8Array,
  target: Data | undefined,
  bad: Bad,
): { result: unknown; holds: Data | undefined } {
  const { tag } = e;
  if ('array' in e) {
    const bytes = arrays.subarray(e.array.offset, e.array.offset + e.array.bytes);
    const wanted = target === undefined ? undefined : typeOfArray(target);
    if (target !== undefined && wanted?.array.name !== e.array.type)
      bad(`tag ${show(tag)} holds a ${e.array.type}, the data to restore is ${describe(target)}`);
    const array = (target ?? newArray(e.array.type, e.array.bytes)) as ElementArray;
    if (array.byteLength !== e.array.bytes)
      bad(`tag ${show(tag)} holds ${e.array.bytes / array.BYTES_PER_ELEMENT} elements, the array has ${array.length}`);
    asBytes(array).set(bytes);
    return { result: array, holds: array };
  }
  if (target !== undefined && isKept(target)) {
    target.set(e.value);
    return { result: e.value, holds: target };
  }
  if (target !== undefined) {
    if (typeOfArray(target) || !assign(target, e.value))
      bad(`tag ${show(tag)} holds ${describe(e.value)}, the data to restore is ${describe(target)}`);
    return { result: target, holds: target };
  }
  return { result: e.value, holds: typeof e.value === 'object' && e.value !== null ? e.value : undefined };
}

function newArray(type: string, bytes: number): ElementArray {
  const make = arrayNamed(type);
  if (!make) throw new MalformedValue(`unknown array type ${type}`);
  return new make(new ArrayBuffer(bytes));
}
