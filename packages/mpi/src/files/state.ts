/**
 * What the layer knows of open files, as plain data. The bytes, shared file pointers and the order of all accesses are
 * the server's (the file service in packages/protocols); here are views, individual pointers, and what is asked for and
 * not answered.
 *
 * Invariants
 *  I1  Requests to the service are numbered per task by their order, and so are its answers: answer n belongs to
 *      request n. `calls` holds those without one.
 *  I2  A file has a communicator of its own, on which its collective operations are coordinated, and whose error
 *      handler is the file's.
 */
import type { Buf } from '../buffers.ts';
import type { TypeRecord } from '../types/datatype-record.ts';
import { table, type Table } from '../handle-table.ts';

export interface FileRecord {
  handle: number;
  /** I2. */
  comm: number;
  /** Name at the service, and number of this opening there. */
  path: string;
  session: number;
  amode: number;
  /** View: bytes, and types as they were when it was set. */
  disp: number;
  etype: TypeRecord;
  filetype: TypeRecord;
  datarep: string;
  /** Individual file pointer, in etypes of the view. */
  position: number;
  atomic: boolean;
  /** A split collective operation under way: its request, and the name of its begin. */
  split: { request: number; call: string } | undefined;
  /** Hints of a TypeScript program (the C binding keeps its own). */
  info?: Map<string, string>;
}

/** One request to the service without an answer. */
export interface FileCall {
  /** The schedule that waits for it. */
  request: number;
  /** Answers with values go to a cell, bytes that were read to their place; writes have nothing to put anywhere. */
  into: Buf | undefined;
  kind: 'values' | 'read' | 'write';
}

export interface FilesState {
  files: Table<FileRecord>;
  /** Error handler of MPI_FILE_NULL: that of files as they are opened, and of calls without a file (§14.7). */
  errhandler: number;
  sent: number;
  answered: number;
  calls: Map<number, FileCall>;
  /** Names of files that this process has opened: what it removes by other means than MPI is removed there too. */
  names: Map<string, boolean>;
}

export const noFiles = (): FilesState => ({
  files: table(),
  errhandler: 2,
  sent: 0,
  answered: 0,
  calls: new Map(),
  names: new Map(),
});

/** A cell: f64 error class, f64 first value, f64 second value of an answer. */
export const CELL_BYTES = 24;
/** A number in a schedule's scratch: f64. */
export const NUMBER_BYTES = 8;

export type Ask =
  'open' | 'close' | 'delete' | 'advance' | 'seek' | 'size' | 'resize' | 'preallocate' | 'mkdir' | 'rmdir';

/** Steps of schedules that ask the service or work with what it says. */
export type FileStep =
  /** Asks for tasks (JSON of a SpawnRequest); `again`: once more, as long as the cell says that others are leaving. */
  | { do: 'spawn'; parts: string; cell: Buf; again?: true }
  /**
   * The result is the first of them; the status's bytes how many were asked for. `text`: what is wrong, where this
   * process knows better.
   */
  | { do: 'spawned'; cell: Buf; text?: string }
  /**
   * Asks the service; the answer goes to a cell. `value` may be computed by steps before. `unless`: a cell with an
   * error means that nobody asks, and is the answer.
   */
  | { do: 'ask'; ask: Ask; session: number; path: string; value: number | Buf; cell: Buf; unless?: Buf | undefined }
  /** Reads or writes what lies in `buffer`; `position` in etypes: a number, or a cell or start (error, value). */
  | { do: 'access'; write: boolean; file: number; position: number | Buf; buffer: Buf }
  /** The collective is called with the same arguments as at the root, or the cell gets MPI_ERR_NOT_SAME. */
  | { do: 'compare'; own: Buf; root: Buf; cell: Buf }
  /** The u32 error class that all have agreed on goes to a cell. */
  | { do: 'verdict'; flag: Buf; cell: Buf }
  /** The first value of a cell, moved. */
  | { do: 'move'; cell: Buf; offset: number; into: Buf }
  /** Sum of numbers. */
  | { do: 'sum'; from: Buf; into: Buf }
  /** Starts (f64 error, f64 position) of all ranks from the shared pointer in a cell and everybody's number. */
  | { do: 'starts'; cell: Buf; from: Buf; into: Buf }
  /** The request's error is the cell's, if there is one; else its result is the cell's first value. */
  | { do: 'result'; cell: Buf; what: string }
  /** The file is open. Its communicator is the request's result by then. */
  | { do: 'opened'; cell: Buf; path: string; amode: number }
  | { do: 'closed'; cell: Buf; file: number }
  /**
   * The view that was checked before, unless the cell has an error. `current`: disp is the shared pointer, in a cell.
   */
  | {
      do: 'view';
      cell: Buf;
      file: number;
      disp: number;
      current?: Buf | undefined;
      etype: TypeRecord;
      filetype: TypeRecord;
      datarep: string;
      wrong?: string | undefined;
    }
  /** Where the individual pointer goes, from the length of the file in a cell. */
  | { do: 'seekEnd'; cell: Buf; file: number; offset: number; shared: Buf | undefined }
  | { do: 'atomic'; file: number; flag: boolean };

export const START_BYTES = 16;
