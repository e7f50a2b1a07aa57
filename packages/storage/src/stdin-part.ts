/** What is new of bytes that somebody appends to standard input, perhaps for the second time. */
import { MayflyError } from '@mayfly/wire';

/**
 * @param offset where the bytes begin; `has` bytes are there already
 * @throws MayflyError CONFLICT for a gap, and for more than is there after the end
 */
export function newPart(bytes: Uint8Array, offset: number, has: number, ended: boolean): Uint8Array {
  if (offset > has)
    throw new MayflyError('CONFLICT', `Standard input has ${has} bytes so far; cannot append at offset ${offset}.`);
  const fresh = bytes.subarray(Math.min(bytes.length, has - offset));
  if (ended && fresh.length > 0) throw new MayflyError('CONFLICT', 'Standard input of this job has ended.');
  return fresh;
}
