/**
 * Rounds on disk (the paper's stable-disk): the job's files, two of each rank, so that the last whole round stays until
 * the next one is whole, and the one before it until then. A file begins with its round's number, the length of the
 * data, and a checksum of these two and the data: three u64 in little endian.
 */
import { type Buf } from '../buffers.ts';
import { COMM_SELF } from '../constants.ts';
import { ERR, MPIError, fail, thenLetGo } from '../errors.ts';
import * as files from '../files/index.ts';
import { releaseSpace, scratch, type Layer } from '../layer.ts';
import { settled } from '../requests.ts';

const HEAD = 24;
/** Of that, what the checksum covers. */
const COVERED = 16;

/** FNV-1a. */
function sumOf(...parts: readonly Uint8Array[]): number {
  let h = 0x811c9dc5;
  for (const part of parts) for (const b of part) h = Math.imul(h ^ b, 0x01000193);
  return h >>> 0;
}

const pathOf = (folder: string, rank: number, slot: number): string => `${folder}/${rank}.${slot}`;

function opened<T>(layer: Layer, path: string, amode: number, call: string, use: (file: number) => T): T {
  const file = settled(layer, files.open(layer, COMM_SELF, path, amode, call)).result;
  return thenLetGo(
    () => use(file),
    () => void settled(layer, files.close(layer, file, call)),
  );
}

function lent<T>(layer: Layer, bytes: number, use: (b: Buf) => T): T {
  const b = scratch(layer, bytes);
  return thenLetGo(
    () => use(b),
    () => releaseSpace(layer, b.space),
  );
}

/** @throws MPIError where the files' limit is reached */
export function write(
  layer: Layer,
  folder: string,
  rank: number,
  slot: number,
  round: number,
  data: Uint8Array,
  call: string,
): void {
  const { CREATE, WRONLY } = files.Amode;
  opened(layer, pathOf(folder, rank, slot), CREATE | WRONLY, call, (file) =>
    lent(layer, HEAD + data.length, (b) => {
      const bytes = layer.memory.view(b);
      const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
      head.setBigUint64(0, BigInt(round), true);
      head.setBigUint64(8, BigInt(data.length), true);
      head.setBigUint64(COVERED, BigInt(sumOf(bytes.subarray(0, COVERED), data)), true);
      bytes.set(data, HEAD);
      settled(layer, files.access(layer, file, true, { by: 'offset', offset: 0 }, b, call));
    }),
  );
}

/**
 * What a file of a rank has.
 *
 * @throws MPIError ERR_CHECKPOINT where it is damaged, ERR_NO_SUCH_FILE
 */
export function read(
  layer: Layer,
  folder: string,
  rank: number,
  slot: number,
  call: string,
): { round: number; data: Uint8Array } {
  const path = pathOf(folder, rank, slot);
  return opened(layer, path, files.Amode.RDONLY, call, (file) => {
    const at = (offset: number, bytes: number): Uint8Array =>
      lent(layer, bytes, (b) => {
        settled(layer, files.access(layer, file, false, { by: 'offset', offset }, b, call));
        return layer.memory.view(b).slice();
      });
    const damaged = (why: string): never => fail(ERR.CHECKPOINT, call, `'${path}' is damaged: ${why}`);
    const size = settled(layer, files.size(layer, file, call)).result;
    if (size < HEAD) damaged(`it has ${size} bytes`);
    const bytes = at(0, HEAD);
    const head = new DataView(bytes.buffer);
    const length = Number(head.getBigUint64(8, true));
    // A file of a longer round is written over: it may be longer, not shorter.
    if (length > size - HEAD) damaged(`${length} bytes should be there, ${size - HEAD} are`);
    const data = length === 0 ? new Uint8Array(0) : at(HEAD, length);
    if (Number(head.getBigUint64(COVERED, true)) !== sumOf(bytes.subarray(0, COVERED), data))
      damaged('bytes have changed');
    return { round: Number(head.getBigUint64(0, true)), data };
  });
}

export function remove(layer: Layer, folder: string, rank: number, call: string): void {
  for (const slot of [0, 1])
    try {
      settled(layer, files.remove(layer, pathOf(folder, rank, slot), COMM_SELF, call));
    } catch (e) {
      if (!(e instanceof MPIError)) throw e;
    }
}
