/**
 * What the files of a job are (the port JobFiles of packages/storage keeps them): the submission as it came, without
 * the bytes of files, standard input and a module; the program; the input files by content, and what was submitted as
 * standard input among them.
 *
 *  F1  A job's files are durable before the dispatcher hears of the job; what a crash leaves in between has a mark
 *      (job-marks.ts), and goes at the next start. A folder that the registry does not know, and that has no mark, is
 *      never removed: the server does not start then (packages/storage).
 *  F2  They never change after that.
 */
import { hashBytes } from '@mayfly/checkpoint';
import type { JobFileName, JobFiles, StdinLog } from '@mayfly/storage/ports';
import { MayflyError, type JobId, type JobSubmission, type ProgramLanguage } from '@mayfly/wire';
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
  program: Pick<PreparedProgram, 'language' | 'blob' | 'sourceMap'>;
}

const programName = (language: ProgramLanguage): 'program.js' | 'program.wasm' =>
  language === 'typescript' ? 'program.js' : 'program.wasm';

export class JobStore {
  readonly #files: JobFiles;

  constructor(files: JobFiles) {
    this.#files = files;
  }

  /** Writes everything of a new job (F1). @throws MayflyError DISK_FULL, STORAGE_FAILED */
  async create(n: NewJob): Promise<StoredFile[]> {
    const all = new Map<JobFileName, string | Uint8Array>();
    const inputs: StoredFile[] = [];
    for (const [path, bytes] of n.files) {
      const hash = await hashBytes(bytes);
      all.set(`in/${hash}`, bytes);
      inputs.push({ path, hash, bytes: bytes.length });
    }
    const { files: _files, stdin: _stdin, ...rest } = n.submission;
    const stored: StoredSubmission = { ...rest, inputs };
    // It is in program.wasm, instrumented, and is returned in that form.
    if (rest.program.language === 'wasm') stored.program = { ...rest.program, module: '' };
    if (n.stdin.length > 0) {
      stored.stdinHash = await hashBytes(n.stdin);
      all.set(`in/${stored.stdinHash}`, n.stdin);
    }
    const { language, blob, sourceMap } = n.program;
    all.set(programName(language), blob);
    if (sourceMap !== undefined) all.set(`${programName(language)}.map`, sourceMap);
    all.set('submission.json', JSON.stringify(stored));
    await this.#files.create(n.job, all);
    return inputs;
  }

  async submission(job: JobId): Promise<JobSubmission> {
    const { inputs, stdinHash, ...rest } = JSON.parse(
      Buffer.from(await this.#need(job, 'submission.json')).toString('utf8'),
    ) as StoredSubmission;
    const base64 = async (name: JobFileName): Promise<string> =>
      Buffer.from(await this.#need(job, name)).toString('base64');
    const files: Record<string, string> = {};
    for (const f of inputs) files[f.path] = await base64(`in/${f.hash}`);
    const { program } = rest;
    if (program.language === 'wasm' && program.module === '')
      rest.program = { ...program, module: await base64('program.wasm') };
    return {
      ...rest,
      ...(inputs.length > 0 ? { files } : {}),
      ...(stdinHash !== undefined ? { stdin: await base64(`in/${stdinHash}`) } : {}),
    };
  }

  async #need(job: JobId, name: JobFileName): Promise<Uint8Array> {
    const bytes = await this.#files.read(job, name);
    if (!bytes) throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${name} is missing.`);
    return bytes;
  }

  /** The program as it was compiled. @throws MayflyError DAMAGED_DATA when it is missing */
  program(job: JobId, language: ProgramLanguage): Promise<Uint8Array> {
    return this.#need(job, programName(language));
  }
  /** What leads from a script to its sources. @throws MayflyError DAMAGED_DATA when it is missing */
  async sourceMap(job: JobId): Promise<string> {
    return Buffer.from(await this.#need(job, 'program.js.map')).toString('utf8');
  }

  /** What leads from a stack to the submitted sources, where it is at hand: a script's source map, or the module. */
  symbolsNow(job: JobId, language: ProgramLanguage): Uint8Array | undefined {
    return this.#files.readNow(job, language === 'typescript' ? 'program.js.map' : 'program.wasm');
  }

  /** In parts, for a node; undefined: it is missing. */
  streamProgram(job: JobId, language: ProgramLanguage): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#files.stream(job, programName(language));
  }
  /** An input file in parts, or undefined when the job has none of that content. */
  streamInput(job: JobId, hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#files.stream(job, `in/${hash}`);
  }

  /**
   * Before a job goes on after a start of the server: what its nodes would fetch is what was submitted. Without this
   * they would refuse the program one after the other.
   * @throws MayflyError DAMAGED_DATA; the error of the file system, when it cannot be read for another reason
   */
  async verify(job: JobId, program: { language: ProgramLanguage; hash: string }): Promise<void> {
    const name = programName(program.language);
    let what = 'is damaged: its hash differs from the one recorded at submission';
    try {
      const bytes = await this.#files.read(job, name);
      if (!bytes) what = 'is missing';
      else if ((await hashBytes(bytes)) === program.hash) return;
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
