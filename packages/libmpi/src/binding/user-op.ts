/**
 * Reduction operations that are functions of the program (MPI 4.1 §6.9.5): invec[i] ∘ inoutvec[i] into inoutvec. The
 * layer has the operands packed, in the program's memory or in a scratch buffer of its own; the function wants them in
 * memory, laid out as the datatype says.
 */
import { DERIVED, LINEAR, isContiguous, span, start } from '@mayfly/mpi';
import type { Core } from './core.ts';

/** Gives the layer the function of an operation: after MPI_Op_create, and after a restore. */
export function bindOp(core: Core, op: number): void {
  const { index, large } = core.state.opFunctions.get(op)!;
  core.layer.opCallbacks.set(op, (input, inout, typeId) => apply(core, index, large, input, inout, typeId));
}

function apply(core: Core, index: number, large: boolean, input: Uint8Array, inout: Uint8Array, typeId: number): void {
  const { layer, heap, program } = core;
  const handle = typeId - DERIVED;
  // Not by core.type: the program may have freed its handle.
  const type = layer.state.types.rows.get(handle) ?? core.type(handle);
  const { layout } = type;
  const count = layout.size === 0 ? 0 : inout.length / layout.size;
  const inMemory = (v: Uint8Array): boolean =>
    v.buffer === program.memory.buffer && isContiguous(layout, count) && v.byteOffset % type.alignment === 0;
  const { from, to } = span(layout, count);
  const bytes = to - from;
  const room = (bytes + 15) & ~15;
  const direct = [inMemory(input), inMemory(inout)] as const;
  // Addresses, before the memory may grow and take the views away.
  const at = [input.byteOffset, inout.byteOffset] as const;
  const packed = [
    direct[0] ? input : copyOf(program.memory, input),
    direct[1] ? inout : copyOf(program.memory, inout),
  ] as const;
  const inoutLinear = inout.buffer === program.memory.buffer;

  core.lend(16 + 2 * room, (base) => {
    const places = [0, 1].map((i) => (direct[i]! ? at[i]! - start(layout) : base + 16 + i * room - from)) as [
      number,
      number,
    ];
    for (const i of [0, 1] as const) if (!direct[i]) layer.memory.unpack(layout, count, packed[i], LINEAR, places[i]);
    if (large) heap.setWide(base, count, 'len');
    else heap.setInt(base, count, 'len');
    heap.setInt(base + 8, core.typeHandle(handle), 'datatype');
    core.callback(index, places[0], places[1], base, base + 8);
    if (direct[1]) return;
    const out = inoutLinear ? heap.bytes.subarray(at[1], at[1] + layout.size * count) : inout;
    layer.memory.pack(layout, count, LINEAR, places[1], out);
  });
}

/** What lies in linear memory is copied: taking room may make the memory grow. */
const copyOf = (memory: WebAssembly.Memory, v: Uint8Array): Uint8Array => (v.buffer === memory.buffer ? v.slice() : v);
