/**
 * The file service of one job: what messages of tasks to the world do to the job's files, and what is answered. It is
 * the sequencer of MPI-IO: operations take effect one after the other, in the order in which they come, each once.
 * Requests for more tasks (MPI_Comm_spawn) are decided here too: they need the same journal.
 *
 * Owns: which files there are and how long they are, which are open, shared file pointers, which tasks were added,
 * answers that may not be logged yet. Does not own: the bytes (the host's storage), the journal (the host writes it),
 * the logs (the Channel Memories).
 *
 * Messages in: FILE and CUT (results written by stdio), REQUEST. Out: answers, numbered per task.
 *
 * The host's duties, in this order: `decide` → write {outcome, body} to the journal → `apply` → perform the effects →
 * make the journal durable → give the answers. At a restart: `restore` the snapshot with which the journal begins, then
 * for each record `apply` and perform. Effects of records before the snapshot are durable.
 *
 * Invariants
 *  S1  A message (task, n) is decided once: a repetition finds n ≤ `applied(task)`.
 *  S2  `apply` is a function of the state, the outcome and the body; it decides nothing. Repeating the journal's suffix
 *      over files that have some or all of its effects gives the same files (effects are physical: places, lengths,
 *      names).
 *  S3  The sum of file lengths never exceeds the limit: a REQUEST that would pass it is answered QUOTA and has no
 *      effect.
 *  S4  Request r of a task has answer r. An answer is kept until the host reports that it is durable in the task's log.
 *  S5  A read takes place when its answer goes out: after the request came, and before any rank can know the answer. A
 *      read that is answered again after a crash may see later writes, never earlier ones.
 *  S8  A job has at most {@link MAX_FILES} result files, whoever makes them, and however short they are.
 *  S7  What is kept for answers is bounded: a task that asks for more without taking answers ends its job.
 *  S9  A directory is there from its MKDIR to its RMDIR, and while a file lies below it. Of tasks that make one at the
 *      same time one is told that it has made it.
 *  S10 Where a message at the end of a file goes is decided once, when it comes: messages of several tasks lie one
 *      behind the other, and no repetition of the journal moves them.
 *  S6  Tasks are numbered in the order in which spawns are granted, without gaps. The host adds them once the journal
 *      is durable, before the answer goes out.
 */
import { Check } from 'typebox/value';
import {
  FileOp,
  ResultPath,
  SpawnRefusal,
  WorldMode,
  decodeFileRequest,
  encodeFileValues,
  spawnedTasks,
  type FileRequest,
  type Segments,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import { atEnd, readResult, readSpawn } from './bodies.ts';
import { nameRefused, named, parentOf, type Place } from './by-name.ts';
import { Counts, Folders } from './folders.ts';
import { endOf, lengthOf, oneAccess } from './segments.ts';
import {
  FileError,
  GONE,
  KEPT_EACH,
  KEPT_NUMBERS,
  numbersOf,
  type Fatal,
  type FileAnswer,
  type FileEffect,
  type FileSnapshot,
  type JobFile,
  type Kept,
  type Outcome,
  type Session,
} from './effects.ts';

const Amode = { APPEND: 1, CREATE: 2, DELETE_ON_CLOSE: 4, EXCL: 8 } as const;
const MAX_SESSIONS = 10_000;
/** Result files of a job: each view of the job names them all. */
export const MAX_FILES = 10_000;
export class FileService {
  /** Result files by path. */
  readonly files: Map<string, JobFile>;
  #total = 0;
  #sessions = new Map<number, Session>();
  #nextSession = 1;
  readonly #applied = new Map<TaskId, number>();
  readonly #requests = new Map<TaskId, number>();
  readonly #answers = new Map<TaskId, Map<number, Kept>>();
  #kept = 0;
  readonly #folders = new Folders();
  /** Sessions by the path of their file. */
  readonly #opened = new Counts();
  /** Result files that were made and removed, and changes of lengths. */
  #changes = { names: 0, lengths: 0 };
  /** Input files that were deleted. */
  readonly #hidden = new Set<string>();
  /** S6: the spawns that were granted, in order. */
  readonly spawned: SpawnGroup[] = [];

  /**
   * @param files result files that are there. @param inputs lengths of the job's input files
   * @param tasksAtStart those that the job was started with. @param mayAdd why so many more cannot be started for this
   * task now ({@link SpawnRefusal}); 0: they can
   */
  constructor(
    readonly limit: number,
    private readonly inputs: ReadonlyMap<string, number>,
    files: Map<string, JobFile> = new Map<string, JobFile>(),
    private readonly tasksAtStart = 0,
    private readonly mayAdd: (count: number, task: TaskId) => number = () => SpawnRefusal.LIMIT,
    private readonly keptNumbers = KEPT_NUMBERS,
    private readonly maxFiles = MAX_FILES,
  ) {
    this.files = files;
    for (const path of inputs.keys()) this.#folders.add(path);
    for (const [path, f] of files) {
      this.#total += f.size;
      this.#folders.add(path);
    }
  }

  /** Who has made a list of the files when these were the same has it still. */
  get changes(): Readonly<{ names: number; lengths: number }> {
    return this.#changes;
  }

  /** Sum of the lengths of result files. */
  get total(): number {
    return this.#total;
  }
  /** S1: messages of a task up to this one have been applied, or were no matter of this service. */
  applied(task: TaskId): number {
    return this.#applied.get(task) ?? 0;
  }
  /** Requests of a task that have been applied. */
  requests(task: TaskId): number {
    return this.#requests.get(task) ?? 0;
  }
  tasks(): TaskId[] {
    return [...this.#requests.keys()];
  }

  /** Tasks that the job has by now. */
  get tasksOfJob(): number {
    const last = this.spawned.at(-1);
    return last ? last.first + spawnedTasks(last.parts) : this.tasksAtStart;
  }

  /** Length of a file, result or input; undefined when there is none of that name. */
  size(path: string): number | undefined {
    return this.files.get(path)?.size ?? (this.#hidden.has(path) ? undefined : this.inputs.get(path));
  }

  // ── deciding

  /**
   * @param room bytes that the job may still write
   * @param again the message came once before, and its journal record was lost: it was valid then
   */
  decide(task: TaskId, n: number, mode: number, body: Uint8Array, room: number, again: boolean): Outcome | Fatal {
    const outcome = { task, n, mode, error: FileError.NONE as number, value: 0 };
    if (mode !== WorldMode.REQUEST) return this.#decideResult(outcome, body, again ? Infinity : room);
    const r = decodeFileRequest(body);
    if (!r) return { fatal: 'malformed', path: '' };
    if (this.#kept + KEPT_EACH + r.segments.length > this.keptNumbers) return { fatal: 'requests', path: '' };
    outcome.error = this.#refusal(r, task, room, outcome);
    return outcome;
  }

  #decideResult(outcome: Outcome, body: Uint8Array, room: number): Outcome | Fatal {
    const m = readResult(body);
    if (!m || !Check(ResultPath, m.path))
      return { fatal: outcome.mode === WorldMode.CUT ? 'malformed' : 'name', path: m?.path ?? '' };
    const known = this.files.get(m.path)?.size ?? 0;
    if (outcome.mode === WorldMode.CUT && m.offset === GONE) return outcome;
    if (atEnd(outcome.mode, m.offset)) outcome.value = m.offset = this.size(m.path) ?? 0;
    const size = outcome.mode === WorldMode.CUT ? m.offset : Math.max(known, m.offset + m.bytes.length);
    if (size - known > room) return { fatal: 'limit', path: m.path };
    if (this.files.has(m.path)) return outcome;
    if (this.#conflict(m.path)) return { fatal: 'conflict', path: m.path };
    return this.files.size >= this.maxFiles ? { fatal: 'files', path: m.path } : outcome;
  }

  #refusal(r: FileRequest, task: TaskId, room: number, outcome: Outcome): number {
    if (r.op === FileOp.SPAWN) {
      const parts = readSpawn(r);
      const why = parts ? this.mayAdd(spawnedTasks(parts), task) : SpawnRefusal.MALFORMED;
      outcome.value = why === 0 ? this.tasksOfJob : why;
      return why === 0 ? FileError.NONE : FileError.SPAWN;
    }
    if (r.op === FileOp.OPEN || r.op === FileOp.DELETE) {
      if (!Check(ResultPath, r.name)) return FileError.BAD_FILE;
      const size = this.size(r.name);
      if (r.op === FileOp.DELETE) {
        if (size === undefined) return FileError.NO_SUCH_FILE;
        return this.#opened.has(r.name) ? FileError.FILE_IN_USE : FileError.NONE;
      }
      if (this.#sessions.size >= MAX_SESSIONS) return FileError.NO_MEM;
      if (size === undefined) {
        if ((r.value & Amode.CREATE) === 0) return FileError.NO_SUCH_FILE;
        if (this.#conflict(r.name)) return FileError.BAD_FILE;
        if (this.files.size >= this.maxFiles) return FileError.NO_SPACE;
      } else if ((r.value & Amode.CREATE) !== 0 && (r.value & Amode.EXCL) !== 0) return FileError.FILE_EXISTS;
      outcome.value = this.#nextSession;
      return FileError.NONE;
    }
    const s = this.#sessions.get(r.session) ?? named(r);
    if (!s) return FileError.FILE;
    if (r.session === 0) {
      const refused = nameRefused(
        r,
        this.#place(r.name),
        this.#place(parentOf(r.name)),
        this.#folders.made.size < this.maxFiles,
      );
      if (refused !== FileError.NONE) return refused;
    }
    if (Number.isNaN(r.value) || r.segments.includes(NaN)) return FileError.ARG;
    const size = this.size(s.path) ?? 0;
    switch (r.op) {
      case FileOp.READ:
      case FileOp.WRITE: {
        if (!oneAccess(r.segments)) return FileError.ARG;
        if (r.op === FileOp.READ) return FileError.NONE;
        if (lengthOf(r.segments) !== r.data.length) return FileError.ARG;
        return this.#grows(s.path, Math.max(size, r.data.length === 0 ? 0 : endOf(r.segments)), room);
      }
      case FileOp.ADVANCE:
        outcome.value = s.pointer;
        return Number.isSafeInteger(s.pointer + r.value) ? FileError.NONE : FileError.ARG;
      case FileOp.RESIZE:
      case FileOp.PREALLOCATE:
        return this.#grows(s.path, Math.max(r.op === FileOp.RESIZE ? 0 : size, r.value), room);
      case FileOp.SIZE:
        outcome.value = size;
        return FileError.NONE;
      case FileOp.CLOSE:
      case FileOp.SEEK:
      case FileOp.MKDIR:
      case FileOp.RMDIR:
        return FileError.NONE;
      default:
        return FileError.ARG;
    }
  }

  #place(path: string): Place {
    if (this.size(path) !== undefined) return 'file';
    return this.#folders.has(path) ? 'folder' : this.#folders.isDirectory(path) ? 'empty folder' : 'nothing';
  }

  /** An input file that is written to becomes a result file and counts whole. */
  #grows(path: string, size: number, room: number): number {
    if (!this.files.has(path) && this.files.size >= this.maxFiles) return FileError.NO_SPACE;
    return size - (this.files.get(path)?.size ?? 0) > room ? FileError.QUOTA : FileError.NONE;
  }

  /** 'a' and 'a/b' cannot both be files. */
  #conflict(path: string): boolean {
    for (let i = path.indexOf('/'); i > 0; i = path.indexOf('/', i + 1))
      if (this.size(path.slice(0, i)) !== undefined) return true;
    return this.#folders.isDirectory(path);
  }

  // ── applying

  apply(outcome: Outcome, body: Uint8Array): FileEffect[] {
    const { task, n, mode, error } = outcome;
    this.#applied.set(task, n);
    if (mode !== WorldMode.REQUEST) return this.#applyResult(outcome, body);
    const r = decodeFileRequest(body)!;
    const number = this.requests(task) + 1;
    this.#requests.set(task, number);
    const out: FileEffect[] = [];
    const kept: Kept = { error, values: [] };
    if (error === FileError.NONE) this.#request(r, outcome, kept, out);
    else if (error === FileError.SPAWN) kept.values = [outcome.value, spawnedTasks(readSpawn(r) ?? [])];
    let list = this.#answers.get(task);
    if (!list) this.#answers.set(task, (list = new Map()));
    list.set(number, kept);
    this.#kept += numbersOf(kept);
    return out;
  }

  #applyResult({ task, mode, value }: Outcome, body: Uint8Array): FileEffect[] {
    const out: FileEffect[] = [];
    const { path, offset, bytes } = readResult(body)!;
    if (mode === WorldMode.CUT && offset === GONE) {
      if (this.files.has(path)) this.#remove(path, out);
      return out;
    }
    const end = atEnd(mode, offset);
    // What stdio of a rank writes is its own copy, whole: an input file of that name is not its beginning.
    if (end) this.#own(path, task, out);
    else if (!this.files.has(path)) this.#create(path, task, false, out);
    const at = end ? value : offset;
    if (mode === WorldMode.CUT) this.#resize(path, offset, out);
    else this.#write(path, bytes.length > 0 ? [at, bytes.length, 1, 0] : [], bytes, out, at);
    return out;
  }

  #request(r: FileRequest, outcome: Outcome, kept: Kept, out: FileEffect[]): void {
    const { task, value } = outcome;
    if (r.op === FileOp.SPAWN) {
      const parts = readSpawn(r)!;
      kept.values = [value, spawnedTasks(parts)];
      // A record that the snapshot stands for already.
      if (value < this.tasksOfJob) return;
      this.spawned.push({ first: value as TaskId, root: task, parts });
      return;
    }
    if (r.op === FileOp.OPEN) {
      if (this.size(r.name) === undefined) this.#create(r.name, task, false, out);
      const size = this.size(r.name)!;
      this.#sessions.set(value, {
        path: r.name,
        pointer: (r.value & Amode.APPEND) !== 0 ? size : 0,
        deleteOnClose: (r.value & Amode.DELETE_ON_CLOSE) !== 0,
      });
      this.#opened.add(r.name);
      this.#nextSession = Math.max(this.#nextSession, value + 1);
      kept.values = [value, size];
      return;
    }
    if (r.op === FileOp.DELETE) {
      this.#delete(r.name, out);
      kept.values = [0];
      return;
    }
    const s = this.#sessions.get(r.session) ?? named(r);
    // A record of a session that the snapshot has closed already: its effects are there.
    if (!s) return;
    kept.values = [value];
    switch (r.op) {
      case FileOp.READ:
        kept.read = { path: s.path, segments: [...r.segments] };
        return;
      case FileOp.WRITE:
        this.#own(s.path, task, out);
        this.#write(s.path, r.segments, r.data, out, 0);
        kept.values = [r.data.length];
        return;
      case FileOp.ADVANCE:
        s.pointer = value + r.value;
        return;
      case FileOp.MKDIR:
        this.#folders.make(r.name);
        return;
      case FileOp.RMDIR:
        this.#folders.unmake(r.name);
        return;
      case FileOp.SEEK:
        s.pointer = r.value;
        return;
      case FileOp.RESIZE:
      case FileOp.PREALLOCATE:
        if (r.op === FileOp.PREALLOCATE && r.value <= (this.size(s.path) ?? 0)) return;
        this.#own(s.path, task, out);
        this.#resize(s.path, r.value, out);
        return;
      case FileOp.CLOSE:
        this.#sessions.delete(r.session);
        this.#opened.remove(s.path);
        if (s.deleteOnClose) this.#delete(s.path, out);
        return;
      default:
        return;
    }
  }

  /** The file becomes a result file, as a copy of the input file where there is one. */
  #own(path: string, task: TaskId, out: FileEffect[]): void {
    if (this.files.has(path)) return;
    const input = !this.#hidden.has(path) && this.inputs.has(path);
    this.#create(path, task, input, out);
    if (input) this.#grow(path, this.inputs.get(path)!);
  }
  #create(path: string, task: TaskId, input: boolean, out: FileEffect[]): void {
    this.files.set(path, { size: 0, task });
    this.#folders.add(path);
    this.#changes.names++;
    out.push({ type: 'create', path, task, input });
  }
  #grow(path: string, size: number): void {
    const f = this.files.get(path)!;
    this.#total += size - f.size;
    f.size = size;
    this.#changes.lengths++;
  }
  #write(path: string, segments: Segments, data: Uint8Array, out: FileEffect[], least: number): void {
    const end = data.length > 0 ? endOf(segments) : least;
    this.#grow(path, Math.max(this.files.get(path)!.size, end));
    if (data.length > 0) out.push({ type: 'write', path, segments, data });
    else if (least > 0) out.push({ type: 'resize', path, size: this.files.get(path)!.size });
  }
  #resize(path: string, size: number, out: FileEffect[]): void {
    this.#grow(path, size);
    out.push({ type: 'resize', path, size });
  }
  #remove(path: string, out: FileEffect[]): void {
    this.#grow(path, 0);
    this.files.delete(path);
    this.#folders.remove(path);
    this.#changes.names++;
    out.push({ type: 'remove', path });
  }
  #delete(path: string, out: FileEffect[]): void {
    if (this.inputs.has(path)) this.#hidden.add(path);
    if (this.files.has(path)) this.#remove(path, out);
  }

  // ── answers

  /** Answer r of a task, as long as it is kept (S4). */
  answer(task: TaskId, r: number): FileAnswer | undefined {
    const kept = this.#answers.get(task)?.get(r);
    if (!kept) return undefined;
    const { error, values, read } = kept;
    if (error !== FileError.NONE || !read)
      return { error, values: values.length > 0 ? encodeFileValues(...values) : new Uint8Array(0) };
    const own = this.files.has(read.path);
    return {
      error,
      values: new Uint8Array(0),
      read: { path: read.path, input: !own, segments: read.segments, size: this.size(read.path) ?? 0 },
    };
  }

  /** Answers up to r are durable in the task's log. */
  forget(task: TaskId, upTo: number): void {
    const list = this.#answers.get(task);
    if (!list) return;
    for (const [r, kept] of list) {
      if (r > upTo) break;
      list.delete(r);
      this.#kept -= numbersOf(kept);
    }
  }

  // ── durability

  snapshot(): FileSnapshot {
    return {
      files: [...this.files].map(([path, f]) => [path, { ...f }]),
      sessions: [...this.#sessions].map(([id, s]) => [id, { ...s }]),
      nextSession: this.#nextSession,
      applied: [...this.#applied],
      requests: [...this.#requests],
      hidden: [...this.#hidden],
      answers: [...this.#answers].map(([task, list]) => [task, [...list]]),
      ...(this.spawned.length > 0 ? { spawned: [...this.spawned] } : {}),
      ...(this.#folders.made.size > 0 ? { made: [...this.#folders.made] } : {}),
    };
  }

  restore(s: FileSnapshot): void {
    for (const path of this.files.keys()) this.#folders.remove(path);
    this.#folders.remake(s.made ?? []);
    this.files.clear();
    this.#total = 0;
    this.#changes.names++;
    for (const [path, f] of s.files) {
      this.files.set(path, { ...f });
      this.#total += f.size;
      this.#folders.add(path);
    }
    this.#sessions = new Map(s.sessions);
    this.#opened.clear();
    for (const [, { path }] of s.sessions) this.#opened.add(path);
    this.#nextSession = s.nextSession;
    for (const [task, n] of s.applied) this.#applied.set(task as TaskId, n);
    for (const [task, r] of s.requests) this.#requests.set(task as TaskId, r);
    for (const path of s.hidden) this.#hidden.add(path);
    this.spawned.splice(0, Infinity, ...(s.spawned ?? []));
    this.#kept = 0;
    for (const [task, list] of s.answers) {
      this.#answers.set(task as TaskId, new Map(list));
      for (const [, kept] of list) this.#kept += numbersOf(kept);
    }
  }
}
