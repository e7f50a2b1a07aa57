/**
 * An archive (zip, tar, tar.gz) as the files that it holds: the same for the server and for the form of a new job, which shows what was dropped on it.
 * Comes from strangers: sizes are bounded before anything is unpacked, only plain files with clean paths are taken, links and devices are left out.
 */
import { MayflyError } from '@mayfly/wire';
import { unzipSync } from 'fflate';
import { ARCHIVE_LIMITS } from './limits.ts';

const BLOCK = 512;
const bad = (what: string): MayflyError => new MayflyError('BAD_ARCHIVE', what);
const tooLarge = (): MayflyError => new MayflyError('TOO_LARGE', `The archive unpacks to more than ${ARCHIVE_LIMITS.bytes >> 20} MB or ${ARCHIVE_LIMITS.files} files.`);

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
  if (kind === 'gzip') return untar(await gunzip(archive));
  if (kind === 'tar') return untar(archive);
  throw bad('This is neither a zip file nor a tar file (plain, or packed by gzip).');
}

/** Stops as soon as there is more than is allowed. */
async function gunzip(packed: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // Refused where the bytes are read.
  void writer.write(packed.slice()).then(() => writer.close()).catch(() => undefined);
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  for (;;) {
    const next = await reader.read().catch(() => {
      throw bad('The gzip file is damaged.');
    });
    if (next.done) break;
    bytes += next.value.length;
    if (bytes > ARCHIVE_LIMITS.bytes) {
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

function unzip(archive: Uint8Array): Map<string, Uint8Array> {
  let bytes = 0;
  let files = 0;
  let over = false;
  try {
    const all = unzipSync(archive, {
      // What the directory says is what is unpacked at most: fflate allocates by it.
      filter: ({ name, originalSize }) => {
        if (name.endsWith('/') || !isPlain(name)) return false;
        bytes += originalSize;
        over ||= bytes > ARCHIVE_LIMITS.bytes || ++files > ARCHIVE_LIMITS.files;
        return !over;
      },
    });
    if (!over) return new Map(Object.entries(all));
  } catch {
    throw bad('The zip file is damaged, or packed by another method than deflate.');
  }
  throw tooLarge();
}

/** Old tar, ustar, and the long names of GNU and pax. */
function untar(tar: Uint8Array): Map<string, Uint8Array> {
  const out = new Map<string, Uint8Array>();
  let longName: string | undefined;
  let at = 0;
  for (; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const sizeField = text(tar, at + 124, at + 136).trim();
    const size = /^[0-7]{1,11}$/.test(sizeField) ? parseInt(sizeField, 8) : NaN;
    const body = at + BLOCK;
    if (Number.isNaN(size) || body + size > tar.length) throw bad('The tar file is damaged.');
    const type = String.fromCharCode(tar[at + 156]!);
    const prefix = text(tar, at + 257, at + 262) === 'ustar' && text(tar, at + 257, at + 265) !== 'ustar  ' ? text(tar, at + 345, at + 500) : '';
    const short = `${prefix === '' ? '' : `${prefix}/`}${text(tar, at, at + 100)}`;
    if (type === 'L') longName = text(tar, body, body + size);
    else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text(tar, body, body + size))?.[1] ?? longName;
    else if (type !== 'g') {
      const name = (longName ?? short).replace(/^(\.\/)+/, '');
      longName = undefined;
      if ((type === '0' || type === '\0') && isPlain(name)) {
        if (out.size >= ARCHIVE_LIMITS.files) throw tooLarge();
        out.set(name, tar.slice(body, body + size));
      }
    }
    at = body + Math.ceil(size / BLOCK) * BLOCK;
  }
  return out;
}

/** Up to the first NUL. */
function text(bytes: Uint8Array, from: number, to: number): string {
  return new TextDecoder().decode(bytes.subarray(from, to)).replace(/\0[^]*$/, '');
}

/** Other entries (absolute, `..`, hidden, macOS's __MACOSX) are no part of a program. */
const isPlain = (path: string): boolean => !/^[/\\]|^[A-Za-z]:|(^|\/)\.|\\|\0|^__MACOSX\//.test(path);
