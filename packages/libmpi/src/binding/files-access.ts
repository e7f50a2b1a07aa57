/** Reading and writing files (MPI 4.1 §14.4): every form of the two, by where the data lie and by how the call ends. */
import { ERR, LINEAR, externalSize, files, requests, toExternal, type Buf, type types } from '@mayfly/mpi';
import { converted, datarepOf, viewRefusal } from './datareps.ts';
import { record, type Implementation, type Implementations } from './define.ts';
import { fileOf } from './files.ts';
import { newSlot } from './slots.ts';
import type { Bundle, Core } from './core.ts';

type By = files.How['by'];

export function fileAccess(core: Core): Implementations {
  const { layer, heap } = core;

  /** The packed elements, in the representation of the file. */
  function place(
    bundle: Bundle,
    file: files.FileRecord,
    write: boolean,
    address: number,
    count: number,
    t: types.TypeRecord,
  ): Buf {
    const own = datarepOf(core, file.datarep);
    if (own && (write ? own.write : own.read) !== 0) {
      const a = core.checkPlace(address, count, t, file.comm, 'buf');
      const refused = viewRefusal(core, own, t);
      if (refused !== undefined)
        core.fail(ERR.UNSUPPORTED_DATAREP, `data representation '${file.datarep}': ${refused}`, file.comm);
      const room = core.room(bundle, t.layout.size * count);
      if (write) converted(core, own, t, count, a, room, file.comm);
      else bundle.unpack.push({ layout: t.layout, count, from: room, address: a, external: t, datarep: file.datarep });
      return room;
    }
    if (file.datarep !== 'external32')
      return write
        ? core.outgoing(bundle, address, count, t, file.comm, 'buf')
        : core.incoming(bundle, address, count, t, file.comm, 'buf');
    if (externalSize(t) !== t.layout.size)
      core.fail(
        ERR.UNSUPPORTED_DATAREP,
        'types that have another length in external32 (MPI_AINT, MPI_WCHAR) are not supported in files of it',
        file.comm,
      );
    const a = core.checkPlace(address, count, t, file.comm, 'buf');
    const room = core.room(bundle, t.layout.size * count);
    if (write) {
      const native = new Uint8Array(room.bytes);
      layer.memory.pack(t.layout, count, LINEAR, a, native);
      toExternal(t, count, native, layer.memory.view(room));
    } else bundle.unpack.push({ layout: t.layout, count, from: room, address: a, external: t });
    return room;
  }

  /** Starts an access. Arguments as in the call: fh, (offset,) buf, count, datatype. */
  function launch(
    write: boolean,
    by: By,
    args: readonly number[],
  ): { request: number; file: files.FileRecord; from: number } {
    const file = fileOf(core, args[0]!);
    const how: files.How = by === 'offset' ? { by, offset: args[1]! } : { by };
    const [address, count, type] = args.slice(by === 'offset' ? 2 : 1) as [number, number, number];
    core.count(count, file.comm);
    const t = core.committed(type, file.comm);
    files.checkAccess(file, write, how, t.layout.size * count, core.call);
    const from = file.position;
    const request = core.begin((bundle) =>
      files.access(layer, file.handle, write, how, place(bundle, file, write, address, count, t), core.call),
    );
    return { request, file, from };
  }

  const status = (at: number): void => void (at !== 0 && heap.check(at, 32, 'status'));

  const blocking = (name: string, write: boolean, by: By): Implementation => ({
    start: (...args) => {
      status(args[args.length - 1]!);
      const { request, file, from } = launch(write, by, args);
      return record(name, request, [args[args.length - 1]!, file.handle, from]);
    },
    finish: (r) => {
      const [to, handle, from] = r.at as [number, number, number];
      const outcome = requests.wait(layer, r.request);
      // At the end of the file the pointer goes no further than what was there.
      const file = layer.state.files.files.rows.get(handle);
      if (!write && by === 'pointer' && file)
        file.position = from + Math.floor(outcome.status.bytes / file.etype.layout.size);
      core.setStatus(to, outcome.status);
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      return ERR.SUCCESS;
    },
  });

  const immediate =
    (write: boolean, by: By): ((...args: number[]) => number) =>
    (...args) => {
      const at = heap.check(args[args.length - 1]!, 4, 'request');
      heap.setInt(at, newSlot(core, launch(write, by, args).request), 'request');
      return ERR.SUCCESS;
    };

  const begin =
    (call: string, write: boolean, by: By): ((...args: number[]) => number) =>
    (...args) => {
      const file = fileOf(core, args[0]!);
      if (file.split)
        core.fail(
          ERR.IO,
          `${file.split.call} is under way on this file: one split collective operation at a time`,
          file.comm,
        );
      file.split = { request: launch(write, by, args).request, call: `MPI_File_${call}_begin` };
      return ERR.SUCCESS;
    };
  const end = (call: string): Implementation => ({
    start: (fh, _buf, to) => {
      const file = fileOf(core, fh!);
      status(to!);
      if (file.split?.call !== `MPI_File_${call}_begin`)
        core.fail(
          ERR.IO,
          file.split ? `${file.split.call} is under way` : `MPI_File_${call}_begin was not called`,
          file.comm,
        );
      return record(`File_${call}_end`, file.split!.request, [file.handle, to!]);
    },
    finish: (r) => {
      const outcome = requests.wait(layer, r.request);
      layer.state.files.files.rows.get(r.at[0]!)!.split = undefined;
      core.setStatus(r.at[1]!, outcome.status);
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      return ERR.SUCCESS;
    },
  });

  const out: Implementations = {};
  for (const [verb, write] of [
    ['read', false],
    ['write', true],
  ] as const) {
    for (const [suffix, by] of [
      ['', 'pointer'],
      ['_all', 'pointer'],
      ['_at', 'offset'],
      ['_at_all', 'offset'],
      ['_shared', 'shared'],
      ['_ordered', 'order'],
    ] as const) {
      const name = `${verb}${suffix}`;
      out[`File_${name}`] = blocking(`File_${name}`, write, by);
      if (by !== 'order') out[`File_i${name}`] = immediate(write, by);
      if (suffix.endsWith('_all') || by === 'order') {
        out[`File_${name}_begin`] = begin(name, write, by);
        out[`File_${name}_end`] = end(name);
      }
    }
  }
  return out;
}
