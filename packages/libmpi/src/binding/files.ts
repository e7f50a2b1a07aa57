/**
 * Files (MPI 4.1 §14.2, §14.3, §14.6, §14.7): opening and closing, views, pointers, what a file says of itself. Reading
 * and writing: files-access.ts.
 */
import { COMM_SELF, ERR, externalSize, files, requests, types, type Outcome } from '@mayfly/mpi';
import { newGroup } from './communicators.ts';
import { bindDatarep, datarepOf, viewRefusal } from './datareps.ts';
import { record, type Implementation, type Implementations } from './define.ts';
import { errhandlerHandle, errhandlerNumber, errorName } from './environment.ts';
import { Kind, Null, handleOf, numberOf } from './handles.ts';
import type { Core } from './core.ts';
import type { BindingState } from './state.ts';

const MAX_DATAREP_STRING = 128;
const BUILTIN = ['native', 'internal', 'external32'];

/** The layer's record of a file. @throws MPIError ERR_FILE, for the handler of MPI_FILE_NULL */
export function fileOf(core: Core, handle: number): files.FileRecord {
  const n = handle === Null.FILE ? 0 : numberOf(Kind.FILE, handle);
  return files.fileOf(core.layer, Math.max(n, 0), core.call);
}

/** A call whose request answers with a number, or with nothing. */
export function asking(
  core: Core,
  name: string,
  start: (...args: number[]) => number,
  end: (result: number, args: number[]) => void = () => undefined,
): Implementation {
  return {
    start: (...args) => {
      const request = start(...args);
      if (request !== 0) return record(name, request, args);
      end(0, args);
      return ERR.SUCCESS;
    },
    finish: (r) => {
      const outcome: Outcome = requests.wait(core.layer, r.request);
      if (outcome.error) {
        const known = core.layer.state.comms.rows.get(outcome.comm)?.file !== undefined;
        throw core.failed(outcome.error, known ? outcome.comm : files.FILE_NULL);
      }
      end(outcome.result, r.at);
      return ERR.SUCCESS;
    },
  };
}

export function fileFunctions(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const n = (fh: number): number => fileOf(core, fh).handle;
  const info = (): Map<number, Map<string, string>> => (core.state.fileInfo ??= new Map());
  const datareps = (): NonNullable<BindingState['datareps']> => (core.state.datareps ??= new Map());
  const hints = (handle: number, given: number): void => {
    const entries = core.info(given);
    if (!entries) return;
    const own = info().get(handle) ?? new Map<string, string>();
    for (const [k, v] of entries) own.set(k, v);
    info().set(handle, own);
  };
  /** A handle for a type of a view, for the program to free. */
  const typeHandle = (t: types.TypeRecord): number => {
    if (t.handle < types.FIRST_DERIVED) return core.typeHandle(t.handle);
    const table = layer.state.types;
    const handle = table.next++;
    table.rows.set(handle, { ...t, handle, attributes: new Map() });
    return core.typeHandle(handle);
  };
  const errhandlerOf = (fh: number): number =>
    fh === Null.FILE ? layer.state.files.errhandler : layer.state.comms.rows.get(fileOf(core, fh).comm)!.errhandler;

  return {
    File_open: asking(
      core,
      'File_open',
      (comm, name, amode, given, at) => {
        heap.check(at!, 4, 'fh');
        core.info(given!);
        const c = core.comm(comm!);
        if (c.remote) core.fail(ERR.COMM, 'the communicator is an intercommunicator', c.handle);
        return files.open(layer, c.handle, heap.string(name!, 'filename'), amode!);
      },
      (file, [, , , given, at]) => {
        hints(file, given!);
        heap.setInt(at!, handleOf(Kind.FILE, file), 'fh');
      },
    ),
    File_close: asking(
      core,
      'File_close',
      (at) => files.close(layer, n(heap.int(at!, 'fh'))),
      (_, [at]) => {
        info().delete(numberOf(Kind.FILE, heap.int(at!, 'fh')));
        heap.setInt(at!, Null.FILE, 'fh');
      },
    ),
    File_delete: asking(core, 'File_delete', (name, given) => {
      core.info(given!);
      return files.remove(layer, heap.string(name!, 'filename'), COMM_SELF);
    }),
    File_get_size: asking(
      core,
      'File_get_size',
      (fh, at) => (heap.check(at!, 8, 'size'), files.size(layer, n(fh!))),
      (size, [, at]) => heap.setWide(at!, size, 'size'),
    ),
    File_set_size: asking(core, 'File_set_size', (fh, size) => files.resize(layer, n(fh!), size!, false)),
    File_preallocate: asking(core, 'File_preallocate', (fh, size) => files.resize(layer, n(fh!), size!, true)),
    File_sync: asking(core, 'File_sync', (fh) => files.sync(layer, n(fh!))),
    File_set_atomicity: asking(core, 'File_set_atomicity', (fh, flag) => files.setAtomicity(layer, n(fh!), flag !== 0)),
    File_get_atomicity: (fh: number, at: number) =>
      success(() => heap.setInt(at, fileOf(core, fh).atomic ? 1 : 0, 'flag')),
    File_get_amode: (fh: number, at: number) => success(() => heap.setInt(at, fileOf(core, fh).amode, 'amode')),
    File_get_group: (fh: number, at: number) =>
      success(() => newGroup(core, at, layer.state.comms.rows.get(fileOf(core, fh).comm)!.group)),
    File_get_info: (fh: number, at: number) =>
      success(() =>
        heap.setInt(heap.check(at, 4, 'info_used'), core.newInfo(info().get(n(fh)) ?? new Map()), 'info_used'),
      ),
    File_set_info: (fh: number, given: number) => success(() => hints(n(fh), given)),

    File_set_view: asking(core, 'File_set_view', (fh, disp, etype, filetype, name, given) => {
      const file = fileOf(core, fh!);
      const datarep = heap.string(name!, 'datarep', MAX_DATAREP_STRING);
      const e = core.committed(etype!, file.comm);
      const f = core.committed(filetype!, file.comm);
      hints(file.handle, given!);
      const own = datarepOf(core, datarep);
      return files.setView(layer, file.handle, {
        disp: disp!,
        etype: e,
        filetype: f,
        datarep,
        own: own && (viewRefusal(core, own, e, f) ?? true),
      });
    }),
    File_get_view: (fh: number, disp: number, etype: number, filetype: number, datarep: number) =>
      success(() => {
        const file = fileOf(core, fh);
        heap.setWide(disp, file.disp, 'disp');
        heap.check(etype, 4, 'etype');
        heap.check(filetype, 4, 'filetype');
        heap.setInt(etype, typeHandle(file.etype), 'etype');
        heap.setInt(filetype, typeHandle(file.filetype), 'filetype');
        heap.setString(datarep, file.datarep, MAX_DATAREP_STRING, 'datarep');
      }),
    File_get_type_extent: (fh: number, type: number, at: number) =>
      success(() => {
        const file = fileOf(core, fh);
        const t = core.type(type, file.comm);
        heap.setCount(
          at,
          file.datarep === 'external32' && t.handle < types.FIRST_DERIVED ? externalSize(t) : t.layout.extent,
          'extent',
        );
      }),
    Register_datarep: (name: number, read: number, write: number, extent: number, extra: number) =>
      success(() => {
        const datarep = heap.string(name, 'datarep', MAX_DATAREP_STRING + 1);
        if (datarep.length >= MAX_DATAREP_STRING || datarep === '')
          core.fail(
            ERR.ARG,
            `a data representation's name has 1 to ${MAX_DATAREP_STRING - 1} characters`,
            files.FILE_NULL,
          );
        if (BUILTIN.includes(datarep) || datareps().has(datarep))
          core.fail(ERR.DUP_DATAREP, `data representation '${datarep}' is defined already`, files.FILE_NULL);
        datareps().set(datarep, { read, write, extent, extra, large: heap.large });
        bindDatarep(core, datarep);
      }),

    File_seek: asking(core, 'File_seek', (fh, offset, whence) => files.seek(layer, n(fh!), offset!, whence!)),
    File_seek_shared: asking(core, 'File_seek_shared', (fh, offset, whence) =>
      files.seekShared(layer, n(fh!), offset!, whence!),
    ),
    File_get_position: (fh: number, at: number) =>
      success(() => {
        const file = fileOf(core, fh);
        if ((file.amode & files.Amode.SEQUENTIAL) !== 0)
          core.fail(ERR.UNSUPPORTED_OPERATION, 'the file was opened with MPI_MODE_SEQUENTIAL', file.comm);
        heap.setWide(at, file.position, 'offset');
      }),
    File_get_position_shared: asking(
      core,
      'File_get_position_shared',
      (fh, at) => (heap.check(at!, 8, 'offset'), files.positionShared(layer, n(fh!))),
      (position, [, at]) => heap.setWide(at!, position, 'offset'),
    ),
    File_get_byte_offset: (fh: number, offset: number, at: number) =>
      success(() => {
        const file = fileOf(core, fh);
        if (offset < 0) core.fail(ERR.ARG, `offset ${offset} is negative`, file.comm);
        heap.setWide(at, files.byteOffset(file, offset * file.etype.layout.size), 'disp');
      }),

    File_set_errhandler: (fh: number, errhandler: number) =>
      success(() => {
        const number = errhandlerNumber(core, errhandler);
        if (fh === Null.FILE) layer.state.files.errhandler = number;
        else layer.state.comms.rows.get(fileOf(core, fh).comm)!.errhandler = number;
      }),
    File_get_errhandler: (fh: number, at: number) =>
      success(() => heap.setInt(at, errhandlerHandle(errhandlerOf(fh)), 'errhandler')),
    File_call_errhandler: (fh: number, code: number) =>
      success(
        () =>
          void core.handle(errhandlerOf(fh), fh, code, `error ${code} raised by the program: ${errorName(core, code)}`),
      ),
  };
}
