/**
 * Reads what lmdb-js wrote as a value: MessagePack, with objects as records (extension 0x72: an id and the names of the
 * fields, once per value; then the id alone). Every read is checked against the end of the bytes.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Deeper than any record of a registry; a damaged value must not end the stack. */
const DEEPEST = 100;

/** @throws RangeError, TypeError when the bytes are no such value */
export function readMsgpack(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records = new Map<number, string[]>();
  let at = 0;
  let depth = 0;

  const take = (n: number): number => {
    if (n > bytes.length - at) throw new RangeError('a value that ends too early');
    at += n;
    return at - n;
  };
  const u8 = (): number => bytes[take(1)]!;
  const u16 = (): number => view.getUint16(take(2));
  const u32 = (): number => view.getUint32(take(4));
  const text = (n: number): string => {
    const from = take(n);
    return utf8.decode(bytes.subarray(from, from + n));
  };
  const binary = (n: number): Uint8Array => {
    const from = take(n);
    return bytes.slice(from, from + n);
  };
  const whole = (n: bigint): number => {
    if (n > BigInt(Number.MAX_SAFE_INTEGER) || n < BigInt(Number.MIN_SAFE_INTEGER))
      throw new RangeError('an integer beyond 2^53');
    return Number(n);
  };
  const list = (n: number): unknown[] => {
    // Each takes a byte at least.
    if (n > bytes.length - at) throw new RangeError('a list that ends too early');
    return Array.from({ length: n }, read);
  };
  const put = (into: Record<string, unknown>, key: unknown, value: unknown): void =>
    void Object.defineProperty(into, String(key), { value, enumerable: true, configurable: true, writable: true });
  const map = (n: number): Record<string, unknown> => {
    const out: Record<string, unknown> = {};
    for (let i = 0; i < n; i++) {
      const key = read();
      put(out, key, read());
    }
    return out;
  };
  const record = (id: number): Record<string, unknown> => {
    const fields = records.get(id);
    if (!fields) throw new TypeError(`a record of unknown kind ${id}`);
    const out: Record<string, unknown> = {};
    for (const f of fields) put(out, f, read());
    return out;
  };
  const defineRecord = (id: number): unknown => {
    const fields = read();
    if (!Array.isArray(fields) || fields.some((f) => typeof f !== 'string'))
      throw new TypeError('a record without names of its fields');
    records.set(id, fields as string[]);
    return record(id);
  };
  const extension = (length: number): unknown => {
    const type = u8();
    if (type === 0 && length === 1) {
      take(1);
      return undefined;
    }
    if (type === 0x72 && length === 1) return defineRecord(u8() & 0x3f);
    if (type === 0x72 && length === 2) {
      const low = u8() & 0x3f;
      return defineRecord(low + (u8() << 6));
    }
    throw new TypeError(`an extension of unknown type ${type}`);
  };

  function read(): unknown {
    if (++depth > DEEPEST) throw new RangeError('a value that is nested too deeply');
    try {
      return token(u8());
    } finally {
      depth--;
    }
  }
  function token(t: number): unknown {
    if (t < 0x40) return t;
    if (t < 0x80) return records.has(t & 0x3f) ? record(t & 0x3f) : t;
    if (t < 0x90) return map(t & 0x0f);
    if (t < 0xa0) return list(t & 0x0f);
    if (t < 0xc0) return text(t & 0x1f);
    if (t >= 0xe0) return t - 0x100;
    switch (t) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return binary(u8());
      case 0xc5:
        return binary(u16());
      case 0xc6:
        return binary(u32());
      case 0xca:
        return view.getFloat32(take(4));
      case 0xcb:
        return view.getFloat64(take(8));
      case 0xcc:
        return u8();
      case 0xcd:
        return u16();
      case 0xce:
        return u32();
      case 0xcf:
        return whole(view.getBigUint64(take(8)));
      case 0xd0:
        return view.getInt8(take(1));
      case 0xd1:
        return view.getInt16(take(2));
      case 0xd2:
        return view.getInt32(take(4));
      case 0xd3:
        return whole(view.getBigInt64(take(8)));
      case 0xd4:
        return extension(1);
      case 0xd5:
        return extension(2);
      case 0xd9:
        return text(u8());
      case 0xda:
        return text(u16());
      case 0xdb:
        return text(u32());
      case 0xdc:
        return list(u16());
      case 0xdd:
        return list(u32());
      case 0xde:
        return map(u16());
      case 0xdf:
        return map(u32());
      default:
        throw new TypeError(`a value that begins with ${t}`);
    }
  }

  const value = read();
  if (at !== bytes.length) throw new RangeError('bytes behind a value');
  return value;
}
