/**
 * Collectives over intercommunicators (MPI 4.1 §6.2.2, §6.2.3): data goes from one group to the other. A rooted one
 * goes one way: the root says MPI_ROOT, its group MPI_PROC_NULL, the other group the root's rank; the others go both
 * ways, and what a group gets is made of the other's data.
 *
 * Mostly the local algorithms up or down a tree that stands on rank 0, the group's leader, and one message between
 * leaders (or leader and root) in the middle: p + q processes with messages of n bytes cost about twice their local
 * part and one more α + nβ.
 */
import { NO_BYTES, part, type Buf } from '../buffers.ts';
import { bcastBinomial } from './bcast-binomial.ts';
import { bcastScatterAllgather } from './bcast-scatter-allgather.ts';
import { gatherBinomial } from './gather-binomial.ts';
import { blockOf, type Blocks } from './blocks.ts';
import { reduceBinomial } from './reduce-binomial.ts';
import { scatterBinomial } from './scatter-binomial.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** What a process is in a rooted collective over an intercommunicator. */
export type Part = 'root' | 'bystander' | { root: number };

/** The leaders (rank 0 of each group) exchange `mine` and `theirs` and tell their groups. */
export function exchange(s: Schedule, mine: Buf, theirs: Buf): void {
  if (s.rank === 0) s.sendRemote(0, mine).recvRemote(0, theirs).next();
  bcastLocal(s, theirs);
  s.next();
}

const LONG = 128 * 1024;
function bcastLocal(s: Schedule, buf: Buf): void {
  if (buf.bytes >= LONG && s.size >= 4) bcastScatterAllgather(s, buf, 0);
  else bcastBinomial(s, buf, 0);
}

/** "returns at any process in one group only after all members of the other group have entered the call" (§6.3). */
export function barrier(s: Schedule): void {
  gatherBinomial(s, NO_BYTES, NO_BYTES, 0);
  s.next();
  exchange(s, NO_BYTES, NO_BYTES);
}

export function bcast(s: Schedule, buf: Buf, p: Part): void {
  if (p === 'bystander') return;
  if (p === 'root') {
    s.sendRemote(0, buf);
    return;
  }
  if (s.rank === 0) s.recvRemote(p.root, buf).next();
  bcastLocal(s, buf);
}

/** @param buf the operand, at the root the place of the result; absent at bystanders */
export function reduce(s: Schedule, buf: Buf | undefined, r: Reduction | undefined, p: Part): void {
  if (p === 'bystander') return;
  if (p === 'root') {
    s.recvRemote(0, buf!);
    return;
  }
  const sum = s.rank === 0 ? s.scratch(buf!.bytes) : undefined;
  reduceBinomial(s, buf!, sum, r!, 0);
  if (sum) s.next().sendRemote(p.root, sum);
}

export function allreduce(s: Schedule, send: Buf, recv: Buf, r: Reduction): void {
  const sum = s.rank === 0 ? s.scratch(send.bytes) : undefined;
  reduceBinomial(s, send, sum, r, 0);
  s.next();
  exchange(s, sum ?? NO_BYTES, recv);
}

/** @param buf the own block, at the root the place of all; `bytes`: of one block */
export function gather(s: Schedule, buf: Buf | undefined, p: Part): void {
  if (p === 'bystander') return;
  if (p === 'root') {
    s.recvRemote(0, buf!);
    return;
  }
  const all = s.rank === 0 ? s.scratch(buf!.bytes * s.size) : undefined;
  gatherBinomial(s, buf!, all, 0);
  if (all) s.next().sendRemote(p.root, all);
}

/** Only the root knows the lengths: everybody sends it directly. */
export function gatherv(s: Schedule, send: Buf | undefined, recv: Blocks | undefined, p: Part): void {
  if (p === 'root') recv!.lengths.forEach((_, i) => void s.recvRemote(i, blockOf(recv!, i)));
  else if (p !== 'bystander') s.sendRemote(p.root, send!);
}

/** @param buf at the root all blocks, else the place of the own one */
export function scatter(s: Schedule, buf: Buf | undefined, p: Part): void {
  if (p === 'bystander') return;
  if (p === 'root') {
    s.sendRemote(0, buf!);
    return;
  }
  const all = s.rank === 0 ? s.scratch(buf!.bytes * s.size) : undefined;
  if (all) s.recvRemote(p.root, all).next();
  scatterBinomial(s, all, buf!, buf!.bytes, 0);
}

export function scatterv(s: Schedule, send: Blocks | undefined, recv: Buf | undefined, p: Part): void {
  if (p === 'root') send!.lengths.forEach((_, i) => void s.sendRemote(i, blockOf(send!, i)));
  else if (p !== 'bystander') s.recvRemote(p.root, recv!);
}

export function allgather(s: Schedule, send: Buf, recv: Buf): void {
  const all = s.rank === 0 ? s.scratch(send.bytes * s.size) : undefined;
  gatherBinomial(s, send, all, 0);
  s.next();
  exchange(s, all ?? NO_BYTES, recv);
}

/**
 * A group's own lengths are known to the other one only: each sends its block to the other leader, which tells its
 * group all blocks in one message.
 */
export function allgatherv(s: Schedule, send: Buf, recv: Blocks): void {
  const whole = s.scratch(recv.lengths.reduce((a, b) => a + b, 0));
  const places: Buf[] = [];
  let at = 0;
  for (const n of recv.lengths) {
    places.push(part(whole, at, n));
    at += n;
  }
  s.sendRemote(0, send);
  if (s.rank === 0) places.forEach((place, i) => void s.recvRemote(i, place));
  s.next();
  bcastLocal(s, whole);
  s.next();
  places.forEach((place, i) => void s.copy(place, blockOf(recv, i)));
}

/** Every process exchanges with every one of the other group. */
export function alltoall(s: Schedule, send: Blocks, recv: Blocks): void {
  const q = send.lengths.length;
  for (let k = 0; k < q; k++) s.recvRemote((s.rank + k) % q, blockOf(recv, (s.rank + k) % q));
  for (let k = 0; k < q; k++) s.sendRemote((s.rank + k) % q, blockOf(send, (s.rank + k) % q));
}

/** @param mine how the other group's result is shared in this one: bytes by rank */
export function reduceScatter(s: Schedule, send: Buf, recv: Buf, mine: readonly number[], r: Reduction): void {
  const own = s.rank === 0 ? s.scratch(send.bytes) : undefined;
  const their = s.rank === 0 ? s.scratch(mine.reduce((a, b) => a + b, 0)) : undefined;
  reduceBinomial(s, send, own, r, 0);
  s.next();
  if (!own || !their) {
    s.recv(0, recv);
    return;
  }
  s.sendRemote(0, own).recvRemote(0, their).next();
  let at = mine[0]!;
  s.copy(part(their, 0, at), recv);
  for (let i = 1; i < s.size; i++) {
    s.send(i, part(their, at, mine[i]!));
    at += mine[i]!;
  }
}
