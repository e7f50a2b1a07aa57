/** Archive in the folders of the jobs: `history.bin`, `run.json`, `final.json`. They go with the folder. */
import { readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive, ArchiveName } from '../ports/index.ts';
import { jobFolder } from './job-files.ts';

const FILES: Readonly<Record<ArchiveName, string>> = {
  history: 'history.bin',
  run: 'run.json',
  final: 'final.json',
};

export class FolderArchive implements Archive {
  readonly #root: string;

  /** @param root folder of all jobs */
  constructor(root: string) {
    this.#root = root;
  }

  async put(job: string, name: ArchiveName, bytes: Uint8Array): Promise<void> {
    const path = join(jobFolder(this.#root, job), FILES[name]);
    try {
      await writeFile(`${path}.new`, bytes, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch (error) {
      await rm(`${path}.new`, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  getNow(job: string, name: ArchiveName): Uint8Array | undefined {
    try {
      return readFileSync(join(jobFolder(this.#root, job), FILES[name]));
    } catch {
      return undefined;
    }
  }

  async get(job: string, name: ArchiveName): Promise<Uint8Array | undefined> {
    return readFile(join(jobFolder(this.#root, job), FILES[name])).catch(() => undefined);
  }
}
