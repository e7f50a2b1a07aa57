/**
 * JobOutput: what a job writes. Streams of each task, where every message has its place; result files, which the file
 * service changes; the journal of what it has decided.
 *
 * Writes are synchronous, as the effects of the cores are, and are durable after the `sync` of their part. Until then
 * they may be lost with the process: their messages come again, from logs that are trimmed only after that.
 */
import type { FileEffect, FileSnapshot, JobFile, Outcome } from '@mayfly/protocols';
import type { Segments, TaskId } from '@mayfly/wire';

export type StreamName = 'stdout' | 'stderr';

/**
 * Bytes [from, to) of a stream or a file, in parts; opened when the first is asked for. One that is shorter by then
 * ends early.
 * @throws while it is read, what the medium says
 */
export type Range = (from: number, to: number) => AsyncIterable<Uint8Array>;

export interface JobOutput {
  /**
   * Opens what a job writes: its tasks so far, its files, its journal. One at a time for each job. Opened again by the
   * same process, it has everything that was written, synced or not.
   * @param inputs input files of the job: BLAKE3 by path
   * @throws what the medium says: then nothing is open
   */
  open(job: string, inputs: ReadonlyMap<string, string>): Promise<OpenOutput>;
  // Of jobs that are open or not:
  /** Bytes of a stream; 0: nothing was written, or it cannot be read. */
  streamBytes(job: string, task: TaskId, stream: StreamName): Promise<number>;
  /** At most `max` bytes (16 MiB or less) of a stream from an offset. @throws what the medium says */
  readStream(job: string, task: TaskId, stream: StreamName, from: number, max: number): Promise<Uint8Array>;
  stream(job: string, task: TaskId, stream: StreamName): Range;
  /** Result files as the last start and the effects since have left them. */
  files(job: string): Promise<Map<string, JobFile>>;
  file(job: string, path: string): Range;
  /** Length of a result file; undefined: there is none, or it cannot be read. */
  fileBytes(job: string, path: string): Promise<number | undefined>;
  /** All that a job has written. It is not open. */
  remove(job: string): Promise<void>;
}

export interface OpenOutput {
  readonly files: ResultFiles;
  /** Result files when it was opened. */
  readonly found: ReadonlyMap<string, JobFile>;
  readonly journal: OutputJournal;
  /** Tasks that have written something. */
  tasks(): TaskId[];
  /** Opened when it is first asked for. @throws what the medium says */
  task(task: TaskId): TaskOutput;
  /** Nothing of it is used any more. */
  close(): void;
}

export interface Place {
  start: number;
  length: number;
  mode: number;
}

/**
 * Output of one task. A message that comes again (the Channel Memory recovers, and repeats what its log holds) goes to
 * the very same place, so that every byte of output appears once.
 */
export interface TaskOutput {
  /** Number of the first message without a place. */
  readonly next: number;
  /** Bytes of a stream that have a place. */
  end(stream: StreamName): number;
  /** Where message `n` belongs; gives it a place when it has none. `undefined`: a message before it is missing. */
  place(n: number, mode: number, body: Uint8Array): Place | undefined;
  /** The newest place, just made: its bytes could not be written. */
  takeBack(mode: number, place: Place): void;
  write(stream: StreamName, bytes: Uint8Array, at: number): void;
  sync(): Promise<void>;
}

/** Result files: performs the effects of the file service. */
export interface ResultFiles {
  /** @param again after a crash: what cannot be done is undone by a later effect; `enterAll` follows */
  perform(effect: FileEffect, again?: boolean): void;
  /** Of a result file, or of an input file of the job; up to `size`, the length of the file. */
  read(path: string, input: boolean, segments: Segments, size: number): Uint8Array;
  /** Makes durable what was written up to now. */
  sync(): Promise<void>;
  /** After a start: what the journal says, whatever became of the list of files. */
  enterAll(files: ReadonlyMap<string, JobFile>): void;
}

/** What the file service has decided, in order, from a snapshot on. */
export interface OutputJournal {
  readonly bytes: number;
  /** Once, before anything else: gives what is there, in order. A record that a crash cut off is gone. */
  replay(on: { snapshot(s: FileSnapshot): void; message(outcome: Outcome, body: Uint8Array): void }): void;
  /** The first record. */
  begin(snapshot: FileSnapshot): void;
  /** Whole, or not at all. */
  append(outcome: Outcome, body: Uint8Array): void;
  sync(): Promise<void>;
  /** From now on it begins with this snapshot, which stands for all before position `at`; durable when it resolves. */
  rewrite(snapshot: FileSnapshot, at: number): Promise<void>;
}
