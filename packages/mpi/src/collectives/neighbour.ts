/**
 * Neighbourhood collectives (MPI 4.1 §8.6): a block to each destination, a block from each source, all at once.
 * Cost: α overlapped + nβ per neighbour.
 */
import { intra } from '../checks.ts';
import { PROC_NULL } from '../constants.ts';
import { neighboursOf } from '../neighbours.ts';
import { Schedule, start } from '../schedule.ts';
import type { Buf } from '../buffers.ts';
import type { Layer } from '../layer.ts';

/** @param send block for the i-th destination @param recv place of the block of the i-th source */
export function neighbour(
  layer: Layer,
  handle: number,
  send: (i: number) => Buf,
  recv: (i: number) => Buf,
  call: string,
): number {
  const comm = intra(layer, handle, call);
  const { sources, destinations, order } = neighboursOf(comm, call);
  const s = new Schedule(layer, comm, call);
  for (const i of order) if (sources[i] !== PROC_NULL) s.recv(sources[i]!, recv(i));
  destinations.forEach((rank, i) => void (rank !== PROC_NULL && s.send(rank, send(i))));
  return start(s);
}
