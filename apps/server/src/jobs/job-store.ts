/**
 * Files of jobs: what was submitted, the program that nodes fetch, the input files by content, the record of standard
 * input.
 *
 *   <dataDir>/jobs/<job>/submission.json   the JobSubmission as it came, without the bytes of files, standard input and
 *   a module
 *   <dataDir>/jobs/<job>/program.js        a script; program.js.map its source map
 *   <dataDir>/jobs/<job>/program.wasm      or a module
 *   <dataDir>/jobs/<job>/in/<blake3>       input files
 *   <dataDir>/jobs/<job>/stdin             standard input as messages (stdin-log.ts)
 *   <dataDir>/jobs/<job>/out/              what the job wrote (world-host.ts)
 *
 *  F1  A job's files are durable before the dispatcher hears of the job; what a crash leaves in between has a mark
 *      (job-marks.ts), and goes at the next start. A folder that the registry does not know, and that has no mark, is
 *      never removed: the server does not start then (packages/storage).
 *  F2  They never change after that, except `stdin` and `out/`.
 */
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hashBytes } from '@mayfly/checkpoint';
import { storageError } from '@mayfly/storage';
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

export class JobStore {
  readonly root: string;

  constructor(dataDir: string) {
    this.root = join(dataDir, 'jobs');
  }

  dir(job: JobId): string {
    return join(this.root, job);
  }

  /** Writes everything of a new job (F1). @throws MayflyError DISK_FULL, STORAGE_FAILED */
  async create(n: NewJob): Promise<StoredFile[]> {
    try {
      return await this.#create(n);
    } catch (error) {
      throw storageError(error, 'the files of the job');
    }
  }

  async #create(n: NewJob): Promise<StoredFile[]> {
    const dir = this.dir(n.job);
    await mkdir(join(dir, 'in'), { recursive: true, mode: 0o700 });
    const inputs: StoredFile[] = [];
    for (const [path, bytes] of n.files) {
      const hash = await hashBytes(bytes);
      await writeDurable(join(dir, 'in', hash), bytes);
      inputs.push({ path, hash, bytes: bytes.length });
    }
    const { files: _files, stdin: _stdin, ...rest } = n.submission;
    const stored: StoredSubmission = { ...rest, inputs };
    // It stands in program.wasm, instrumented; as that it is given back.
    if (rest.program.language === 'wasm') stored.program = { ...rest.program, module: '' };
    if (n.stdin.length > 0) {
      stored.stdinHash = await hashBytes(n.stdin);
      await writeDurable(join(dir, 'in', stored.stdinHash), n.stdin);
    }
    const { language, blob, sourceMap } = n.program;
    await writeDurable(this.programPath(n.job, language), blob);
    if (sourceMap !== undefined) await writeDurable(`${this.programPath(n.job, language)}.map`, sourceMap);
    await writeDurable(join(dir, 'submission.json'), JSON.stringify(stored));
    await syncDirectory(join(dir, 'in'));
    await syncDirectory(dir);
    await syncDirectory(this.root);
    return inputs;
  }

  async submission(job: JobId): Promise<JobSubmission> {
    const { inputs, stdinHash, ...rest } = JSON.parse(
      await readFile(join(this.dir(job), 'submission.json'), 'utf8'),
    ) as StoredSubmission;
    const files: Record<string, string> = {};
    for (const f of inputs) files[f.path] = (await readFile(join(this.dir(job), 'in', f.hash))).toString('base64');
    const { program } = rest;
    if (program.language === 'wasm' && program.module === '')
      rest.program = { ...program, module: (await readFile(this.programPath(job, 'wasm'))).toString('base64') };
    return {
      ...rest,
      ...(inputs.length > 0 ? { files } : {}),
      ...(stdinHash !== undefined
        ? { stdin: (await readFile(join(this.dir(job), 'in', stdinHash))).toString('base64') }
        : {}),
    };
  }

  programPath(job: JobId, language: ProgramLanguage): string {
    return join(this.dir(job), language === 'typescript' ? 'program.js' : 'program.wasm');
  }

  /**
   * Before a job goes on after a start of the server: what its nodes would fetch is what was submitted. Without this
   * they would refuse the program one after the other.
   * @throws MayflyError DAMAGED_DATA; what the file system says, when it cannot be read for another reason
   */
  async verify(job: JobId, program: { language: ProgramLanguage; hash: string }): Promise<void> {
    const path = this.programPath(job, program.language);
    let what = 'is damaged: its hash differs from the one recorded at submission';
    try {
      if ((await hashBytes(await readFile(path))) === program.hash) return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') what = 'is missing';
      else if (code === 'EISDIR') what = 'is a folder where a file belongs';
      else throw error;
    }
    throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${basename(path)} ${what}. Submit the job again.`);
  }

  inputFile(job: JobId, hash: string): string {
    return join(this.dir(job), 'in', hash);
  }
  /** Path of an input file, or undefined when the job has none of that content. */
  async inputPath(job: JobId, hash: string): Promise<string | undefined> {
    const path = this.inputFile(job, hash);
    return (await access(path, constants.R_OK).then(
      () => true,
      () => false,
    ))
      ? path
      : undefined;
  }
  stdinPath(job: JobId): string {
    return join(this.dir(job), 'stdin');
  }

  async remove(job: JobId): Promise<void> {
    await rm(this.dir(job), { recursive: true, force: true });
  }
}

/** Bytes of all files below a directory; what vanishes meanwhile counts nothing. */
export async function directoryBytes(dir: string): Promise<number> {
  let sum = 0;
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const e of entries) {
    const path = join(dir, e.name);
    if (e.isDirectory()) sum += await directoryBytes(path);
    else if (e.isFile())
      sum += await stat(path).then(
        (s) => s.blocks * 512,
        () => 0,
      );
  }
  return sum;
}

async function writeDurable(path: string, data: string | Uint8Array): Promise<void> {
  const f = await open(path, 'w', 0o600);
  try {
    await f.writeFile(data);
    await f.datasync();
  } finally {
    await f.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const f = await open(path, 'r').catch(() => undefined);
  if (!f) return;
  // Some file systems refuse to sync a directory; then a crash of the machine may lose the job, never half of it (F1).
  await f.sync().catch(() => undefined);
  await f.close();
}
