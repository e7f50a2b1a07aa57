/**
 * Reading and writing (MPI 4.1 §14.4): every access is a schedule whose last step is one request to the file service
 * per 8 MB, whatever its view. What differs is where the position comes from.
 */
import { part, type Buf } from '../buffers.ts';
import { ERR, fail } from '../errors.ts';
import { commOf, type Layer } from '../layer.ts';
import { Schedule, start } from '../schedule.ts';
import { Amode, fileOf } from './manage.ts';
import { setNumber } from './steps.ts';
import { CELL_BYTES, NUMBER_BYTES, START_BYTES, type FileRecord } from './state.ts';

/**
 * Where the data lie: an explicit offset, the individual pointer, the shared pointer, one's turn in the order of the
 * ranks.
 */
export type How = { by: 'offset'; offset: number } | { by: 'pointer' } | { by: 'shared' } | { by: 'order' };

/** @throws MPIError for what the access mode does not allow */
export function checkAccess(file: FileRecord, write: boolean, how: How, bytes: number, call: string): void {
  if (write && (file.amode & Amode.RDONLY) !== 0)
    fail(ERR.READ_ONLY, call, 'the file was opened with MPI_MODE_RDONLY', file.comm);
  if (!write && (file.amode & Amode.WRONLY) !== 0)
    fail(ERR.ACCESS, call, 'the file was opened with MPI_MODE_WRONLY', file.comm);
  if ((how.by === 'offset' || how.by === 'pointer') && (file.amode & Amode.SEQUENTIAL) !== 0)
    fail(
      ERR.UNSUPPORTED_OPERATION,
      call,
      'the file was opened with MPI_MODE_SEQUENTIAL: only shared file pointers are allowed',
      file.comm,
    );
  if (how.by === 'offset' && how.offset < 0) fail(ERR.ARG, call, `offset ${how.offset} is negative`, file.comm);
  if (bytes % file.etype.layout.size !== 0)
    fail(ERR.IO, call, `${bytes} bytes are not a whole number of etypes of ${file.etype.layout.size} bytes`, file.comm);
}

/**
 * Starts an access. Checked before by {@link checkAccess}.
 * @param buffer packed elements of the program
 */
export function access(layer: Layer, handle: number, write: boolean, how: How, buffer: Buf, call: string): number {
  const file = fileOf(layer, handle, call);
  const s = new Schedule(layer, commOf(layer, file.comm, call), call);
  const etypes = buffer.bytes / file.etype.layout.size;
  const { session } = file;
  let position: number | Buf;
  if (how.by === 'offset') position = how.offset;
  else if (how.by === 'pointer') {
    position = file.position;
    file.position += etypes;
  } else if (how.by === 'shared') {
    position = s.scratch(CELL_BYTES);
    s.file({ do: 'ask', ask: 'advance', session, path: '', value: etypes, cell: position }).next();
  } else position = inOrder(s, session, etypes);
  s.file({ do: 'access', write, file: handle, position, buffer });
  const { collectives } = s.comm;
  const request = start(s);
  // Only the ordered ones talk to the others, and use up a number that they agree on.
  if (how.by !== 'order') s.comm.collectives = collectives;
  const r = layer.state.requests.rows.get(request);
  if (r?.kind === 'coll' && !write) r.reads = true;
  return request;
}

/**
 * Everybody tells rank 0 how much it accesses; rank 0 moves the shared pointer over all of it, and tells everybody
 * where it begins.
 */
function inOrder(s: Schedule, session: number, etypes: number): Buf {
  const { layer, rank, size } = s;
  const mine = s.scratch(NUMBER_BYTES);
  setNumber(layer, mine, etypes);
  const begin = s.scratch(START_BYTES);
  if (rank !== 0) {
    s.send(0, mine).recv(0, begin).next();
    return begin;
  }
  const all = s.scratch(NUMBER_BYTES * size);
  s.copy(mine, part(all, 0, NUMBER_BYTES));
  for (let i = 1; i < size; i++) s.recv(i, part(all, i * NUMBER_BYTES, NUMBER_BYTES));
  s.next();
  const total = s.scratch(NUMBER_BYTES);
  const cell = s.scratch(CELL_BYTES);
  const starts = s.scratch(START_BYTES * size);
  s.file({ do: 'sum', from: all, into: total }).next();
  s.file({ do: 'ask', ask: 'advance', session, path: '', value: total, cell }).next();
  s.file({ do: 'starts', cell, from: all, into: starts }).copy(part(starts, 0, START_BYTES), begin);
  for (let i = 1; i < size; i++) s.send(i, part(starts, i * START_BYTES, START_BYTES));
  s.next();
  return begin;
}
