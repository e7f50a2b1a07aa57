/**
 * Data representations of the program (MPI 4.1 §14.5.3): its functions convert between the elements in its memory and
 * their bytes in the file, packed in the order of the type map. A write converts when it is called, a read when its
 * owner sees that it is complete. Every basic type has to be as long in the file as here.
 */
import { ERR, types, type Buf } from '@mayfly/mpi';
import type { Core } from './core.ts';
import type { Datarep } from './state.ts';

type TypeRecord = types.TypeRecord;

/** An older image says of a representation only whether it converts nothing. */
export const datarepOf = (core: Core, name: string): Datarep | undefined => {
  const d = core.state.datareps?.get(name);
  return typeof d === 'object' ? d : d === true ? { read: 0, write: 0, extent: 0, extra: 0, large: false } : undefined;
};

/** Gives the layer the function that converts what was read: after MPI_Register_datarep, and after a restore. */
export function bindDatarep(core: Core, name: string): void {
  const d = datarepOf(core, name);
  if (d && d.read !== 0)
    core.layer.conversions.set(name, (t, count, from, address) => convert(core, d, false, t, count, from, address));
}

/** What a representation makes of a view's types: why the view is refused, or nothing. */
export function viewRefusal(core: Core, d: Datarep, ...of: TypeRecord[]): string | undefined {
  if (d.extent === 0)
    return d.read === 0 && d.write === 0 ? undefined : 'it was registered without a function of extents';
  const basic = new Set<number>();
  for (const t of of) basics(t, basic);
  for (const handle of basic) {
    const { layout, name } = types.typeOf(core.layer, handle, core.call);
    let code = 0;
    const extent = core.lend(8, (at) => {
      code = Number(core.callback(d.extent, core.typeHandle(handle), at, d.extra));
      return core.heap.int(at, 'extent');
    });
    if (code !== ERR.SUCCESS) return `its function of extents answered ${code} for ${name}`;
    if (extent !== layout.extent && extent !== layout.size)
      return (
        `${name} has ${extent} bytes in it and ${layout.size} here: representations of another length are not ` +
        'supported'
      );
  }
  return undefined;
}

/** The predefined types that a type is made of. */
function basics(t: TypeRecord | number, into: Set<number>): void {
  const handle = typeof t === 'number' ? t : t.handle;
  if (handle < types.FIRST_DERIVED || typeof t === 'number') return void into.add(handle);
  if (t.contents.types.length === 0) return void into.add(t.predefined!);
  for (const of of t.contents.types) basics(of, into);
}

/** Elements for the file: they lie in `room`, converted. */
export function converted(
  core: Core,
  d: Datarep,
  t: TypeRecord,
  count: number,
  address: number,
  room: Buf,
  comm: number,
): void {
  if (d.write === 0) return core.packInto(t.layout, count, address, room);
  const bytes = new Uint8Array(room.bytes);
  const code = convert(core, d, true, t, count, bytes, address);
  if (code !== ERR.SUCCESS) core.fail(ERR.CONVERSION, `the function that converts for writing answered ${code}`, comm);
  core.layer.memory.view(room).set(bytes);
}

/** Calls the program's function with all elements at once. @returns what it answered */
function convert(
  core: Core,
  d: Datarep,
  write: boolean,
  t: TypeRecord,
  count: number,
  file: Uint8Array,
  address: number,
): number {
  if (count === 0) return ERR.SUCCESS;
  // What lies in linear memory is copied: taking room may make it grow.
  const bytes = write ? file : file.slice();
  return core.lend(Math.max(8, bytes.length), (at) => {
    if (!write) core.heap.bytes.set(bytes, at);
    const code = Number(
      core.callback(
        write ? d.write : d.read,
        address,
        core.typeHandle(t.handle),
        d.large ? BigInt(count) : count,
        at,
        0n,
        d.extra,
      ),
    );
    if (write && code === ERR.SUCCESS) file.set(core.heap.bytes.subarray(at, at + file.length));
    return code;
  });
}
