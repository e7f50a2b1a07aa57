/**
 * An archive (zip, tar, tar.gz) as the files that it holds: the same for the server, which unpacks in its compile
 * process (unpack-program.ts), and for the form of a new job, which shows what was dropped on it. It comes from
 * strangers, so that nothing that it says of itself is believed:
 *
 *  A1  What counts are the bytes that come out. Unpacking stops at the limit, whatever sizes the archive states; a file
 *      that is longer or shorter than stated is an error.
 *  A2  No byte of a zip file is unpacked twice: entries that overlap are refused, and an archive inside an archive is a
 *      file like any other.
 *  A3  Only plain files with clean paths are taken; folders, links, devices, hidden files and paths that lead out are
 *      left out. Two files of one path are an error.
 *  A4  Time is linear in the bytes of the archive and of what comes out of it.
 */
import { MayflyError } from '@mayfly/wire';
import { ARCHIVE_LIMITS } from './limits.ts';

const BLOCK = 512;
/** Of packed bytes at a time: one byte of deflate unpacks to 1032 at most. */
const CHUNK = 64 << 10;
const bad = (what: string): MayflyError => new MayflyError('BAD_ARCHIVE', what);
const tooLarge = (): MayflyError =>
  new MayflyError('TOO_LARGE', `The archive unpacks to more than ${ARCHIVE_LIMITS.bytes >> 20} MB.`);
const tooMany = (what: 'files' | 'entries'): MayflyError =>
  new MayflyError('TOO_LARGE', `The archive has more than ${ARCHIVE_LIMITS[what]} ${what}.`);
const quoted = (path: string): string => JSON.stringify(path.length > 120 ? `${path.slice(0, 117)}…` : path);

type Kind = 'zip' | 'gzip' | 'tar';

/** What it is by its first bytes. */
export function archiveKind(bytes: Uint8Array): Kind | undefined {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  return isTar(bytes) ? 'tar' : undefined;
}
const isTar = (bytes: Uint8Array): boolean => bytes.length >= BLOCK && text(bytes, 257, 262) === 'ustar';

/** @throws MayflyError BAD_ARCHIVE, TOO_LARGE */
export async function unpack(archive: Uint8Array): Promise<Map<string, Uint8Array>> {
  const kind = archiveKind(archive);
  if (kind === 'zip') return unzip(archive);
  if (kind === 'gzip') {
    return untar(await inflate('gzip', archive, ARCHIVE_LIMITS.bytes, () => bad('The gzip file is damaged.')));
  }
  if (kind === 'tar') return untar(archive);
  throw bad('This is neither a zip file nor a tar file (plain, or packed by gzip).');
}

/** A1. @param most bytes that may come out; one more is TOO_LARGE */
async function inflate(
  format: 'gzip' | 'deflate-raw',
  packed: Uint8Array,
  most: number,
  damaged: () => MayflyError,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const stream = new DecompressionStream(format);
  const writer = stream.writable.getWriter();
  const feed = async (): Promise<void> => {
    for (let at = 0; at < packed.length; at += CHUNK) {
      await writer.ready;
      await writer.write(packed.slice(at, at + CHUNK));
    }
    await writer.close();
  };
  // Refused where the bytes are read.
  void feed().catch(() => undefined);
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  for (;;) {
    const next = await reader.read().catch(() => {
      throw damaged();
    });
    if (next.done) break;
    bytes += next.value.length;
    if (bytes > most) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    parts.push(next.value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const p of parts) {
    whole.set(p, at);
    at += p.length;
  }
  return whole;
}

interface Entry {
  readonly path: string;
  readonly method: number;
  readonly packed: number;
  readonly stated: number;
  /** Where its head begins, and where its bytes. */
  readonly head: number;
  readonly at: number;
}

const STORED = 0;
const DEFLATED = 8;

async function unzip(archive: Uint8Array): Promise<Map<string, Uint8Array>> {
  const entries = readDirectory(archive);
  const out = new Map<string, Uint8Array>();
  let left = ARCHIVE_LIMITS.bytes;
  for (const e of entries) {
    if (e.path.endsWith('/') || !isPlain(e.path)) continue;
    if (out.size >= ARCHIVE_LIMITS.files) throw tooMany('files');
    if (out.has(e.path)) throw bad(`The zip file has ${quoted(e.path)} twice.`);
    const packed = archive.subarray(e.at, e.at + e.packed);
    if (e.method !== STORED && e.method !== DEFLATED)
      throw bad(`${quoted(e.path)} is packed by another method than deflate.`);
    const damaged = (): MayflyError => bad(`The zip file is damaged at ${quoted(e.path)}.`);
    const lies = (): MayflyError =>
      bad(`${quoted(e.path)} has ${e.stated} bytes by the directory of the zip file, and another number in truth.`);
    if (e.stated > left) throw tooLarge();
    const bytes =
      e.method === STORED
        ? packed.slice()
        : await inflate('deflate-raw', packed, e.stated, damaged).catch((error: unknown) => {
            throw (error as MayflyError).code === 'TOO_LARGE' ? lies() : error;
          });
    if (bytes.length !== e.stated) throw lies();
    left -= bytes.length;
    out.set(e.path, bytes);
  }
  return out;
}

/**
 * The entries in the order of their bytes. PKWARE's APPNOTE 6.3, 4.3.7, 4.3.12 and 4.3.16; no encryption, no parts on
 * several disks, no ZIP64 (its files are larger than all that is taken here).
 */
function readDirectory(archive: Uint8Array): Entry[] {
  const v = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const cut = (): MayflyError => bad('The zip file is damaged or cut off.');
  let end = archive.length - 22;
  // A comment of up to 64 KB may follow.
  for (const least = Math.max(0, end - 0xffff); end >= least && v.getUint32(end, true) !== 0x06054b50;) end--;
  if (end < 0 || v.getUint32(end, true) !== 0x06054b50) throw cut();
  const count = v.getUint16(end + 10, true);
  const directory = v.getUint32(end + 16, true);
  if (count === 0xffff || directory === 0xffffffff)
    throw bad('The zip file is of the kind for large archives (ZIP64), which is not taken here.');
  if (count > ARCHIVE_LIMITS.entries) throw tooMany('entries');
  const entries: Entry[] = [];
  for (let at = directory, n = 0; n < count; n++) {
    if (at + 46 > end || v.getUint32(at, true) !== 0x02014b50) throw cut();
    const [flags, method] = [v.getUint16(at + 8, true), v.getUint16(at + 10, true)];
    const [packed, stated, local] = [
      v.getUint32(at + 20, true),
      v.getUint32(at + 24, true),
      v.getUint32(at + 42, true),
    ];
    const [name, extra, comment] = [v.getUint16(at + 28, true), v.getUint16(at + 30, true), v.getUint16(at + 32, true)];
    if (at + 46 + name > end || name > ARCHIVE_LIMITS.pathBytes)
      throw name > ARCHIVE_LIMITS.pathBytes
        ? bad(`A path in the zip file has ${name} bytes; ${ARCHIVE_LIMITS.pathBytes} are allowed.`)
        : cut();
    const path = decode(archive.subarray(at + 46, at + 46 + name));
    if ((flags & 1) !== 0) throw bad(`${quoted(path)} is encrypted.`);
    // Links have their kind in the attributes of Unix.
    const mode = v.getUint32(at + 38, true) >>> 16;
    if (local + 30 > directory || v.getUint32(local, true) !== 0x04034b50) throw cut();
    const begins = local + 30 + v.getUint16(local + 26, true) + v.getUint16(local + 28, true);
    if (begins + packed > directory) throw cut();
    entries.push({
      path: (mode & 0xf000) === 0xa000 ? `${path}/` : path,
      method,
      packed,
      stated,
      head: local,
      at: begins,
    });
    at += 46 + name + extra + comment;
  }
  entries.sort((a, b) => a.head - b.head);
  for (let i = 1; i < entries.length; i++) {
    const before = entries[i - 1]!;
    // A2
    if (entries[i]!.head < before.at + before.packed)
      throw bad(`Entries of the zip file overlap: ${quoted(before.path)} and ${quoted(entries[i]!.path)}.`);
  }
  return entries;
}

/** Old tar, ustar, and the long names of GNU and pax. */
function untar(tar: Uint8Array): Map<string, Uint8Array> {
  const out = new Map<string, Uint8Array>();
  let longName: string | undefined;
  let entries = 0;
  const nameOf = (at: number, size: number): Uint8Array => {
    if (size > 16 * ARCHIVE_LIMITS.pathBytes)
      throw bad(`A head in the tar file has ${size} bytes; ${16 * ARCHIVE_LIMITS.pathBytes} are allowed.`);
    return tar.subarray(at, at + size);
  };
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    if (++entries > ARCHIVE_LIMITS.entries) throw tooMany('entries');
    // Other writings (base 256, negative) are for files that are larger than all that is taken here.
    const sizeField = text(tar, at + 124, at + 136).trim();
    const size = /^[0-7]{1,11}$/.test(sizeField) ? parseInt(sizeField, 8) : NaN;
    const body = at + BLOCK;
    const type = String.fromCharCode(tar[at + 156]!);
    const prefix =
      text(tar, at + 257, at + 262) === 'ustar' && text(tar, at + 257, at + 265) !== 'ustar  '
        ? text(tar, at + 345, at + 500)
        : '';
    const short = `${prefix === '' ? '' : `${prefix}/`}${text(tar, at, at + 100)}`;
    if (Number.isNaN(size) && at === 0 && !isTar(tar)) throw bad('The gzip file holds no tar file.');
    if (Number.isNaN(size))
      throw bad(`The tar file is damaged: ${quoted(longName ?? short)} has a size that cannot be read.`);
    if (body + size > tar.length)
      throw bad(
        `The tar file is damaged or cut off: ${quoted(longName ?? short)} has ${size} bytes by its head, of ` +
          `which ${tar.length - body} are there.`,
      );
    if (type === 'L') longName = text(nameOf(body, size), 0, size);
    else if (type === 'x')
      longName = /(?:^|\n)\d{1,10} path=([^\n]*)\n/.exec(text(nameOf(body, size), 0, size))?.[1] ?? longName;
    else if (type !== 'g') {
      const name = (longName ?? short).replace(/^(?:\.\/)+/, '');
      longName = undefined;
      // Kinds that are no plain file: links, devices, folders, and GNU's sparse files, whose size in the head is not
      // theirs.
      if ((type === '0' || type === '\0') && isPlain(name)) {
        if (out.size >= ARCHIVE_LIMITS.files) throw tooMany('files');
        if (out.has(name)) throw bad(`The tar file has ${quoted(name)} twice.`);
        if (name.length > ARCHIVE_LIMITS.pathBytes)
          throw bad(`A path in the tar file has ${name.length} characters; ${ARCHIVE_LIMITS.pathBytes} are allowed.`);
        out.set(name, tar.slice(body, body + size));
      }
    }
    at = body + Math.ceil(size / BLOCK) * BLOCK;
  }
  return out;
}

const utf8 = new TextDecoder();
const decode = (bytes: Uint8Array): string => utf8.decode(bytes);

/** Up to the first NUL. */
function text(bytes: Uint8Array, from: number, to: number): string {
  const part = bytes.subarray(from, to);
  const nul = part.indexOf(0);
  return decode(nul < 0 ? part : part.subarray(0, nul));
}

/** Other entries (absolute, `..`, hidden, macOS's __MACOSX) are no part of a program. */
const isPlain = (path: string): boolean => !/^[/\\]|^[A-Za-z]:|(^|\/)\.|\\|\0|^__MACOSX\//.test(path);
