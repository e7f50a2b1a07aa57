/**
 * What the files of a job are (the port JobFiles of packages/storage keeps them): the submission as it came, without
 * the bytes of files, standard input and modules; the programs; the input files by content, and what was submitted as
 * standard input among them.
 *
 *  F1  A job's files are durable before the dispatcher hears of the job; what a crash leaves in between has a mark
 *      (job-marks.ts), and goes at the next start. A folder that the registry does not know, and that has no mark, is
 *      never removed: the server does not start then (packages/storage).
 *  F2  They never change after that.
 */
import { hashBytes } from '@mayfly/checkpoint';
import type { JobFileName, JobFiles, ProgramFileName, StdinLog } from '@mayfly/storage/ports';
import {
  MayflyError,
  type FurtherPart,
  type JobId,
  type JobSubmission,
  type ProgramLanguage,
  type ProgramSubmission,
} from '@mayfly/wire';
import type { PreparedProgram } from './program.ts';

export interface StoredFile {
  path: string;
  hash: string;
  bytes: number;
}

interface StoredSubmission extends Omit<JobSubmission, 'files' | 'stdin'> {
  inputs: StoredFile[];
  stdinHash?: string;
}

export interface NewJob {
  job: JobId;
  submission: JobSubmission;
  files: ReadonlyMap<string, Uint8Array>;
  stdin: Uint8Array;
  /** Of each part, in order. */
  programs: readonly Pick<PreparedProgram, 'language' | 'blob' | 'sourceMap'>[];
}

/** A program of a job: that of the part with this number. */
export interface ProgramAt {
  language: ProgramLanguage;
  part: number;
}

export const programFile = (language: ProgramLanguage, part: number): ProgramFileName =>
  `program${part === 0 ? '' : (`-${part}` as const)}.${language === 'typescript' ? 'js' : 'wasm'}`;

/** As they are stored. */
export const bytesOfPrograms = (programs: NewJob['programs']): number =>
  programs.reduce((sum, p) => sum + Buffer.byteLength(p.blob) + Buffer.byteLength(p.sourceMap ?? ''), 0);

export class JobStore {
  readonly #files: JobFiles;

  constructor(files: JobFiles) {
    this.#files = files;
  }

  /**
   * Writes everything of a new job (F1).
   *
   * @returns the input files, and the bytes of all else
   * @throws MayflyError DISK_FULL, STORAGE_FAILED
   */
  async create(n: NewJob): Promise<{ inputs: StoredFile[]; otherBytes: number }> {
    const all = new Map<JobFileName, string | Uint8Array>();
    const inputs: StoredFile[] = [];
    for (const [path, bytes] of n.files) {
      const hash = await hashBytes(bytes);
      all.set(`in/${hash}`, bytes);
      inputs.push({ path, hash, bytes: bytes.length });
    }
    const { files: _files, stdin: _stdin, ...rest } = n.submission;
    const stored: StoredSubmission = { ...rest, inputs };
    // A module is in its program's file, instrumented, and is returned in that form.
    const bare = (p: ProgramSubmission): ProgramSubmission => (p.language === 'wasm' ? { ...p, module: '' } : p);
    stored.program = bare(rest.program);
    if (rest.further) stored.further = rest.further.map((f) => ({ ...f, program: bare(f.program) }));
    if (n.stdin.length > 0) {
      stored.stdinHash = await hashBytes(n.stdin);
      all.set(`in/${stored.stdinHash}`, n.stdin);
    }
    for (const [part, { language, blob, sourceMap }] of n.programs.entries()) {
      const name = programFile(language, part);
      all.set(name, blob);
      if (sourceMap !== undefined) all.set(`${name}.map`, sourceMap);
    }
    const submission = JSON.stringify(stored);
    all.set('submission.json', submission);
    await this.#files.create(n.job, all);
    return { inputs, otherBytes: bytesOfPrograms(n.programs) + Buffer.byteLength(submission) + n.stdin.length };
  }

  /** @param stdin false: without standard input, which is read by itself */
  async submission(job: JobId, stdin = true): Promise<JobSubmission> {
    const { inputs, stdinHash, ...rest } = JSON.parse(
      Buffer.from(await this.#need(job, 'submission.json')).toString('utf8'),
    ) as StoredSubmission;
    const base64 = async (name: JobFileName): Promise<string> =>
      Buffer.from(await this.#need(job, name)).toString('base64');
    const files: Record<string, string> = {};
    for (const f of inputs) files[f.path] = await base64(`in/${f.hash}`);
    const whole = async (p: ProgramSubmission, part: number): Promise<ProgramSubmission> =>
      p.language === 'wasm' && p.module === '' ? { ...p, module: await base64(programFile('wasm', part)) } : p;
    const further: FurtherPart[] = [];
    for (const f of rest.further ?? []) further.push({ ...f, program: await whole(f.program, further.length + 1) });
    return {
      ...rest,
      program: await whole(rest.program, 0),
      ...(further.length > 0 ? { further } : {}),
      ...(inputs.length > 0 ? { files } : {}),
      ...(stdin && stdinHash !== undefined ? { stdin: await base64(`in/${stdinHash}`) } : {}),
    };
  }

  async #need(job: JobId, name: JobFileName): Promise<Uint8Array> {
    const bytes = await this.#files.read(job, name);
    if (!bytes) throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${name} is missing.`);
    return bytes;
  }

  /** The program as it was compiled. @throws MayflyError DAMAGED_DATA when it is missing */
  program(job: JobId, { language, part }: ProgramAt): Promise<Uint8Array> {
    return this.#need(job, programFile(language, part));
  }
  /** What leads from a script to its sources. @throws MayflyError DAMAGED_DATA when it is missing */
  async sourceMap(job: JobId, part: number): Promise<string> {
    return Buffer.from(await this.#need(job, `${programFile('typescript', part)}.map`)).toString('utf8');
  }

  /** What leads from a stack to the submitted sources, where it is at hand: a script's source map, or the module. */
  symbolsNow(job: JobId, { language, part }: ProgramAt): Uint8Array | undefined {
    const name = programFile(language, part);
    return this.#files.readNow(job, language === 'typescript' ? `${name}.map` : name);
  }

  /** In parts, for a node; undefined: it is missing. */
  streamProgram(job: JobId, { language, part }: ProgramAt): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#files.stream(job, programFile(language, part));
  }
  /** An input file in parts, or undefined when the job has none of that content. */
  streamInput(job: JobId, hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#files.stream(job, `in/${hash}`);
  }

  /**
   * Before a job goes on after a start of the server: what its nodes would fetch is what was submitted. Without this
   * they would refuse a program one after the other. `programs`: of each part.
   * @throws MayflyError DAMAGED_DATA; the error of the file system, when it cannot be read for another reason
   */
  async verify(job: JobId, programs: readonly { language: ProgramLanguage; hash: string }[]): Promise<void> {
    for (const [part, p] of programs.entries()) await this.#verify(job, programFile(p.language, part), p.hash);
  }

  async #verify(job: JobId, name: ProgramFileName, hash: string): Promise<void> {
    let what = 'is damaged: its hash differs from the one recorded at submission';
    try {
      const bytes = await this.#files.read(job, name);
      if (!bytes) what = 'is missing';
      else if ((await hashBytes(bytes)) === hash) return;
    } catch (error) {
      if (!(error instanceof MayflyError && error.code === 'DAMAGED_DATA')) throw error;
      what = 'is a folder where a file belongs';
    }
    throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${name} ${what}. Submit the job again.`);
  }

  stdin(job: JobId): Promise<StdinLog> {
    return this.#files.stdin(job);
  }

  remove(job: JobId): Promise<void> {
    return this.#files.remove(job);
  }
}
