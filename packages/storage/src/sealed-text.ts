/**
 * Text with its checksum in the last line, for small files that are written whole: a bit that flipped, or an end that
 * is missing, is noticed when it is read.
 */
import { crc32 } from 'node:zlib';
import { MayflyError } from '@mayfly/wire';

const SEAL = /\n#crc32 ([0-9a-f]{8})\n$/;

export const seal = (text: string): string => `${text}\n#crc32 ${crc32(text).toString(16).padStart(8, '0')}\n`;

/** @throws MayflyError DAMAGED_DATA */
export function unseal(sealed: string, name: string): string {
  const m = SEAL.exec(sealed);
  const text = sealed.slice(0, m?.index);
  if (m?.[1] === undefined || crc32(text) !== Number.parseInt(m[1], 16))
    throw new MayflyError('DAMAGED_DATA', `${name} is damaged: its checksum is wrong`);
  return text;
}
