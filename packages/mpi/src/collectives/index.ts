/**
 * The collectives as calls (MPI 4.1 chapter 6): check the arguments (arguments.ts), choose an algorithm by size
 * (thresholds.ts), start its schedule. Every function returns the handle of a request; the blocking call waits for it.
 *
 * Buffers are contiguous bytes (Buf of buffers.ts). `undefined` for a send buffer (for scatter: the receive buffer)
 * means MPI_IN_PLACE.
 */
export type { VectorArgument } from './arguments.ts';
export { neighbour } from './neighbour.ts';
export { allreduce, checkReduction, reduce, reduceScatter, reduceScatterBlock, scan } from './reductions.ts';
export { bcast, gather, gatherv, scatter, scatterv } from './rooted.ts';
export { LONG } from './thresholds.ts';
export { allgather, allgatherv, alltoall, alltoallv, barrier } from './to-all.ts';
