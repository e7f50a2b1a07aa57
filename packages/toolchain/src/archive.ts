/**
 * An archive (zip, tar, tar.gz) with a manifest, as the program that it holds. Comes from strangers: sizes are bounded before anything is
 * unpacked, only plain files with clean paths are taken, links and devices are left out.
 */
import { programOfFiles, type PlainProgram } from '@mayfly/toolchain';
import { MayflyError } from '@mayfly/wire';
import { unzipSync } from 'fflate';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

export const ARCHIVE_LIMITS = { bytes: 64 << 20, files: 4000 };

const BLOCK = 512;
const bad = (what: string): MayflyError => new MayflyError('BAD_ARCHIVE', what);
const tooLarge = (): MayflyError => new MayflyError('TOO_LARGE', `The archive unpacks to more than ${ARCHIVE_LIMITS.bytes >> 20} MB or ${ARCHIVE_LIMITS.files} files.`);

/** @throws MayflyError BAD_ARCHIVE, TOO_LARGE */
export async function unpackProgram(archive: Uint8Array): Promise<PlainProgram> {
  return programOfFiles(await unpack(archive));
}

async function unpack(archive: Uint8Array): Promise<Map<string, Uint8Array>> {
  if (archive[0] === 0x50 && archive[1] === 0x4b) return unzip(archive);
  if (archive[0] === 0x1f && archive[1] === 0x8b)
    return untar(
      await promisify(gunzip)(archive, { maxOutputLength: ARCHIVE_LIMITS.bytes }).catch((error: unknown) => {
        throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : bad('The gzip file is damaged.');
      }),
    );
  if (archive.length >= BLOCK && Buffer.from(archive.subarray(257, 262)).toString('latin1') === 'ustar') return untar(archive);
  throw bad('This is neither a zip file nor a tar file (plain, or packed by gzip).');
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
  const text = (from: number, to: number): string => Buffer.from(tar.subarray(from, to)).toString('utf8').replace(/\0[^]*$/, '');
  let longName: string | undefined;
  let at = 0;
  for (; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const sizeField = text(at + 124, at + 136).trim();
    const size = /^[0-7]{1,11}$/.test(sizeField) ? parseInt(sizeField, 8) : NaN;
    const body = at + BLOCK;
    if (Number.isNaN(size) || body + size > tar.length) throw bad('The tar file is damaged.');
    const type = String.fromCharCode(tar[at + 156]!);
    const prefix = text(at + 257, at + 262) === 'ustar' && text(at + 257, at + 265) !== 'ustar  ' ? text(at + 345, at + 500) : '';
    const short = `${prefix === '' ? '' : `${prefix}/`}${text(at, at + 100)}`;
    if (type === 'L') longName = text(body, body + size);
    else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text(body, body + size))?.[1] ?? longName;
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

/** Other entries (absolute, `..`, hidden, macOS's __MACOSX) are no part of a program. */
const isPlain = (path: string): boolean => !/^[/\\]|^[A-Za-z]:|(^|\/)\.|\\|\0|^__MACOSX\//.test(path);
