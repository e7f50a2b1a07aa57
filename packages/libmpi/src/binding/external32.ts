/** Packing in the data representation "external32" (MPI 4.1 §5.3). */
import { ERR, LINEAR, externalSize, fromExternal, toExternal, type types } from '@mayfly/mpi';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';

export function external(core: Core): Implementations {
  const { heap } = core;
  const representation = (at: number): void => {
    const name = heap.string(at, 'datarep', 128);
    if (name !== 'external32') core.fail(ERR.ARG, `datarep '${name}' is not 'external32'`);
  };
  const position = (at: number): number => (heap.large ? heap.count(at, 'position') : heap.int(at, 'position'));
  /** Checks the buffer and moves the position on. @returns the bytes */
  function place(buffer: number, size: number, at: number, bytes: number, what: string): Uint8Array {
    const from = position(at);
    if (from < 0 || from + bytes > size)
      core.fail(ERR.TRUNCATE, `${what} has ${size} bytes, from position ${from} on ${bytes} are needed`);
    const a = bytes > 0 ? heap.check(buffer, size, what) : buffer >>> 0;
    heap.setCount(at, from + bytes, 'position');
    return heap.bytes.subarray(a + from, a + from + bytes);
  }
  const typed = (type: number, count: number): types.TypeRecord => {
    core.count(count, 0);
    return core.committed(type, 0);
  };
  return {
    Pack_external: (
      datarep: number,
      input: number,
      count: number,
      type: number,
      output: number,
      size: number,
      at: number,
    ) => {
      representation(datarep);
      const t = typed(type, count);
      core.checkPlace(input, count, t, 0, 'inbuf');
      const native = new Uint8Array(t.layout.size * count);
      core.layer.memory.pack(t.layout, count, LINEAR, input >>> 0, native);
      toExternal(t, count, native, place(output, size, at, externalSize(t) * count, 'outbuf'));
      return ERR.SUCCESS;
    },
    Unpack_external: (
      datarep: number,
      input: number,
      size: number,
      at: number,
      output: number,
      count: number,
      type: number,
    ) => {
      representation(datarep);
      const t = typed(type, count);
      core.checkPlace(output, count, t, 0, 'outbuf');
      const native = new Uint8Array(t.layout.size * count);
      fromExternal(t, count, place(input, size, at, externalSize(t) * count, 'inbuf'), native);
      core.layer.memory.unpack(t.layout, count, native, LINEAR, output >>> 0);
      return ERR.SUCCESS;
    },
    Pack_external_size: (datarep: number, count: number, type: number, at: number) => {
      representation(datarep);
      heap.setCount(at, externalSize(typed(type, count)) * count, 'size');
      return ERR.SUCCESS;
    },
  };
}
