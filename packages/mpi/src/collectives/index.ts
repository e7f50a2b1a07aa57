/**
 * The collectives as calls (MPI 4.1 chapter 6): check the arguments, choose an algorithm by size, start its schedule.
 * Every function returns the handle of a request; the blocking call waits for it.
 *
 * Buffers are contiguous bytes ({@link Buf}). `undefined` for a send buffer (for scatter: the receive buffer) means
 * MPI_IN_PLACE. All ranks must choose alike, so choices depend only on what is the same everywhere: the communicator's
 * size, the length and the operation. Incarnations must choose as those before them: a job that began with an older
 * library keeps its choices.
 */
import { part, type Buf } from '../buffers.ts';
import { blocksOf, checkBlocks, checkRoot, intra, partOf, reduction } from '../checks.ts';
import { ERR, fail } from '../errors.ts';
import { Schedule, start, withdraw, type Reduction } from '../schedule.ts';
import { allgatherBruck } from './allgather-bruck.ts';
import { allgatherRecursiveDoubling } from './allgather-recursive-doubling.ts';
import { allgatherRing } from './allgather-ring.ts';
import { allreduceRabenseifner } from './allreduce-rabenseifner.ts';
import { allreduceRecursiveDoubling } from './allreduce-recursive-doubling.ts';
import { alltoallBruck } from './alltoall-bruck.ts';
import { alltoallPairwise } from './alltoall-pairwise.ts';
import { alltoallSpread } from './alltoall-spread.ts';
import { barrierCentral } from './barrier-central.ts';
import { barrierDissemination } from './barrier-dissemination.ts';
import { bcastBinomial } from './bcast-binomial.ts';
import { bcastScatterAllgather } from './bcast-scatter-allgather.ts';
import { equalBlocks, type Blocks } from './blocks.ts';
import { gatherBinomial } from './gather-binomial.ts';
import { gathervLinear } from './gatherv-linear.ts';
import * as inter from './inter.ts';
import { reduceBinomial } from './reduce-binomial.ts';
import { reduceRabenseifner } from './reduce-rabenseifner.ts';
import { reduceScatterSpread } from './reduce-scatter-spread.ts';
import { reduceScatterTree } from './reduce-scatter-tree.ts';
import { scanChain } from './scan-chain.ts';
import { scanRecursiveDoubling } from './scan-recursive-doubling.ts';
import { scatterBinomial } from './scatter-binomial.ts';
import { scattervLinear } from './scatterv-linear.ts';
import type { CommRecord } from '../state.ts';
import { commOf, since, type Layer } from '../layer.ts';

/**
 * Bytes from which the algorithms for long messages win: there the transfer outweighs the latency of a hop (about 0.5
 * ms between tabs).
 */
export const LONG = {
  bcast: 128 * 1024,
  reduce: 64 * 1024,
  allgather: 64 * 1024,
  alltoall: 32 * 1024,
  scan: 64 * 1024,
} as const;
/**
 * Blocks from which gather and scatter go straight: every level of a tree would carry them through the server once
 * more.
 */
const STRAIGHT = 4096;
/**
 * Ranks from which the number of messages decides: a server takes some 7 µs for each (docs/benchmarks.md), and
 * everybody to everybody are p (p−1).
 */
const MANY = { ranks: 9, bytes: 16 * 1024 } as const;
/** Ranks up to which one of them hears from all in less than the rounds of a tree take. */
const CENTRAL = 64;
/** Blocks up to this are worth packing (Bruck's all-to-all), from this many ranks on. */
const PACKED = { bytes: 256, ranks: 8 } as const;

/** Counts in elements of `unit` bytes, as a program gives them. */
export interface VectorArgument {
  buf: Buf;
  unit: number;
  counts: ArrayLike<number>;
  displs: ArrayLike<number> | undefined;
}
const blocks = (comm: CommRecord, v: VectorArgument, call: string, what: string): Blocks => ({
  buf: v.buf,
  ...checkBlocks(comm, v.counts, v.displs, v.unit, v.buf.bytes, call, what),
});

/** Counts that do not fit each other: the others are told. */
function unfit(
  layer: Layer,
  comm: CommRecord,
  errorClass: typeof ERR.BUFFER | typeof ERR.COUNT,
  call: string,
  text: string,
): never {
  withdraw(layer, comm);
  return fail(errorClass, call, text, comm.handle);
}

function room(layer: Layer, comm: CommRecord, buf: Buf | undefined, bytes: number, call: string, what: string): Buf {
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

function divided(comm: CommRecord, bytes: number, call: string, what: string, n = blocksOf(comm)): number {
  if (bytes % n !== 0)
    fail(ERR.COUNT, call, `${what} has ${bytes} bytes, which ${n} ranks cannot share evenly`, comm.handle);
  return bytes / n;
}

/** "The 'in place' option is not supported for intercommunicators" (§6.2.3). */
function given<T>(comm: CommRecord, x: T | undefined, call: string, what: string): T {
  return (
    x ?? fail(ERR.BUFFER, call, `${what} is missing or MPI_IN_PLACE, which is not for intercommunicators`, comm.handle)
  );
}

export function barrier(layer: Layer, c: number, call = 'MPI_Barrier'): number {
  const comm = commOf(layer, c, call);
  const s = new Schedule(layer, comm, call);
  if (comm.remote) inter.barrier(s);
  else if (since(layer, 2) && s.size >= MANY.ranks && s.size <= CENTRAL) barrierCentral(s);
  else barrierDissemination(s);
  return start(s);
}

export function bcast(layer: Layer, c: number, buf: Buf, root: number, call = 'MPI_Bcast'): number {
  const comm = commOf(layer, c, call);
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.bcast(s, buf, partOf(comm, root, call));
    return start(s);
  }
  checkRoot(comm, root, call);
  if (buf.bytes >= LONG.bcast && s.size >= 4) bcastScatterAllgather(s, buf, root);
  else bcastBinomial(s, buf, root);
  return start(s);
}

/** `send` undefined: in place (at the root). */
export function reduce(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  type: number,
  op: number,
  root: number,
  call = 'MPI_Reduce',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const buf =
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? recv : send, call, p === 'root' ? 'the receive buffer' : 'the send buffer');
    const r = p === 'bystander' ? undefined : reduction(layer, c, op, type, buf!.bytes, call);
    const s = new Schedule(layer, comm, call);
    inter.reduce(s, buf, r, p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = send?.bytes ?? recv?.bytes ?? 0;
  const r = reduction(layer, c, op, type, bytes, call);
  const into = comm.rank === root ? room(layer, comm, recv, bytes, call, 'the receive buffer') : undefined;
  const operand = send ?? into!;
  const s = new Schedule(layer, comm, call);
  if (long(s, r, bytes)) {
    const acc = s.scratch(bytes);
    s.copy(operand, acc);
    reduceRabenseifner(s, acc, into, r, root);
  } else reduceBinomial(s, operand, into, r, root);
  return start(s);
}

const long = (s: Schedule, r: Reduction, bytes: number): boolean => r.commute && bytes >= LONG.reduce && s.size >= 4;

export function allreduce(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  op: number,
  call = 'MPI_Allreduce',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) given(comm, send, call, 'the send buffer');
  const bytes = send?.bytes ?? recv.bytes;
  const r = reduction(layer, c, op, type, bytes, call);
  const acc = room(layer, comm, recv, bytes, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.allreduce(s, send!, acc, r);
    return start(s);
  }
  if (send) s.copy(send, acc);
  if (long(s, r, bytes)) allreduceRabenseifner(s, acc, r);
  else allreduceRecursiveDoubling(s, acc, r);
  return start(s);
}

export function scan(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  op: number,
  exclusive: boolean,
  call = exclusive ? 'MPI_Exscan' : 'MPI_Scan',
): number {
  const comm = intra(layer, c, call);
  const bytes = send?.bytes ?? recv.bytes;
  const r = reduction(layer, c, op, type, bytes, call);
  const into = room(layer, comm, recv, bytes, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (since(layer, 2) && bytes >= LONG.scan && s.size >= 4) scanChain(s, send ?? into, into, r, exclusive);
  else scanRecursiveDoubling(s, send ?? into, into, r, exclusive);
  return start(s);
}

export function gather(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Gather',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    inter.gather(
      s,
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? recv : send, call, p === 'root' ? 'the receive buffer' : 'the send buffer'),
      p,
    );
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = send?.bytes ?? divided(comm, recv?.bytes ?? 0, call, 'the receive buffer');
  const into =
    comm.rank === root ? room(layer, comm, recv, bytes * comm.group.length, call, 'the receive buffer') : undefined;
  const s = new Schedule(layer, comm, call);
  if (since(layer, 2) && bytes >= STRAIGHT) gathervLinear(s, send, into && equalBlocks(into, s.size, bytes), root);
  else gatherBinomial(s, send ?? part(into!, root * bytes, bytes), into, root);
  return start(s);
}

export function gatherv(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: VectorArgument | undefined,
  root: number,
  call = 'MPI_Gatherv',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    if (p === 'root')
      inter.gatherv(
        s,
        undefined,
        blocks(comm, given(comm, recv, call, 'the receive buffer'), call, 'the receive buffer'),
        p,
      );
    else if (p !== 'bystander') inter.gatherv(s, given(comm, send, call, 'the send buffer'), undefined, p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  if (!recv && comm.rank === root) fail(ERR.BUFFER, call, 'the root needs a receive buffer', c);
  const into = comm.rank === root ? blocks(comm, recv!, call, 'the receive buffer') : undefined;
  if (send && into && send.bytes !== into.lengths[root])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the root sends ${send.bytes} bytes to itself, its block has ${into.lengths[root]}`,
    );
  const s = new Schedule(layer, comm, call);
  // The root alone knows the lengths: a tree would have to tell them first, and has as many messages.
  gathervLinear(s, send, into, root);
  return start(s);
}

export function scatter(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Scatter',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    inter.scatter(
      s,
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? send : recv, call, p === 'root' ? 'the send buffer' : 'the receive buffer'),
      p,
    );
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!recv && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = recv?.bytes ?? divided(comm, send?.bytes ?? 0, call, 'the send buffer');
  const from =
    comm.rank === root ? room(layer, comm, send, bytes * comm.group.length, call, 'the send buffer') : undefined;
  const s = new Schedule(layer, comm, call);
  if (since(layer, 2) && bytes >= STRAIGHT) scattervLinear(s, from && equalBlocks(from, s.size, bytes), recv, root);
  else scatterBinomial(s, from, recv, bytes, root);
  return start(s);
}

export function scatterv(
  layer: Layer,
  c: number,
  send: VectorArgument | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Scatterv',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    if (p === 'root')
      inter.scatterv(
        s,
        blocks(comm, given(comm, send, call, 'the send buffer'), call, 'the send buffer'),
        undefined,
        p,
      );
    else if (p !== 'bystander') inter.scatterv(s, undefined, given(comm, recv, call, 'the receive buffer'), p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!recv && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  if (!send && comm.rank === root) fail(ERR.BUFFER, call, 'the root needs a send buffer', c);
  const from = comm.rank === root ? blocks(comm, send!, call, 'the send buffer') : undefined;
  if (recv && from && recv.bytes !== from.lengths[root])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the root receives ${recv.bytes} bytes from itself, its block has ${from.lengths[root]}`,
    );
  const s = new Schedule(layer, comm, call);
  scattervLinear(s, from, recv, root);
  return start(s);
}

export function allgather(layer: Layer, c: number, send: Buf | undefined, recv: Buf, call = 'MPI_Allgather'): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const s = new Schedule(layer, comm, call);
    inter.allgather(s, given(comm, send, call, 'the send buffer'), recv);
    return start(s);
  }
  const n = comm.group.length;
  const bytes = send?.bytes ?? divided(comm, recv.bytes, call, 'the receive buffer');
  const into = room(layer, comm, recv, bytes * n, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (send) s.copy(send, part(into, comm.rank * bytes, bytes));
  if (bytes * n >= LONG.allgather) allgatherRing(s, equalBlocks(into, n, bytes));
  else if ((n & (n - 1)) === 0) allgatherRecursiveDoubling(s, into, bytes);
  else allgatherBruck(s, equalBlocks(into, n, bytes));
  return start(s);
}

export function allgatherv(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: VectorArgument,
  call = 'MPI_Allgatherv',
): number {
  const comm = commOf(layer, c, call);
  const into = blocks(comm, recv, call, 'the receive buffer');
  if (comm.remote) {
    const s = new Schedule(layer, comm, call);
    inter.allgatherv(s, given(comm, send, call, 'the send buffer'), into);
    return start(s);
  }
  const own = into.lengths[comm.rank]!;
  if (send && send.bytes !== own)
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the send buffer has ${send.bytes} bytes, the own block in the receive buffer ${own}`,
    );
  const s = new Schedule(layer, comm, call);
  if (send) s.copy(send, part(into.buf, into.offsets[comm.rank]!, own));
  if (since(layer, 3) && into.lengths.reduce((a, b) => a + b, 0) < LONG.allgather) allgatherBruck(s, into);
  else allgatherRing(s, into);
  return start(s);
}

export function alltoall(layer: Layer, c: number, send: Buf | undefined, recv: Buf, call = 'MPI_Alltoall'): number {
  const comm = commOf(layer, c, call);
  const n = blocksOf(comm);
  if (comm.remote) {
    const from = given(comm, send, call, 'the send buffer');
    const s = new Schedule(layer, comm, call);
    inter.alltoall(
      s,
      equalBlocks(from, n, divided(comm, from.bytes, call, 'the send buffer')),
      equalBlocks(recv, n, divided(comm, recv.bytes, call, 'the receive buffer')),
    );
    return start(s);
  }
  const bytes = divided(comm, (send ?? recv).bytes, call, send ? 'the send buffer' : 'the receive buffer');
  const into = room(layer, comm, recv, bytes * n, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  const from = send ?? s.scratch(bytes * n);
  if (!send) s.copy(into, from);
  if (bytes <= PACKED.bytes && n >= PACKED.ranks) alltoallBruck(s, from, into, bytes);
  else if (bytes < LONG.alltoall) alltoallSpread(s, equalBlocks(from, n, bytes), equalBlocks(into, n, bytes));
  else alltoallPairwise(s, equalBlocks(from, n, bytes), equalBlocks(into, n, bytes));
  return start(s);
}

export function alltoallv(
  layer: Layer,
  c: number,
  send: VectorArgument | undefined,
  recv: VectorArgument,
  call = 'MPI_Alltoallv',
): number {
  const comm = commOf(layer, c, call);
  const into = blocks(comm, recv, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.alltoall(s, blocks(comm, given(comm, send, call, 'the send buffer'), call, 'the send buffer'), into);
    return start(s);
  }
  let from: Blocks;
  if (send) from = blocks(comm, send, call, 'the send buffer');
  else {
    from = { ...into, buf: s.scratch(into.buf.bytes) };
    s.copy(into.buf, from.buf);
  }
  if (from.lengths[comm.rank] !== into.lengths[comm.rank])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the block for the rank itself has ${from.lengths[comm.rank]} bytes to send and ` +
        `${into.lengths[comm.rank]} to receive`,
    );
  // Only this rank knows its lengths: no choice by size. Each pair has one message either way, so the order does not
  // matter.
  alltoallSpread(s, from, into);
  return start(s);
}

export function reduceScatter(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  counts: ArrayLike<number>,
  type: number,
  unit: number,
  op: number,
  call = 'MPI_Reduce_scatter',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) given(comm, send, call, 'the send buffer');
  const operand = send ?? recv;
  const r = reduction(layer, c, op, type, operand.bytes, call);
  const from: Blocks = {
    buf: operand,
    ...checkBlocks(comm, counts, undefined, unit, operand.bytes, call, 'the send buffer', comm.group.length),
  };
  const own = from.lengths[comm.rank]!;
  if (own % r.unit !== 0) fail(ERR.OP, call, 'a block cuts a pair of value and index in two', c);
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.reduceScatter(s, operand, room(layer, comm, recv, own, call, 'the receive buffer'), from.lengths, r);
    return start(s);
  }
  const into = room(layer, comm, recv, own, call, 'the receive buffer');
  if (since(layer, 2) && s.size >= MANY.ranks && from.lengths.reduce((a, b) => a + b, 0) <= MANY.bytes)
    reduceScatterTree(s, from, into, r);
  else reduceScatterSpread(s, from, into, r);
  return start(s);
}

export function reduceScatterBlock(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  unit: number,
  op: number,
  call = 'MPI_Reduce_scatter_block',
): number {
  const comm = commOf(layer, c, call);
  const bytes = divided(
    comm,
    (send ?? recv).bytes,
    call,
    send ? 'the send buffer' : 'the receive buffer',
    comm.group.length,
  );
  return reduceScatter(
    layer,
    c,
    send,
    recv,
    new Array<number>(comm.group.length).fill(bytes / unit),
    type,
    unit,
    op,
    call,
  );
}

export { neighbour } from './neighbour.ts';

/** The check of an operation for a type alone, for MPI_Reduce_local. @throws MPIError ERR_OP */
export const checkReduction = (layer: Layer, op: number, type: number, bytes: number, call: string): void =>
  void reduction(layer, 0, op, type, bytes, call);
