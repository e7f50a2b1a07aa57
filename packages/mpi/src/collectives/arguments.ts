/**
 * Checks what a collective was given: the length of buffers, the counts of blocks, what intercommunicators do not have.
 */
import { part, type Buf } from '../buffers.ts';
import { blocksOf, checkBlocks } from '../checks.ts';
import { ERR, fail } from '../errors.ts';
import { withdraw } from '../schedule.ts';
import type { Layer } from '../layer.ts';
import type { CommRecord } from '../state.ts';
import type { Blocks } from './blocks.ts';

/** Counts in elements of `unit` bytes, as a program gives them. */
export interface VectorArgument {
  buf: Buf;
  unit: number;
  counts: ArrayLike<number>;
  displs: ArrayLike<number> | undefined;
}

/** The blocks of a vector collective, in bytes. @throws MPIError */
export const blocks = (comm: CommRecord, v: VectorArgument, call: string, what: string): Blocks => ({
  buf: v.buf,
  ...checkBlocks(comm, v.counts, v.displs, v.unit, v.buf.bytes, call, what),
});

/** Counts that do not fit each other: the others are told. */
export function unfit(
  layer: Layer,
  comm: CommRecord,
  errorClass: typeof ERR.BUFFER | typeof ERR.COUNT,
  call: string,
  text: string,
): never {
  withdraw(layer, comm);
  return fail(errorClass, call, text, comm.handle);
}

/** Room for so many bytes: the buffer's beginning. @throws MPIError ERR_BUFFER when it is shorter */
export function room(
  layer: Layer,
  comm: CommRecord,
  buf: Buf | undefined,
  bytes: number,
  call: string,
  what: string,
): Buf {
  if (!buf) return fail(ERR.BUFFER, call, `${what} is missing`, comm.handle);
  if (buf.bytes < bytes)
    unfit(
      layer,
      comm,
      ERR.BUFFER,
      call,
      `${what} has ${buf.bytes} bytes, ${bytes} are needed (for ${blocksOf(comm)} ranks)`,
    );
  return buf.bytes === bytes ? buf : part(buf, 0, bytes);
}

/** What each of `n` ranks has of so many bytes. @throws MPIError ERR_COUNT when they cannot share them evenly */
export function divided(comm: CommRecord, bytes: number, call: string, what: string, n = blocksOf(comm)): number {
  if (bytes % n !== 0)
    fail(ERR.COUNT, call, `${what} has ${bytes} bytes, which ${n} ranks cannot share evenly`, comm.handle);
  return bytes / n;
}

/** "The 'in place' option is not supported for intercommunicators" (§6.2.3). */
export function given<T>(comm: CommRecord, x: T | undefined, call: string, what: string): T {
  return (
    x ?? fail(ERR.BUFFER, call, `${what} is missing or MPI_IN_PLACE, which is not for intercommunicators`, comm.handle)
  );
}
