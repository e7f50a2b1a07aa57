/**
 * Structured values as bytes: the body of sendObject and its kin, registered objects of a checkpoint, and the layer's
 * own state in an image. A tag byte, then the content; lengths are u32, little endian. Deterministic: the same value
 * gives the same bytes.
 *
 * Format number {@link CODEC_FORMAT}; tags are never reused.
 */
export const CODEC_FORMAT = 1;

const TAG = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  int32: 4,
  float64: 5,
  bigint: 6,
  string: 7,
  array: 8,
  object: 9,
  map: 10,
  set: 11,
  buffer: 12,
  typed: 13,
  hole: 14,
} as const;

const ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const;
const ARRAY_INDEX = new Map<string, number>(ARRAYS.map((a, i) => [a.name, i]));

/** The typed array of this name; undefined: a value cannot hold one. */
export function arrayNamed(name: string): (typeof ARRAYS)[number] | undefined {
  const index = ARRAY_INDEX.get(name);
  return index === undefined ? undefined : ARRAYS[index];
}

/** Deeper nesting is taken for a cycle. */
const MAX_DEPTH = 200;

const text = new TextEncoder();
const read = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value cannot be sent or stored; the message says where in it, and why. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable';
}
/** Bytes that this codec did not write. */
export class MalformedValue extends Error {
  override readonly name = 'MalformedValue';
}

class Writer {
  bytes = new Uint8Array(256);
  view = new DataView(this.bytes.buffer);
  length = 0;

  room(n: number): number {
    const at = this.length;
    if (at + n > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, at + n));
      grown.set(this.bytes.subarray(0, at));
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    this.length = at + n;
    return at;
  }
  u8(n: number): void {
    const at = this.room(1);
    this.bytes[at] = n;
  }
  u32(n: number): void {
    const at = this.room(4);
    this.view.setUint32(at, n, true);
  }
  raw(b: Uint8Array): void {
    const at = this.room(b.length);
    this.bytes.set(b, at);
  }
  string(s: string): void {
    const b = text.encode(s);
    this.u32(b.length);
    this.raw(b);
  }

  value(v: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new Unencodable(`${path.slice(0, 80)}… is nested too deeply, or contains itself`);
    switch (typeof v) {
      case 'undefined':
        return this.u8(TAG.undefined);
      case 'boolean':
        return this.u8(v ? TAG.true : TAG.false);
      case 'number': {
        if ((v | 0) === v && !Object.is(v, -0)) {
          this.u8(TAG.int32);
          const at = this.room(4);
          this.view.setInt32(at, v, true);
        } else {
          this.u8(TAG.float64);
          const at = this.room(8);
          this.view.setFloat64(at, v, true);
        }
        return;
      }
      case 'bigint':
        this.u8(TAG.bigint);
        return this.string(v.toString());
      case 'string':
        this.u8(TAG.string);
        return this.string(v);
      case 'object':
        return v === null ? this.u8(TAG.null) : this.object(v, path, depth);
      default:
        throw new Unencodable(`${path} is a ${typeof v}`);
    }
  }

  object(v: object, path: string, depth: number): void {
    if (Array.isArray(v)) {
      this.u8(TAG.array);
      this.u32(v.length);
      for (let i = 0; i < v.length; i++) {
        if (i in v) this.value(v[i], `${path}[${i}]`, depth + 1);
        else this.u8(TAG.hole);
      }
    } else if (ArrayBuffer.isView(v)) {
      const index = ARRAY_INDEX.get((v as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? '');
      if (index === undefined) throw new Unencodable(`${path} is a view of an unsupported type`);
      this.u8(TAG.typed);
      this.u8(index);
      this.u32(v.byteLength);
      this.raw(new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
    } else if (v instanceof ArrayBuffer) {
      this.u8(TAG.buffer);
      this.u32(v.byteLength);
      this.raw(new Uint8Array(v));
    } else if (v instanceof Map) {
      this.u8(TAG.map);
      this.u32(v.size);
      for (const [k, x] of v) {
        this.value(k, `${path} (a key)`, depth + 1);
        this.value(x, `${path}.get(${String(k)})`, depth + 1);
      }
    } else if (v instanceof Set) {
      this.u8(TAG.set);
      this.u32(v.size);
      for (const x of v) this.value(x, `${path} (a member)`, depth + 1);
    } else {
      const proto = Object.getPrototypeOf(v) as { constructor?: { name?: string } } | null;
      if (proto !== null && Object.getPrototypeOf(proto) !== null)
        throw new Unencodable(
          `${path} is a ${proto.constructor?.name ?? 'class instance'}: only plain objects can be encoded`,
        );
      const keys = Object.keys(v);
      this.u8(TAG.object);
      this.u32(keys.length);
      for (const k of keys) {
        this.string(k);
        this.value((v as Record<string, unknown>)[k], `${path}.${k}`, depth + 1);
      }
    }
  }
}

/**
 * @param what how the value is called in messages
 * @throws Unencodable for functions, symbols, class instances and cycles
 */
export function encodeValue(value: unknown, what = 'value'): Uint8Array {
  const w = new Writer();
  w.value(value, what, 0);
  return w.bytes.subarray(0, w.length);
}

class Reader {
  private readonly view: DataView;
  at = 0;
  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  take(n: number): number {
    const at = this.at;
    if (at + n > this.bytes.length) throw new MalformedValue('a structured value runs over its end');
    this.at = at + n;
    return at;
  }
  u8(): number {
    return this.bytes[this.take(1)]!;
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  /** A number of entries, each of which takes at least one byte. */
  count(): number {
    const n = this.u32();
    if (n > this.bytes.length - this.at) throw new MalformedValue('a structured value runs over its end');
    return n;
  }
  string(): string {
    const n = this.u32();
    const at = this.take(n);
    return read.decode(this.bytes.subarray(at, at + n));
  }
  copy(n: number): Uint8Array<ArrayBuffer> {
    const at = this.take(n);
    return this.bytes.slice(at, at + n) as Uint8Array<ArrayBuffer>;
  }
  value(depth: number): unknown {
    if (depth > MAX_DEPTH + 1) throw new MalformedValue('a structured value is nested too deeply');
    const tag = this.u8();
    switch (tag) {
      case TAG.undefined:
        return undefined;
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.int32:
        return this.view.getInt32(this.take(4), true);
      case TAG.float64:
        return this.view.getFloat64(this.take(8), true);
      case TAG.bigint:
        return BigInt(this.string());
      case TAG.string:
        return this.string();
      case TAG.array: {
        const n = this.count();
        const out: unknown[] = new Array(n);
        for (let i = 0; i < n; i++) {
          if (this.bytes[this.at] === TAG.hole) this.at++;
          else out[i] = this.value(depth + 1);
        }
        return out;
      }
      case TAG.object: {
        const n = this.count();
        const out: Record<string, unknown> = {};
        for (let i = 0; i < n; i++) {
          const key = this.string();
          const value = this.value(depth + 1);
          if (key === '__proto__')
            Object.defineProperty(out, key, { value, writable: true, enumerable: true, configurable: true });
          else out[key] = value;
        }
        return out;
      }
      case TAG.map: {
        const n = this.count();
        const out = new Map<unknown, unknown>();
        for (let i = 0; i < n; i++) {
          const key = this.value(depth + 1);
          out.set(key, this.value(depth + 1));
        }
        return out;
      }
      case TAG.set: {
        const n = this.count();
        const out = new Set<unknown>();
        for (let i = 0; i < n; i++) out.add(this.value(depth + 1));
        return out;
      }
      case TAG.buffer:
        return this.copy(this.u32()).buffer;
      case TAG.typed: {
        const type = ARRAYS[this.u8()];
        if (!type) throw new MalformedValue('a structured value holds an unknown array type');
        const bytes = this.copy(this.u32());
        return new type(bytes.buffer);
      }
      default:
        throw new MalformedValue(`a structured value holds the unknown tag ${tag}`);
    }
  }
}

/** @throws MalformedValue */
export function decodeValue(bytes: Uint8Array): unknown {
  const r = new Reader(bytes);
  let value: unknown;
  try {
    value = r.value(0);
  } catch (e) {
    // Broken UTF-8, digits that are none, an array whose bytes are no whole number of elements.
    throw e instanceof MalformedValue ? e : new MalformedValue(`a structured value is damaged: ${String(e)}`);
  }
  if (r.at !== bytes.length) throw new MalformedValue('bytes are left behind a structured value');
  return value;
}
