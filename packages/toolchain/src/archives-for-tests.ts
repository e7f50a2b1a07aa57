/** Zip and tar files as no honest program writes them. */
import { deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly data?: Uint8Array;
  /** Bytes as they stand in the archive; default: `data`, deflated. */
  readonly packed?: Uint8Array;
  /** What the directory says; default: the truth. */
  readonly stated?: number;
  readonly method?: number;
  /** The directory says that this entry begins where entry number `at` does. */
  readonly at?: number;
  /** Of Unix: 0o120777 is a link. */
  readonly mode?: number;
}

export function zip(entries: readonly ZipEntry[]): Uint8Array {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  const begins: number[] = [];
  let at = 0;
  for (const e of entries) {
    const name = Buffer.from(e.name);
    const method = e.method ?? 8;
    const packed = Buffer.from(
      e.packed ?? (method === 0 ? (e.data ?? new Uint8Array()) : deflateRawSync(e.data ?? new Uint8Array())),
    );
    const stated = e.stated ?? e.data?.length ?? 0;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(stated, 22);
    local.writeUInt16LE(name.length, 26);
    begins.push(e.at === undefined ? at : begins[e.at]!);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(method, 10);
    head.writeUInt32LE(packed.length, 20);
    head.writeUInt32LE(stated, 24);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt32LE(((e.mode ?? 0o100644) << 16) >>> 0, 38);
    head.writeUInt32LE(begins.at(-1)!, 42);
    directory.push(head, name);
    if (e.at === undefined) {
      bodies.push(local, name, packed);
      at += local.length + name.length + packed.length;
    }
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length & 0xffff, 8);
  end.writeUInt16LE(entries.length & 0xffff, 10);
  end.writeUInt32LE(
    directory.reduce((n, b) => n + b.length, 0),
    12,
  );
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...bodies, ...directory, end]));
}

export interface TarEntry {
  readonly name: string;
  readonly data?: string;
  readonly type?: string;
  /** The field of the size as it stands there; default: the truth, octal. */
  readonly size?: string;
}

export function tar(entries: readonly TarEntry[]): Uint8Array {
  const blocks: Buffer[] = [];
  for (const { name, data = '', type = '0', size } of entries) {
    const body = Buffer.from(data);
    const head = Buffer.alloc(512);
    head.write(name, 0, 100);
    head.write(size ?? `${body.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1');
    head.write(type, 156);
    head.write('ustar\x0000', 257);
    blocks.push(head, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return new Uint8Array(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/** Deflated zeros, made without unpacking them: each block of it comes to 64 KB or more. */
export const zeros = (bytes: number): Uint8Array => new Uint8Array(deflateRawSync(Buffer.alloc(bytes), { level: 9 }));
