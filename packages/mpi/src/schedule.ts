/**
 * Schedules: a collective is a list of rounds, a round a list of steps (sends, receives, copies, reductions), as libNBC
 * has it (Hoefler, Lumsdaine, Rehm 2007). The steps of a round are started in order, the next round when all receives
 * of this one are complete. It is plain data: it goes into an image between any two rounds.
 *
 * Sends complete at once (the Channel Memory is the buffer). Between one pair of ranks messages of a schedule are
 * matched in the order of their steps, so an algorithm must list them in the same order on both sides.
 */
import { taskId } from '@mayfly/wire';
import { ANY_SOURCE, COLLECTIVE, ERRORS_ABORT, ERRORS_ARE_FATAL, FAILED, FAILED_BY_LOSS, Mode } from './constants.ts';
import { NO_BYTES, part, type Buf } from './buffers.ts';
import { elements, elementType } from './datatypes.ts';
import { applyBuiltin } from './ops.ts';
import { applyCompound } from './ops-compound.ts';
import { brokenFor } from './failure/broken.ts';
import { complete, post } from './matching.ts';
import { executeFileStep } from './files/steps.ts';
import { makeComm } from './comm-make.ts';
import { countSend, scratch, type Layer } from './layer.ts';
import { ERR, MPIError } from './errors.ts';
import type { FileStep } from './files/state.ts';
import type { CollectiveRequest, CommRecord, NewComm, ReceiveRequest, Step, Via } from './state.ts';

/** Builds the schedule of one collective on one communicator. Peers are ranks here, tasks in the steps. */
export class Schedule {
  readonly rounds: Step[][] = [[]];
  /** Scratch and pinned spaces, let go with the request. */
  readonly spaces: number[] = [];
  readonly rank: number;
  readonly size: number;

  constructor(
    readonly layer: Layer,
    readonly comm: CommRecord,
    readonly call: string,
    whole?: Schedule,
  ) {
    this.rank = comm.rank;
    this.size = comm.group.length;
    if (!whole) return;
    this.rounds = whole.rounds;
    this.spaces = whole.spaces;
  }

  /**
   * The same schedule, for an algorithm that runs among some of the ranks: they are numbered as they stand here. Only
   * for a rank that is one of them.
   */
  among(ranks: readonly number[]): Schedule {
    const { layer, comm, call, rank } = this;
    const group = ranks.map((r) => comm.group[r]!);
    return new Schedule(layer, { ...comm, group, rank: ranks.indexOf(rank) }, call, this);
  }

  private add(step: Step): this {
    this.rounds[this.rounds.length - 1]!.push(step);
    return this;
  }
  /** Ends the round: what follows waits for its receives. */
  next(): this {
    if (this.rounds[this.rounds.length - 1]!.length > 0) this.rounds.push([]);
    return this;
  }
  scratch(bytes: number): Buf {
    const b = scratch(this.layer, bytes);
    this.spaces.push(b.space);
    return b;
  }
  /** Messages without bytes are sent too: a receive waits for each. */
  send(rank: number, from: Buf): this {
    return this.add({ op: 'send', peer: this.comm.group[rank]!, from });
  }
  recv(rank: number, into: Buf): this {
    return this.add({ op: 'recv', peer: this.comm.group[rank]!, into });
  }
  /**
   * To and from ranks of an intercommunicator's other group. The groups are disjoint: its messages are told from the
   * own group's by their source.
   */
  sendRemote(rank: number, from: Buf): this {
    return this.add({ op: 'send', peer: this.comm.remote![rank]!, from });
  }
  recvRemote(rank: number, into: Buf): this {
    return this.add({ op: 'recv', peer: this.comm.remote![rank]!, into });
  }
  /** To and from a task outside the communicator. @param via its context and tag */
  sendTask(task: number, from: Buf, via: Via): this {
    return this.add({ op: 'send', peer: task, from, via });
  }
  recvTask(task: number, into: Buf, via: Via): this {
    return this.add({ op: 'recv', peer: task, into, via });
  }
  /** To the task whose number (u32) stands in `to` by then. */
  answer(to: Buf, from: Buf, via: Via): this {
    return this.add({ op: 'answer', to, from, via });
  }
  copy(from: Buf, into: Buf): this {
    if (from.bytes === 0 || (from.space === into.space && from.offset === into.offset)) return this;
    return this.add({ op: 'copy', from, into });
  }
  /** into = from ∘ into (`from` of lower ranks). */
  reduce(r: Reduction, from: Buf, into: Buf): this {
    return from.bytes === 0 ? this : this.add({ op: 'reduce', fn: r.op, type: r.type, from, into });
  }
  /** into = into ∘ from; `from` is scratch and may be overwritten. */
  reduceRight(r: Reduction, from: Buf, into: Buf): this {
    if (from.bytes === 0) return this;
    return this.add(
      r.commute
        ? { op: 'reduce', fn: r.op, type: r.type, from, into }
        : { op: 'reduceRight', fn: r.op, type: r.type, from, into },
    );
  }
  file(step: FileStep): this {
    return this.add({ op: 'file', step });
  }
  makeComm(make: NewComm, from: Buf): this {
    return this.add({ op: 'comm', make, from });
  }
}

/** What to reduce with: handles of the operation and of the element type. */
export interface Reduction {
  op: number;
  type: number;
  commute: boolean;
  /** Bytes of one unit that must not be cut: an element, or a pair for MINLOC and MAXLOC. */
  unit: number;
}

/**
 * The number of the next collective on a communicator: its tag, the same at all processes, as they call them in one
 * order.
 */
export function nextCollective(comm: CommRecord): number {
  const number = comm.collectives;
  comm.collectives = (number + 1) & 0x7fff_ffff;
  return number;
}

/**
 * Of a persistent collective: its place among the collectives of its communicator is that of its initialization, not
 * those of its starts, whose order may differ from process to process (MPI 4.1 §6.13).
 */
export interface Series {
  /** The communicator, and the number there. */
  comm: number;
  number: number;
}
/** Takes the next place. */
export const newSeries = (comm: CommRecord): Series => ({ comm: comm.handle, number: nextCollective(comm) });

/** Starts a collective of a series (or anything that is of none). */
export function inSeries<T>(layer: Layer, series: Series | undefined, begin: () => T): T {
  const comm = series && layer.state.comms.rows.get(series.comm);
  if (!comm) return begin();
  const next = comm.collectives;
  comm.collectives = series.number;
  try {
    return begin();
  } finally {
    comm.collectives = next;
  }
}

/**
 * A collective whose counts do not fit each other at this process fails here before it has sent anything. It has its
 * place among the communicator's collectives all the same, and all others are told: those that wait for it fail too,
 * and the next collective meets the next one of the others. (A call with an argument that is none leaves no trace: it
 * may be called again with a right one.)
 */
export function withdraw(layer: Layer, comm: CommRecord): void {
  // The job ends.
  if (comm.errhandler === ERRORS_ARE_FATAL || comm.errhandler === ERRORS_ABORT) return;
  const tag = nextCollective(comm);
  for (const task of [...comm.group, ...(comm.remote ?? [])])
    if (task !== layer.device.task)
      layer.device.send(taskId(task), Mode.STANDARD, comm.context + COLLECTIVE, tag, FAILED, new Uint8Array(0));
}

/** Starts a built schedule as a request. */
export function start(schedule: Schedule): number {
  const { layer, comm } = schedule;
  const { requests } = layer.state;
  const handle = requests.next++;
  const r: CollectiveRequest = {
    kind: 'coll',
    handle,
    call: schedule.call,
    comm: comm.handle,
    done: false,
    freed: false,
    error: undefined,
    status: { source: ANY_SOURCE, tag: -1, bytes: 0, cancelled: false, object: false },
    spaces: schedule.spaces,
    parent: 0,
    unpack: undefined,
    context: comm.context + COLLECTIVE,
    tag: nextCollective(comm),
    rounds: schedule.rounds,
    round: 0,
    outstanding: 0,
    running: false,
    result: 0,
  };
  requests.rows.set(handle, r);
  // "Nonblocking operations … errors are postponed until the corresponding completion function": it ends at once.
  const error = brokenFor(layer, comm, schedule.call);
  if (error) r.error = error;
  runRounds(layer, handle);
  return handle;
}

/** A schedule of one rank takes no number of the communicator's collectives. */
export function startAlone(s: Schedule): number {
  const { collectives } = s.comm;
  const r = start(s);
  s.comm.collectives = collectives;
  return r;
}

/** Goes on with a collective as far as it gets without an arrival. Calls the device; never inside a poll. */
export function runRounds(layer: Layer, handle: number): void {
  const r = layer.state.requests.rows.get(handle);
  if (r?.kind !== 'coll' || r.done || r.running || r.outstanding > 0) return;
  if (r.error) return abandon(layer, r, []);
  while (r.outstanding === 0 && !r.done) {
    const round = r.rounds[r.round];
    if (!round) return complete(layer, r);
    // Steps that have been started are not needed again: the schedule in an image is only what is left.
    r.rounds[r.round++] = [];
    r.running = true;
    let i = 0;
    try {
      while (i < round.length && !r.done && !r.error) execute(layer, r, round[i++]!);
    } finally {
      r.running = false;
    }
    if (r.error && !r.done) return abandon(layer, r, round.slice(i));
  }
}

/**
 * A collective that has gone wrong here takes part no more, but those that wait for its messages are told, so that it
 * fails there too and nobody waits for ever: in place of what it still had to send go empty messages with the word
 * {@link FAILED}.
 */
function abandon(layer: Layer, r: CollectiveRequest, rest: readonly Step[]): void {
  const { errorClass } = r.error!;
  const lost = layer.state.failures?.lost ?? [];
  // All members hear of a revocation by themselves.
  for (const step of errorClass === ERR.REVOKED ? [] : [...rest, ...r.rounds.slice(r.round).flat()])
    if (step.op === 'send' && !lost.includes(step.peer))
      layer.device.send(
        taskId(step.peer),
        Mode.STANDARD,
        step.via?.context ?? r.context,
        step.via?.tag ?? r.tag,
        errorClass === ERR.PROC_FAILED ? FAILED_BY_LOSS : FAILED,
        new Uint8Array(0),
      );
  r.rounds.length = 0;
  complete(layer, r);
}

function execute(layer: Layer, r: CollectiveRequest, step: Step): void {
  const { memory } = layer;
  switch (step.op) {
    case 'send':
      countSend(layer, step.from.bytes, step.peer);
      return layer.device.send(
        taskId(step.peer),
        Mode.STANDARD,
        step.via?.context ?? r.context,
        step.via?.tag ?? r.tag,
        0,
        memory.view(step.from),
      );
    case 'answer': {
      const cell = memory.view(step.to);
      const to = taskId(new DataView(cell.buffer, cell.byteOffset).getUint32(0, true));
      countSend(layer, step.from.bytes, to);
      return layer.device.send(to, Mode.STANDARD, step.via.context, step.via.tag, 0, memory.view(step.from));
    }
    case 'recv': {
      const handle = layer.state.requests.next++;
      const child: ReceiveRequest = {
        kind: 'recv',
        handle,
        call: r.call,
        comm: r.comm,
        done: false,
        freed: false,
        error: undefined,
        status: r.status,
        spaces: [],
        parent: r.handle,
        unpack: undefined,
        context: step.via?.context ?? r.context,
        source: step.peer,
        tag: step.via?.tag ?? r.tag,
        into: step.into,
        body: undefined,
        unit: 1,
      };
      layer.state.requests.rows.set(handle, child);
      r.outstanding++;
      return post(layer, child);
    }
    case 'copy':
      memory.view(step.into).set(memory.view(step.from));
      return;
    case 'reduce':
      return combine(layer, step.fn, step.type, step.from, step.into);
    case 'reduceRight':
      // into ∘ from, computed in `from`, as the operation writes its right operand.
      combine(layer, step.fn, step.type, step.into, step.from);
      memory.view(step.into).set(memory.view(step.from));
      return;
    case 'file':
      return executeFileStep(layer, r, step.step);
    case 'comm':
      try {
        r.result = makeComm(layer, step.make, memory.view(step.from));
      } catch (e) {
        if (!(e instanceof MPIError)) throw e;
        r.error = { errorClass: e.errorClass, call: r.call, text: e.text };
        complete(layer, r);
      }
      return;
  }
}

/**
 * inout = input ∘ inout, elementwise. Views are taken here: a function of the program may have made the memory grow.
 */
export function combine(layer: Layer, op: number, typeId: number, inputBuf: Buf, inoutBuf: Buf): void {
  const builtin = layer.state.ops.rows.get(op)?.builtin;
  const input = layer.memory.view(inputBuf);
  const inout = layer.memory.view(inoutBuf);
  if (!builtin) {
    const fn = layer.opCallbacks.get(op);
    if (!fn) throw new Error(`the function of operation ${op} is not known to the binding`);
    layer.inCallback = true;
    try {
      return fn(input, inout, typeId);
    } finally {
      layer.inCallback = false;
    }
  }
  const type = elementType(typeId);
  if (type.kind !== 'integer' && type.kind !== 'float' && type.kind !== 'bigint')
    return applyCompound(builtin, type, input, inout);
  const a = elements(type, input);
  const b = elements(type, inout);
  applyBuiltin(builtin, type, a.array, b.array);
  if (b.copied) inout.set(new Uint8Array(b.array.buffer, b.array.byteOffset, b.array.byteLength));
}

/** Blocks of equal length, one per rank. */
export const block = (b: Buf, i: number, bytes: number): Buf => (bytes === 0 ? NO_BYTES : part(b, i * bytes, bytes));
