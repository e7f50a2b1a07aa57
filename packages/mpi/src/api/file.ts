/** Files of the API (MPI 4.1 chapter 14). Offsets and pointers count elements of the view; without a view, bytes. */
import { COMM_SELF } from '../constants.ts';
import { ERR, fail } from '../errors.ts';
import * as bundles from '../bundle.ts';
import * as files from '../files/index.ts';
import * as requests from '../requests.ts';
import * as types from '../types/index.ts';
import { contextOf, Held } from './held.ts';
import { hints } from './caching.ts';
import { CommObject } from './comm.ts';
import { describe } from './context.ts';
import { DatatypeObject, ElementsObject, place } from './datatype.ts';
import { GroupObject } from './group.ts';
import { RequestObject } from './status.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

const MODES: Readonly<Record<string, number>> = {
  r: files.Amode.RDONLY,
  w: files.Amode.WRONLY | files.Amode.CREATE,
  rw: files.Amode.RDWR | files.Amode.CREATE,
};

export class FileObject extends Held implements Mayfly.File {
  private groupObject: GroupObject | undefined;

  private constructor(
    context: Context,
    readonly handle: number,
    readonly name: string,
  ) {
    super(context);
  }

  static open(
    context: Context,
    comm: Mayfly.Comm,
    name: string,
    mode: number | string = 'r',
    info?: Mayfly.Info,
  ): FileObject {
    const call = 'MPI_File_open';
    return context.call(() => {
      if (!(comm instanceof CommObject)) return fail(ERR.COMM, call, `the communicator is ${describe(comm)}`);
      const amode =
        typeof mode === 'number'
          ? mode
          : (MODES[mode] ??
            fail(ERR.AMODE, call, `mode '${mode}' is none of 'r', 'w', 'rw', nor a sum of MODE_…`, files.FILE_NULL));
      const given = hints(info, call, files.FILE_NULL);
      const o = requests.wait(context.layer, files.open(context.layer, comm.handle, String(name), amode, call));
      // Errors of opening are not the communicator's.
      if (o.error) throw context.failed(o.error, files.FILE_NULL);
      if (given) files.fileOf(context.layer, o.result, call).info = given;
      return new FileObject(context, o.result, String(name));
    });
  }
  static delete(context: Context, name: string): void {
    context.call(() => {
      const o = requests.wait(context.layer, files.remove(context.layer, String(name), COMM_SELF));
      if (o.error) throw context.failed(o.error, files.FILE_NULL);
    });
  }

  private record(call: string): files.FileRecord {
    return files.fileOf(contextOf(this).layer, this.handle, call);
  }
  /** A call whose request answers with a number. */
  private ask(start: () => number): number {
    return contextOf(this).call(() => {
      const request = start();
      if (request === 0) return 0;
      const o = requests.wait(contextOf(this).layer, request);
      if (o.error) throw contextOf(this).failed(o.error, o.comm);
      return o.result;
    });
  }

  get amode(): number {
    return contextOf(this).call(() => this.record('MPI_File_get_amode').amode);
  }
  get group(): Mayfly.Group {
    return contextOf(this).call(() => {
      const { group } = contextOf(this).layer.state.comms.rows.get(this.record('MPI_File_get_group').comm)!;
      if (!this.groupObject || !contextOf(this).layer.state.groups.rows.has(this.groupObject.handle))
        this.groupObject = GroupObject.make(contextOf(this), [...group]);
      return this.groupObject;
    });
  }
  get info(): Mayfly.Info {
    return contextOf(this).call(() => Object.fromEntries(this.record('MPI_File_get_info').info ?? []));
  }
  setInfo(info: Mayfly.Info): void {
    const call = 'MPI_File_set_info';
    contextOf(this).call(() => {
      const file = this.record(call);
      file.info = new Map([...(file.info ?? []), ...(hints(info, call, file.comm) ?? [])]);
    });
  }
  close(): void {
    this.ask(() => files.close(contextOf(this).layer, this.handle));
  }

  // ── size, pointers, views

  get size(): number {
    return this.ask(() => files.size(contextOf(this).layer, this.handle));
  }
  setSize(bytes: number): void {
    this.ask(() => files.resize(contextOf(this).layer, this.handle, this.whole(bytes, 'MPI_File_set_size'), false));
  }
  preallocate(bytes: number): void {
    this.ask(() => files.resize(contextOf(this).layer, this.handle, this.whole(bytes, 'MPI_File_preallocate'), true));
  }
  sync(): void {
    this.ask(() => files.sync(contextOf(this).layer, this.handle));
  }
  get atomicity(): boolean {
    return contextOf(this).call(() => this.record('MPI_File_get_atomicity').atomic);
  }
  setAtomicity(flag: boolean): void {
    this.ask(() => files.setAtomicity(contextOf(this).layer, this.handle, flag));
  }
  get position(): number {
    return contextOf(this).call(() => this.record('MPI_File_get_position').position);
  }
  seek(offset: number, whence: number = files.Seek.SET): void {
    this.ask(() => files.seek(contextOf(this).layer, this.handle, this.whole(offset, 'MPI_File_seek'), whence));
  }
  get positionShared(): number {
    return this.ask(() => files.positionShared(contextOf(this).layer, this.handle));
  }
  seekShared(offset: number, whence: number = files.Seek.SET): void {
    this.ask(() =>
      files.seekShared(contextOf(this).layer, this.handle, this.whole(offset, 'MPI_File_seek_shared'), whence),
    );
  }
  byteOffset(offset: number): number {
    return contextOf(this).call(() => {
      const f = this.record('MPI_File_get_byte_offset');
      return files.byteOffset(f, this.whole(offset, 'MPI_File_get_byte_offset') * f.etype.layout.size);
    });
  }

  setView(disp: number, element: Mayfly.TypeLike = Uint8Array, pattern?: Mayfly.FilePattern | Mayfly.Datatype): void {
    const call = 'MPI_File_set_view';
    this.ask(() => {
      const { layer } = contextOf(this);
      this.record(call);
      const etype = DatatypeObject.of(contextOf(this), element, call).record(call);
      let filetype = pattern instanceof DatatypeObject ? pattern.record(call) : etype;
      if (pattern && !(pattern instanceof DatatypeObject)) {
        const { blocks, extent } = pattern as Mayfly.FilePattern;
        const made = types.indexed(
          layer,
          blocks.map(([, n]) => this.whole(n, call)),
          blocks.map(([at]) => this.whole(at, call)),
          etype.handle,
          false,
        );
        const sized = types.resized(layer, made, 0, this.whole(extent, call) * etype.layout.extent);
        filetype = types.typeOf(layer, sized, call);
        // The file keeps what it needs.
        types.free(layer, made);
        types.free(layer, sized);
      }
      return files.setView(
        layer,
        this.handle,
        { disp: this.whole(disp, call), etype, filetype, datarep: 'native' },
        call,
      );
    });
  }
  private whole(x: unknown, call: string): number {
    if (typeof x === 'number' && Number.isSafeInteger(x)) return x;
    return fail(
      ERR.ARG,
      call,
      `${String(x)} is not a whole number`,
      contextOf(this).layer.state.files.files.rows.get(this.handle)?.comm ?? files.FILE_NULL,
    );
  }

  // ── access

  private begin(call: string, write: boolean, how: files.How, buf: Mayfly.Data): { request: number; unit: number } {
    const { layer } = contextOf(this);
    const file = this.record(call);
    let unit = 1;
    const request = bundles.begin(layer, (b) => {
      const { place: p, element } = place(contextOf(this), b, buf, call, file.comm);
      unit = buf instanceof ElementsObject ? Math.max(p.layout.size, 1) : element!.bytes;
      const packed = (write ? bundles.outgoing : bundles.both)(layer, b, p);
      files.checkAccess(file, write, how, packed.bytes, call);
      return files.access(layer, this.handle, write, how, packed, call);
    });
    return { request, unit };
  }
  private now(call: string, write: boolean, how: files.How, buf: Mayfly.Data): number {
    return contextOf(this).call(() => {
      const file = this.record(call);
      const from = file.position;
      const { request, unit } = this.begin(call, write, how, buf);
      const o = requests.wait(contextOf(this).layer, request);
      // At the end of the file the pointer goes no further than what was there.
      if (!write && how.by === 'pointer') file.position = from + Math.floor(o.status.bytes / file.etype.layout.size);
      if (o.error) throw contextOf(this).failed(o.error, o.comm);
      return Math.floor(o.status.bytes / unit);
    });
  }
  private later(call: string, write: boolean, how: files.How, buf: Mayfly.Data): Mayfly.Request {
    return contextOf(this).call(() => new RequestObject(contextOf(this), this.begin(call, write, how, buf).request));
  }
  private at(offset: number, call: string): files.How {
    return { by: 'offset', offset: contextOf(this).call(() => this.whole(offset, call)) };
  }

  read(buf: Mayfly.Data): number {
    return this.now('MPI_File_read', false, { by: 'pointer' }, buf);
  }
  write(buf: Mayfly.Data): number {
    return this.now('MPI_File_write', true, { by: 'pointer' }, buf);
  }
  readAll(buf: Mayfly.Data): number {
    return this.now('MPI_File_read_all', false, { by: 'pointer' }, buf);
  }
  writeAll(buf: Mayfly.Data): number {
    return this.now('MPI_File_write_all', true, { by: 'pointer' }, buf);
  }
  readAt(buf: Mayfly.Data, offset: number): number {
    return this.now('MPI_File_read_at', false, this.at(offset, 'MPI_File_read_at'), buf);
  }
  writeAt(buf: Mayfly.Data, offset: number): number {
    return this.now('MPI_File_write_at', true, this.at(offset, 'MPI_File_write_at'), buf);
  }
  readAtAll(buf: Mayfly.Data, offset: number): number {
    return this.now('MPI_File_read_at_all', false, this.at(offset, 'MPI_File_read_at_all'), buf);
  }
  writeAtAll(buf: Mayfly.Data, offset: number): number {
    return this.now('MPI_File_write_at_all', true, this.at(offset, 'MPI_File_write_at_all'), buf);
  }
  readShared(buf: Mayfly.Data): number {
    return this.now('MPI_File_read_shared', false, { by: 'shared' }, buf);
  }
  writeShared(buf: Mayfly.Data): number {
    return this.now('MPI_File_write_shared', true, { by: 'shared' }, buf);
  }
  readOrdered(buf: Mayfly.Data): number {
    return this.now('MPI_File_read_ordered', false, { by: 'order' }, buf);
  }
  writeOrdered(buf: Mayfly.Data): number {
    return this.now('MPI_File_write_ordered', true, { by: 'order' }, buf);
  }
  iread(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iread', false, { by: 'pointer' }, buf);
  }
  iwrite(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iwrite', true, { by: 'pointer' }, buf);
  }
  ireadAt(buf: Mayfly.Data, offset: number): Mayfly.Request {
    return this.later('MPI_File_iread_at', false, this.at(offset, 'MPI_File_iread_at'), buf);
  }
  iwriteAt(buf: Mayfly.Data, offset: number): Mayfly.Request {
    return this.later('MPI_File_iwrite_at', true, this.at(offset, 'MPI_File_iwrite_at'), buf);
  }
  ireadAll(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iread_all', false, { by: 'pointer' }, buf);
  }
  iwriteAll(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iwrite_all', true, { by: 'pointer' }, buf);
  }
  ireadAtAll(buf: Mayfly.Data, offset: number): Mayfly.Request {
    return this.later('MPI_File_iread_at_all', false, this.at(offset, 'MPI_File_iread_at_all'), buf);
  }
  iwriteAtAll(buf: Mayfly.Data, offset: number): Mayfly.Request {
    return this.later('MPI_File_iwrite_at_all', true, this.at(offset, 'MPI_File_iwrite_at_all'), buf);
  }
  ireadShared(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iread_shared', false, { by: 'shared' }, buf);
  }
  iwriteShared(buf: Mayfly.Data): Mayfly.Request {
    return this.later('MPI_File_iwrite_shared', true, { by: 'shared' }, buf);
  }
}

/** Opening and deleting, and the constants, as the module exports them. */
export function fileModule(
  context: Context,
): Pick<
  typeof Mayfly,
  | 'File'
  | 'MODE_RDONLY'
  | 'MODE_WRONLY'
  | 'MODE_RDWR'
  | 'MODE_CREATE'
  | 'MODE_EXCL'
  | 'MODE_APPEND'
  | 'MODE_DELETE_ON_CLOSE'
  | 'MODE_SEQUENTIAL'
  | 'MODE_UNIQUE_OPEN'
  | 'SEEK_SET'
  | 'SEEK_CUR'
  | 'SEEK_END'
> {
  const { Amode, Seek } = files;
  return {
    File: {
      open: (comm, name, mode, info) => FileObject.open(context, comm, name, mode, info),
      delete: (name) => FileObject.delete(context, name),
    },
    MODE_RDONLY: Amode.RDONLY,
    MODE_WRONLY: Amode.WRONLY,
    MODE_RDWR: Amode.RDWR,
    MODE_CREATE: Amode.CREATE,
    MODE_EXCL: Amode.EXCL,
    MODE_APPEND: Amode.APPEND,
    MODE_DELETE_ON_CLOSE: Amode.DELETE_ON_CLOSE,
    MODE_SEQUENTIAL: Amode.SEQUENTIAL,
    MODE_UNIQUE_OPEN: Amode.UNIQUE_OPEN,
    SEEK_SET: Seek.SET,
    SEEK_CUR: Seek.CUR,
    SEEK_END: Seek.END,
  };
}
