/**
 * Steps of schedules that have to do with files, and the answers of the file service. Keeps I1 of state.ts. Calls the
 * device when a step is executed, never when an answer arrives (device.ts, poll).
 */
import {
  FILES,
  FILE_BYTES,
  FILE_PIECES,
  FileOp,
  SpawnRefusal,
  WORLD,
  WorldMode,
  encodeFileRequest,
  fileValue,
  type Segments,
} from '@mayfly/wire';
import { part, type Buf } from '../buffers.ts';
import { ERR, type ErrorClass } from '../errors.ts';
import { pull } from '../matching.ts';
import { insert } from '../handle-table.ts';
import { BYTE_TYPE, typeOf } from '../types/index.ts';
import { segmentsOf, streamBytes } from './view.ts';
import { NUMBER_BYTES, START_BYTES, type Ask, type FileCall, type FileRecord, type FileStep } from './state.ts';
import type { Arrival } from '../device.ts';
import type { Layer } from '../layer.ts';
import type { CollectiveRequest } from '../state.ts';

const OPS: Record<Ask, FileOp> = {
  open: FileOp.OPEN,
  close: FileOp.CLOSE,
  delete: FileOp.DELETE,
  advance: FileOp.ADVANCE,
  seek: FileOp.SEEK,
  size: FileOp.SIZE,
  resize: FileOp.RESIZE,
  preallocate: FileOp.PREALLOCATE,
  mkdir: FileOp.MKDIR,
  rmdir: FileOp.RMDIR,
};
/** Bytes of one message. In atomic mode an access is one message as far as the service takes it. */
const PIECE = 8 << 20;
const piecesOf = (s: Segments): number => s.reduce((n, x, i) => (i % 4 === 2 ? n + x : n), 0);

const TEXTS: Partial<Record<number, string>> = {
  [ERR.NO_SUCH_FILE]: "there is no such file among the job's files",
  [ERR.FILE_EXISTS]: 'the file exists',
  [ERR.BAD_FILE]:
    'the name cannot be that of a file of the job: it has other characters than letters, digits and ._@+-, a ' +
    'part that begins with a dot, or a file where it needs a directory',
  [ERR.FILE_IN_USE]: 'the file is open',
  [ERR.NO_SPACE]: 'the job has as many files as a job may have',
  [ERR.QUOTA]: 'the output limit of the job does not allow it',
  [ERR.FILE]: 'the file is not open any more',
  [ERR.NOT_SAME]: 'the processes called it with different arguments',
};
export const textOf = (error: number, what: string): string =>
  `${what}: ${TEXTS[error] ?? 'the file service refused it'}`;

function spawnText(why: number, count: number): string {
  const processes = count === 1 ? 'one more process' : `${count} more processes`;
  if (why === SpawnRefusal.SLOTS || why === SpawnRefusal.LEAVING) return `there are no free slots for ${processes} now`;
  if (why === SpawnRefusal.LIMIT) return `the job may not have ${processes}: its limit of processes is reached`;
  if (why === SpawnRefusal.COMMAND)
    return 'the command is not the program of this job: a job can spawn its own program only';
  return 'the arguments are too many or too long';
}

const view = (layer: Layer, b: Buf): DataView => {
  const bytes = layer.memory.view(b);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
export const setCell = (layer: Layer, cell: Buf, error: number, ...values: number[]): void => {
  const v = view(layer, cell);
  v.setFloat64(0, error, true);
  values.forEach((x, i) => v.setFloat64(8 + 8 * i, x, true));
};
export const setNumber = (layer: Layer, b: Buf, value: number): void => view(layer, b).setFloat64(0, value, true);
const numberAt = (layer: Layer, b: Buf, at = 0): number => view(layer, b).getFloat64(at, true);

function send(
  layer: Layer,
  r: CollectiveRequest,
  op: FileOp,
  q: { name?: string; session?: number; value?: number; segments?: Segments; bytes?: number },
  data: Uint8Array | undefined,
  call: Omit<FileCall, 'request'>,
): void {
  const { files } = layer.state;
  const message = encodeFileRequest(op, q);
  if (data) message.data.set(data);
  files.calls.set(++files.sent, { request: r.handle, ...call });
  r.outstanding++;
  layer.device.send(WORLD, WorldMode.REQUEST, 0, 0, 0, message.body);
}

const wrong = (r: CollectiveRequest, error: number, what: string): void =>
  void (r.error ??= { errorClass: error, call: r.call, text: textOf(error, what) });

export function executeFileStep(layer: Layer, r: CollectiveRequest, step: FileStep): void {
  const { state } = layer;
  switch (step.do) {
    case 'ask': {
      const refused = step.unless ? numberAt(layer, step.unless) : 0;
      if (refused !== 0) return setCell(layer, step.cell, refused, 0, 0);
      const value = typeof step.value === 'number' ? step.value : numberAt(layer, step.value);
      return send(layer, r, OPS[step.ask], { name: step.path, session: step.session, value }, undefined, {
        into: step.cell,
        kind: 'values',
      });
    }
    case 'spawn': {
      if (step.again) {
        if (numberAt(layer, step.cell) !== ERR.SPAWN || numberAt(layer, step.cell, 8) !== SpawnRefusal.LEAVING) return;
        r.rounds.splice(r.round, 0, [{ op: 'file', step }]);
      }
      const parts = new TextEncoder().encode(step.parts);
      return send(layer, r, FileOp.SPAWN, { bytes: parts.length }, parts, { into: step.cell, kind: 'values' });
    }
    case 'spawned': {
      const error = numberAt(layer, step.cell);
      r.status.bytes = numberAt(layer, step.cell, 16);
      if (error !== 0)
        r.error = {
          errorClass: error,
          call: r.call,
          text:
            step.text ??
            (error === ERR.SPAWN
              ? spawnText(numberAt(layer, step.cell, 8), r.status.bytes)
              : 'the root called it with wrong arguments'),
        };
      else r.result = numberAt(layer, step.cell, 8);
      return;
    }
    case 'access':
      return access(layer, r, step);
    case 'compare': {
      const [a, b] = [layer.memory.view(step.own), layer.memory.view(step.root)];
      if (a.length !== b.length || a.some((x, i) => x !== b[i]))
        if (view(layer, step.cell).getUint32(0, true) === 0) view(layer, step.cell).setUint32(0, ERR.NOT_SAME, true);
      return;
    }
    case 'verdict':
      return setCell(layer, step.cell, view(layer, step.flag).getUint32(0, true), 0, 0);
    case 'move': {
      const error = numberAt(layer, step.cell);
      const to = numberAt(layer, step.cell, 8) + step.offset;
      return setCell(layer, step.into, error !== 0 ? error : to < 0 ? ERR.ARG : 0, Math.max(0, to), 0);
    }
    case 'sum': {
      let sum = 0;
      for (let at = 0; at < step.from.bytes; at += NUMBER_BYTES) sum += numberAt(layer, step.from, at);
      return setNumber(layer, step.into, sum);
    }
    case 'starts': {
      const error = numberAt(layer, step.cell);
      let at = numberAt(layer, step.cell, 8);
      for (let i = 0; i * NUMBER_BYTES < step.from.bytes; i++) {
        setCell(layer, part(step.into, i * START_BYTES, START_BYTES), error, at);
        at += numberAt(layer, step.from, i * NUMBER_BYTES);
      }
      return;
    }
    case 'result': {
      const error = numberAt(layer, step.cell);
      if (error !== 0) wrong(r, error, step.what);
      r.result = numberAt(layer, step.cell, 8);
      return;
    }
    case 'opened': {
      const error = numberAt(layer, step.cell);
      const comm = r.result;
      r.result = 0;
      if (error !== 0) {
        state.comms.rows.delete(comm);
        return wrong(r, error, `'${step.path}'`);
      }
      state.files.names.set(step.path, true);
      const bytes = typeOf(layer, BYTE_TYPE, r.call);
      const file: FileRecord = {
        handle: 0,
        comm,
        path: step.path,
        session: numberAt(layer, step.cell, 8),
        amode: step.amode,
        disp: 0,
        etype: bytes,
        filetype: bytes,
        datarep: 'native',
        // MPI_MODE_APPEND: all pointers are at the end.
        position: (step.amode & 1) !== 0 ? numberAt(layer, step.cell, 16) : 0,
        atomic: false,
        split: undefined,
      };
      file.handle = r.result = insert(state.files.files, file);
      const own = state.comms.rows.get(comm)!;
      own.file = file.handle;
      own.errhandler = state.files.errhandler;
      own.name = `the communicator of '${step.path}'`;
      return;
    }
    case 'closed': {
      const file = state.files.files.rows.get(step.file)!;
      state.files.files.rows.delete(step.file);
      state.comms.rows.delete(file.comm);
      const error = numberAt(layer, step.cell);
      if (error !== 0) wrong(r, error, `'${file.path}'`);
      return;
    }
    case 'view': {
      const error = numberAt(layer, step.cell);
      const file = state.files.files.rows.get(step.file)!;
      if (error !== 0)
        return step.wrong === undefined
          ? wrong(r, error, `'${file.path}'`)
          : void (r.error = { errorClass: error, call: r.call, text: step.wrong });
      const disp = step.current ? numberAt(layer, step.current, 8) * file.etype.layout.size : step.disp;
      Object.assign(file, { disp, etype: step.etype, filetype: step.filetype, datarep: step.datarep, position: 0 });
      return;
    }
    case 'seekEnd': {
      const error = numberAt(layer, step.cell);
      const file = state.files.files.rows.get(step.file)!;
      if (error !== 0)
        return step.shared ? setCell(layer, step.shared, error, 0, 0) : wrong(r, error, `'${file.path}'`);
      const to = endOf(file, numberAt(layer, step.cell, 8)) + step.offset;
      if (to < 0) {
        // The others have computed the same: who goes on together fails together.
        if (step.shared) return setCell(layer, step.shared, ERR.ARG, 0, 0);
        return void (r.error = {
          errorClass: ERR.ARG as ErrorClass,
          call: r.call,
          text: `offset ${step.offset} from the end is before the beginning of the view`,
        });
      }
      if (step.shared) setCell(layer, step.shared, 0, to, 0);
      else file.position = to;
      return;
    }
    case 'atomic':
      state.files.files.rows.get(step.file)!.atomic = step.flag;
      return;
  }
}

/** The end of the file, in etypes of the view. */
export const endOf = (file: FileRecord, size: number): number =>
  Math.ceil(streamBytes(file, size) / Math.max(1, file.etype.layout.size));

function access(layer: Layer, r: CollectiveRequest, step: Extract<FileStep, { do: 'access' }>): void {
  const file = layer.state.files.files.rows.get(step.file)!;
  let { position } = step;
  if (typeof position !== 'number') {
    const error = numberAt(layer, position);
    if (error !== 0) return wrong(r, error, `'${file.path}'`);
    position = numberAt(layer, position, 8);
  }
  const from = position * file.etype.layout.size;
  const most = file.atomic ? FILE_BYTES : PIECE;
  for (let at = 0, bytes: number; at < step.buffer.bytes; at += bytes) {
    bytes = Math.min(most, step.buffer.bytes - at);
    let segments = segmentsOf(file, from + at, bytes);
    while (piecesOf(segments) > FILE_PIECES) segments = segmentsOf(file, from + at, (bytes = Math.ceil(bytes / 2)));
    const piece = part(step.buffer, at, bytes);
    const q = { session: file.session, segments };
    if (step.write)
      send(layer, r, FileOp.WRITE, { ...q, bytes: piece.bytes }, layer.memory.view(piece), {
        into: undefined,
        kind: 'write',
      });
    else send(layer, r, FileOp.READ, q, undefined, { into: piece, kind: 'read' });
  }
}

export const isAnswer = (a: Arrival): boolean => a.src === FILES;

/** An answer of the service arrives. */
export function arriveAnswer(layer: Layer, a: Arrival): void {
  const { files, requests } = layer.state;
  const number = ++files.answered;
  const call = files.calls.get(number);
  files.calls.delete(number);
  const r = call && requests.rows.get(call.request);
  if (!call || r?.kind !== 'coll' || r.done) return;
  r.outstanding--;
  if (call.kind === 'values')
    layer.deferred.push({
      do: 'file',
      cell: call.into!,
      error: a.context,
      arrival: a.number,
      size: a.size,
      body: a.body?.slice(),
    });
  else if (a.context !== 0) wrong(r, a.context, 'the access');
  else if (call.kind === 'read') {
    const bytes = Math.min(a.size, call.into!.bytes);
    r.status.bytes += bytes;
    const target = layer.memory.view(part(call.into!, 0, bytes));
    if (a.body) target.set(a.body.subarray(0, bytes));
    else if (bytes > 0) layer.deferred.push({ do: 'pull', arrival: a.number, size: a.size, into: target });
  } else
    layer.deferred.push({ do: 'written', request: r.handle, arrival: a.number, size: a.size, body: a.body?.slice() });
  if (r.outstanding === 0 && !r.running) layer.deferred.push({ do: 'advance', request: r.handle });
}

/** The values of an answer, from the log where they stayed there. */
function valuesOf(layer: Layer, d: { arrival: number; size: number; body: Uint8Array | undefined }): number[] {
  const body = d.body ?? new Uint8Array(d.size);
  if (!d.body && d.size > 0) pull(layer, d.arrival, d.size, body);
  return Array.from({ length: Math.min(2, body.length >> 3) }, (_, i) => fileValue(body, i));
}

/** What is left to do when no poll is under way. */
export function settleFile(layer: Layer, d: Extract<Layer['deferred'][number], { do: 'file' | 'written' }>): void {
  if (d.do === 'written') {
    const r = layer.state.requests.rows.get(d.request);
    if (r) r.status.bytes += valuesOf(layer, d)[0] ?? 0;
    return;
  }
  const [first = 0, second = 0] = valuesOf(layer, d);
  setCell(layer, d.cell, d.error, first, second);
}
