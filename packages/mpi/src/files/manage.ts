/**
 * Opening, closing and everything about a file that is no access (MPI 4.1 §14.2, §14.3, §14.6). Collective calls are
 * schedules on the file's own communicator: its rank 0 asks the file service, and tells the others what came of it.
 */
import { ResultPath } from '@mayfly/wire';
import { allreduceRecursiveDoubling } from '../collectives/allreduce-recursive-doubling.ts';
import { barrierDissemination } from '../collectives/barrier-dissemination.ts';
import { bcastBinomial } from '../collectives/bcast-binomial.ts';
import { intra } from '../checks.ts';
import { agreeOnContext } from '../contexts.ts';
import { UINT32 } from '../datatypes.ts';
import { ERR, MPIError, fail } from '../errors.ts';
import { externalSize } from '../external32.ts';
import { commOf, type Layer } from '../layer.ts';
import { opHandle } from '../ops.ts';
import { Schedule, start, startAlone } from '../schedule.ts';
import { setCell } from './steps.ts';
import { CELL_BYTES, type Ask, type FileRecord } from './state.ts';
import type { Buf } from '../buffers.ts';
import type { Layout } from '../layout.ts';
import type { TypeRecord } from '../types/index.ts';

export const Amode = {
  APPEND: 1,
  CREATE: 2,
  DELETE_ON_CLOSE: 4,
  EXCL: 8,
  RDONLY: 16,
  RDWR: 32,
  SEQUENTIAL: 64,
  UNIQUE_OPEN: 128,
  WRONLY: 256,
} as const;
const ALL_MODES = 511;
/** `comm` of an error without a file: it goes to the handler of MPI_FILE_NULL. */
export const FILE_NULL = -1;
export const DISPLACEMENT_CURRENT = -1;
export const Seek = { CUR: 401, END: 402, SET: 403 } as const;

const allowed = new RegExp((ResultPath as unknown as { pattern: string }).pattern);
/** Prefixes by which ROMIO's users name a file system. */
const FILE_SYSTEM = /^(ufs|nfs|xfs|pvfs2?|testfs|gpfs|panfs|lustre|daos|ime|quobyte|zoidfs|gridftp|file):/;
const text = new TextEncoder();

/** The file of a handle. @throws MPIError ERR_FILE */
export function fileOf(layer: Layer, handle: number, call: string): FileRecord {
  return (
    layer.state.files.files.rows.get(handle) ??
    fail(ERR.FILE, call, handle === 0 ? 'the file is MPI_FILE_NULL' : 'the file was closed', FILE_NULL)
  );
}

/**
 * The name among the job's files that a path means, by the same rule as for stdio: paths begin at the root, which is
 * also the working directory. A prefix that names a file system ("ufs:") is left out. Undefined: no file of a job can
 * have that name.
 */
export function jobFileName(path: string): string | undefined {
  const out: string[] = [];
  for (const p of path.replace(FILE_SYSTEM, '').split('/')) {
    if (p === '' || p === '.') continue;
    if (p === '..') out.pop();
    else out.push(p);
  }
  const name = out.join('/');
  return name.length > 0 && name.length <= 200 && allowed.test(name) ? name : undefined;
}

/** What is wrong with an access mode, or 0. */
function wrongMode(amode: number): number {
  const one = [Amode.RDONLY, Amode.RDWR, Amode.WRONLY].filter((m) => (amode & m) !== 0).length;
  if (one !== 1 || (amode & ~ALL_MODES) !== 0) return ERR.AMODE;
  if ((amode & Amode.RDONLY) !== 0 && (amode & (Amode.CREATE | Amode.EXCL)) !== 0) return ERR.AMODE;
  if ((amode & Amode.RDWR) !== 0 && (amode & Amode.SEQUENTIAL) !== 0) return ERR.AMODE;
  return 0;
}

/** All ranks know the greatest of everybody's error classes afterwards: a cell (error, 0, 0), written by `tell`. */
function agree(s: Schedule, own: number, same: Uint8Array | undefined): Buf {
  const { layer } = s;
  const flag = s.scratch(4);
  const put = (b: Buf, bytes: Uint8Array): void => layer.memory.view(b).set(bytes);
  new DataView(layer.memory.view(flag).buffer).setUint32(layer.memory.view(flag).byteOffset, own, true);
  if (same) {
    const mine = s.scratch(same.length);
    const root = s.scratch(same.length);
    put(mine, same);
    put(root, same);
    bcastBinomial(s, root, 0);
    s.next();
    s.file({ do: 'compare', own: mine, root, cell: flag }).next();
  }
  allreduceRecursiveDoubling(s, flag, { op: opHandle('MPI_MAX'), type: UINT32, commute: true, unit: 4 });
  s.next();
  const cell = s.scratch(CELL_BYTES);
  setCell(layer, cell, 0, 0, 0);
  s.file({ do: 'verdict', flag, cell }).next();
  return cell;
}

/** Rank 0 asks, everybody gets the answer's cell. */
function askAll(s: Schedule, q: { ask: Ask; session: number; path?: string; value?: number | Buf }, unless?: Buf): Buf {
  const cell = s.scratch(CELL_BYTES);
  if (s.rank === 0) s.file({ do: 'ask', path: '', value: 0, ...q, cell, unless }).next();
  bcastBinomial(s, cell, 0);
  s.next();
  return cell;
}

const digest = (...parts: (number | string)[]): Uint8Array => {
  // FNV-1a, twice with other beginnings: equal lengths for the comparison, whatever was given.
  const out = new Uint8Array(8);
  const bytes = text.encode(JSON.stringify(parts));
  [0x811c9dc5, 0x01234567].forEach((seed, i) => {
    let h = seed;
    for (const b of bytes) h = Math.imul(h ^ b, 0x01000193) >>> 0;
    new DataView(out.buffer).setUint32(4 * i, h, true);
  });
  return out;
};

/** [MPI_File_open] The request's result is the file's handle. @param path as the program gave it */
export function open(layer: Layer, comm: number, path: string, amode: number, call = 'MPI_File_open'): number {
  const c = intra(layer, comm, call);
  const s = new Schedule(layer, c, call);
  const name = jobFileName(path);
  const cell = agree(s, wrongMode(amode) || (name === undefined ? ERR.BAD_FILE : 0), digest(amode, name ?? ''));
  const context = agreeOnContext(s);
  const { group, remote, topology } = c;
  s.makeComm(
    { how: 'dup', comm, name: '', of: { group, remote, topology, errhandler: 2, attributes: new Map() } },
    context,
  ).next();
  const answer = askAll(s, { ask: 'open', session: 0, path: name ?? '', value: amode }, cell);
  s.file({ do: 'opened', cell: answer, path: name ?? path, amode });
  return start(s);
}

/** The schedule of a collective operation on a file. */
function on(layer: Layer, handle: number, call: string): { s: Schedule; file: FileRecord } {
  const file = fileOf(layer, handle, call);
  return { s: new Schedule(layer, commOf(layer, file.comm, call), call), file };
}

/** Every request on the file but complete ones that nobody has waited for. */
export function busy(layer: Layer, file: FileRecord): boolean {
  for (const r of layer.state.requests.rows.values())
    if (r.comm === file.comm && !r.done && r.parent === 0) return true;
  return false;
}

/** [MPI_File_close] */
export function close(layer: Layer, handle: number, call = 'MPI_File_close'): number {
  const { s, file } = on(layer, handle, call);
  if (file.split) fail(ERR.OTHER, call, `${file.split.call} has not been ended`, file.comm);
  if (busy(layer, file)) fail(ERR.OTHER, call, 'an operation on the file is not complete', file.comm);
  barrierDissemination(s);
  s.next();
  s.file({ do: 'closed', cell: askAll(s, { ask: 'close', session: file.session }), file: handle });
  return start(s);
}

/** [MPI_File_delete] Not collective: it goes over MPI_COMM_SELF. */
export function remove(layer: Layer, path: string, self: number, call = 'MPI_File_delete'): number {
  const name =
    jobFileName(path) ?? fail(ERR.BAD_FILE, call, `'${path}' cannot be the name of a file of the job`, FILE_NULL);
  const s = new Schedule(layer, commOf(layer, self, call), call);
  s.file({ do: 'result', cell: askAll(s, { ask: 'delete', session: 0, path: name }), what: `'${path}'` });
  return start(s);
}

const alone = (
  layer: Layer,
  handle: number,
  call: string,
): { s: Schedule; file: FileRecord; ask: (a: Ask, value?: number) => Buf } => {
  const { s, file } = on(layer, handle, call);
  return {
    s,
    file,
    ask(a, value = 0) {
      const cell = s.scratch(CELL_BYTES);
      s.file({ do: 'ask', ask: a, session: file.session, path: '', value, cell }).next();
      return cell;
    },
  };
};

/** [MPI_File_get_size] The result is the length in bytes. */
export function size(layer: Layer, handle: number, call = 'MPI_File_get_size'): number {
  const { s, file, ask } = alone(layer, handle, call);
  s.file({ do: 'result', cell: ask('size'), what: `'${file.path}'` });
  return startAlone(s);
}

/** [MPI_File_get_position_shared] */
export function positionShared(layer: Layer, handle: number, call = 'MPI_File_get_position_shared'): number {
  const { s, file, ask } = alone(layer, handle, call);
  s.file({ do: 'result', cell: ask('advance'), what: `'${file.path}'` });
  return startAlone(s);
}

/** [MPI_File_seek] Complete at once (0) unless the end of the file has to be asked for. */
export function seek(layer: Layer, handle: number, offset: number, whence: number, call = 'MPI_File_seek'): number {
  const file = fileOf(layer, handle, call);
  if ((file.amode & Amode.SEQUENTIAL) !== 0)
    fail(ERR.UNSUPPORTED_OPERATION, call, 'the file was opened with MPI_MODE_SEQUENTIAL', file.comm);
  if (whence === Seek.END) {
    const { s, ask } = alone(layer, handle, call);
    s.file({ do: 'seekEnd', cell: ask('size'), file: handle, offset, shared: undefined });
    return startAlone(s);
  }
  if (whence !== Seek.SET && whence !== Seek.CUR)
    fail(ERR.ARG, call, `whence ${whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END`, file.comm);
  const to = offset + (whence === Seek.CUR ? file.position : 0);
  if (to < 0) fail(ERR.ARG, call, `offset ${offset} leads before the beginning of the view`, file.comm);
  file.position = to;
  return 0;
}

/** [MPI_File_seek_shared] Collective; the arguments are the same everywhere. */
export function seekShared(
  layer: Layer,
  handle: number,
  offset: number,
  whence: number,
  call = 'MPI_File_seek_shared',
): number {
  const { s, file } = on(layer, handle, call);
  if (whence !== Seek.SET && whence !== Seek.CUR && whence !== Seek.END)
    fail(ERR.ARG, call, `whence ${whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END`, file.comm);
  if (whence === Seek.SET && offset < 0) fail(ERR.ARG, call, `offset ${offset} is negative`, file.comm);
  const verdict = agree(s, 0, digest(offset, whence));
  const from =
    whence === Seek.SET
      ? undefined
      : askAll(s, { ask: whence === Seek.END ? 'size' : 'advance', session: file.session }, verdict);
  const to = s.scratch(CELL_BYTES);
  setCell(layer, to, 0, offset, 0);
  if (from && whence === Seek.END) s.file({ do: 'seekEnd', cell: from, file: handle, offset, shared: to }).next();
  else if (from) s.file({ do: 'move', cell: from, offset, into: to }).next();
  const cell = askAll(
    s,
    { ask: 'seek', session: file.session, value: { ...to, offset: to.offset + 8, bytes: 8 } },
    from ? to : verdict,
  );
  s.file({ do: 'result', cell, what: `'${file.path}'` });
  return start(s);
}

/** [MPI_File_set_size, MPI_File_preallocate] */
export function resize(
  layer: Layer,
  handle: number,
  length: number,
  grow: boolean,
  call = grow ? 'MPI_File_preallocate' : 'MPI_File_set_size',
): number {
  const { s, file } = on(layer, handle, call);
  if (length < 0) fail(ERR.ARG, call, `size ${length} is negative`, file.comm);
  if ((file.amode & Amode.RDONLY) !== 0)
    fail(ERR.READ_ONLY, call, 'the file was opened with MPI_MODE_RDONLY', file.comm);
  const cell = askAll(
    s,
    { ask: grow ? 'preallocate' : 'resize', session: file.session, value: length },
    agree(s, 0, digest(length)),
  );
  s.file({ do: 'result', cell, what: `'${file.path}'` });
  return start(s);
}

/**
 * [MPI_File_sync] What was written is durable when its answer comes: what is left is that the others have come so far.
 */
export function sync(layer: Layer, handle: number, call = 'MPI_File_sync'): number {
  const { s } = on(layer, handle, call);
  barrierDissemination(s);
  return start(s);
}

/** [MPI_File_set_atomicity] */
export function setAtomicity(layer: Layer, handle: number, flag: boolean, call = 'MPI_File_set_atomicity'): number {
  const { s, file } = on(layer, handle, call);
  const cell = agree(s, 0, digest(flag ? 1 : 0));
  s.file({ do: 'result', cell, what: `'${file.path}'` }).file({ do: 'atomic', file: handle, flag });
  return start(s);
}

export interface View {
  disp: number;
  etype: TypeRecord;
  filetype: TypeRecord;
  datarep: string;
  /** A representation of the program: why it cannot be that of these types, or true. */
  own?: true | string | undefined;
}

const DATAREPS = ['native', 'internal', 'external32'];

/**
 * "The displacements in the typemap … must be nonnegative and monotonically nondecreasing", and without overlap where
 * the file may be written (§14.3).
 */
function checkOrder(file: FileRecord, l: Layout, what: string, call: string): void {
  const s = l.segments;
  for (let k = 0, last = 0, end = 0; k < s.length; k += 4) {
    const [at, bytes, count, stride] = [s[k]!, s[k + 1]!, s[k + 2]!, s[k + 3]!];
    if (at < last || stride < 0)
      fail(ERR.IO, call, `displacements of the ${what} are negative or go backwards`, file.comm);
    if ((file.amode & Amode.RDONLY) === 0 && (at < end || (count > 1 && stride < bytes)))
      fail(ERR.IO, call, `parts of the ${what} overlap, and the file may be written`, file.comm);
    last = at + (count - 1) * stride;
    end = last + bytes;
  }
}

function checkView(file: FileRecord, v: View, call: string): void {
  const sequential = (file.amode & Amode.SEQUENTIAL) !== 0;
  if (v.disp < 0 && !(sequential && v.disp === DISPLACEMENT_CURRENT))
    fail(
      ERR.ARG,
      call,
      `disp ${v.disp} is ` +
        `negative${v.disp === DISPLACEMENT_CURRENT ? '; MPI_DISPLACEMENT_CURRENT is for files of MPI_MODE_SEQUENTIAL' : ''}`,
      file.comm,
    );
  const e = v.etype.layout;
  const f = v.filetype.layout;
  if (e.size === 0) fail(ERR.ARG, call, 'the etype has no bytes', file.comm);
  if (f.size % e.size !== 0)
    fail(
      ERR.ARG,
      call,
      `the filetype has ${f.size} bytes, which is not a multiple of the etype's ${e.size}`,
      file.comm,
    );
  checkOrder(file, e, 'etype', call);
  checkOrder(file, f, 'filetype', call);
  if (typeof v.own === 'string')
    fail(ERR.UNSUPPORTED_DATAREP, call, `data representation '${v.datarep}': ${v.own}`, file.comm);
  if (!v.own && !DATAREPS.includes(v.datarep))
    fail(
      ERR.UNSUPPORTED_DATAREP,
      call,
      `data representation '${v.datarep}' is none of ${DATAREPS.join(', ')}`,
      file.comm,
    );
  if (v.datarep === 'external32' && (externalSize(v.etype) !== e.size || externalSize(v.filetype) !== f.size))
    fail(
      ERR.UNSUPPORTED_DATAREP,
      call,
      'types that have another length in external32 (MPI_AINT, MPI_WCHAR) are not supported in views',
      file.comm,
    );
}

/** [MPI_File_set_view] The pointers are at 0 afterwards. */
export function setView(layer: Layer, handle: number, v: View, call = 'MPI_File_set_view'): number {
  const { s, file } = on(layer, handle, call);
  if (file.split) fail(ERR.OTHER, call, `${file.split.call} has not been ended`, file.comm);
  let wrong: MPIError | undefined;
  try {
    checkView(file, v, call);
  } catch (e) {
    if (!(e instanceof MPIError)) throw e;
    // The error is everybody's: all learn of it, and this rank says what it is.
    wrong = e;
  }
  const verdict = agree(s, wrong?.errorClass ?? 0, digest(v.datarep, v.etype.layout.size));
  const current =
    v.disp === DISPLACEMENT_CURRENT ? askAll(s, { ask: 'advance', session: file.session }, verdict) : undefined;
  const cell = askAll(s, { ask: 'seek', session: file.session }, verdict);
  s.file({
    do: 'view',
    cell,
    file: handle,
    disp: v.disp,
    current,
    etype: v.etype,
    filetype: v.filetype,
    datarep: v.datarep,
    ...(wrong && { wrong: wrong.errorString.slice(call.length + 2) }),
  });
  return start(s);
}
