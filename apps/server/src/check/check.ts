/**
 * `mayfly check`: verifies a data directory that no server uses, and with `repair` restores what can be restored. It
 * never deletes: what cannot stay where it is goes to `damaged/<moment>/`, under its own name.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isOver, protocols, type JobRecord, type JobSpec } from '@mayfly/protocols';
import {
  checkImages,
  checkLogs,
  checkRegistry,
  jobsOf,
  lockDirectory,
  openEmbeddedStorage,
  rebuildRegistry,
  unknownData,
  unreadable,
  type CheckProgress,
  type DirectoryLock,
  type ImagesCheck,
  type JobFolderRecord,
  type Problem,
  type RegistryCheck,
} from '@mayfly/storage';
import { MayflyError } from '@mayfly/wire';
import { keyFits } from '../tls.ts';
import { checkJobFolder } from './job-folder.ts';

export interface DataCheck {
  /** In sentences, by file. */
  problems: Problem[];
  /** What `repair` did, in sentences. */
  done: string[];
  jobs: number;
  files: number;
  bytes: number;
}

export interface CheckOptions {
  repair?: boolean;
  /** Called for every file that was read. */
  progress?: CheckProgress;
  /** ms since the epoch. */
  now?: number;
}

const PARTS = ['registry', 'log', 'images', 'jobs', 'tls'];

/**
 * @throws MayflyError CONFLICT when a server uses it, NOT_FOUND when it is no data directory, VERSION_MISMATCH; errors
 * of the file system
 */
export async function checkDataDirectory(dataDir: string, options: CheckOptions = {}): Promise<DataCheck> {
  let names: string[];
  try {
    names = await readdir(dataDir);
  } catch (error) {
    throw new MayflyError('NOT_FOUND', `${dataDir} ${unreadable(error)}`);
  }
  if (!names.some((n) => PARTS.includes(n)))
    throw new MayflyError(
      'NOT_FOUND',
      `${dataDir} is not a data directory: it has none of ${PARTS.map((p) => `${p}/`).join(', ')}`,
    );
  const lock = await lockDirectory(dataDir);
  try {
    const c = new Check(dataDir, lock, options);
    await c.run();
    if (options.repair) await c.repair();
    lock.confirm();
    return c.result;
  } finally {
    await lock.release();
  }
}

class Check {
  readonly result: DataCheck = { problems: [], done: [], jobs: 0, files: 0, bytes: 0 };
  readonly #dataDir: string;
  readonly #lock: DirectoryLock;
  readonly #now: number;
  readonly #aside: string;
  readonly #progress: CheckProgress;
  #registry!: RegistryCheck;
  #images!: ImagesCheck;
  /** Of jobs that the registry does not know. */
  readonly #records = new Map<string, JobFolderRecord>();
  #unknown!: Awaited<ReturnType<typeof unknownData>>;

  constructor(dataDir: string, lock: DirectoryLock, options: CheckOptions) {
    this.#dataDir = dataDir;
    this.#lock = lock;
    this.#now = options.now ?? Date.now();
    this.#aside = join(dataDir, 'damaged', new Date(this.#now).toISOString().replaceAll(':', '-').replace('Z', ''));
    this.#progress = (file, bytes) => {
      this.result.files++;
      this.result.bytes += bytes;
      options.progress?.(file, bytes);
    };
  }

  get #problems(): Problem[] {
    return this.result.problems;
  }

  async run(): Promise<void> {
    this.#registry = await checkRegistry(this.#dataDir);
    this.#problems.push(...this.#registry.problems);
    const { entries } = this.#registry;
    const known = jobsOf(entries.keys());
    await this.#checkFolders();
    this.#unknown = await unknownData(this.#dataDir, known).catch((error: unknown) => {
      if (!(error instanceof MayflyError)) throw error;
      return { jobs: [], logs: new Map<string, string[]>(), images: new Map<string, string[]>() };
    });
    const logs = await checkLogs(this.#dataDir, this.#progress);
    this.#problems.push(...logs.problems);
    const expected = [...entries].flatMap(([key, value]) =>
      key.startsWith('image/') ? [(value as { image: string }).image] : [],
    );
    this.#images = await checkImages(this.#dataDir, expected, this.#progress);
    this.#problems.push(...this.#images.problems);
    for (const [key, value] of entries) {
      if (!key.startsWith('job/')) continue;
      const { spec, state } = value as { spec: JobSpec; state: string };
      this.result.jobs++;
      await checkJobFolder(this.#dataDir, spec.id, spec, isOver(state), this.#problems, this.#progress);
      if (!isOver(state) && protocols[spec.protocol].log.keeps === 'durable' && spec.size > 1)
        this.#checkStreams(spec, logs.next);
    }
    for (const job of this.#unknown.jobs) {
      this.#problems.push({ file: `jobs/${job}`, what: 'belongs to a job that is not in the registry' });
      const record = await checkJobFolder(this.#dataDir, job, undefined, true, this.#problems, this.#progress);
      if (record) this.#records.set(job, record);
    }
    for (const [job, streams] of this.#unknown.logs)
      this.#problems.push({ file: `log/${streams[0]!}`, what: `belongs to job ${job}, which is not in the registry` });
    for (const [job, files] of this.#unknown.images)
      this.#problems.push({
        file: `images/manifests/${files[0]!}`,
        what: `belongs to job ${job}, which is not in the registry`,
        ...(known.size > 0 && !this.#unknown.jobs.includes(job) ? { harmless: true } : {}),
      });
    if (entries.size > 0 && !entries.has('secret/token'))
      this.#problems.push({ file: 'registry', what: 'holds no owner token: the next start creates a new one' });
    await this.#checkTls();
  }

  async #checkFolders(): Promise<void> {
    for (const part of ['log', 'images', 'jobs'])
      try {
        if (!(await stat(join(this.#dataDir, part))).isDirectory())
          this.#problems.push({ file: part, what: 'is a file where a folder belongs' });
        else await readdir(join(this.#dataDir, part));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          this.#problems.push({ file: part, what: unreadable(error) });
      }
  }

  /** A rank of several with an image has had messages: numbers of a stream go on when it is trimmed. */
  #checkStreams(spec: JobSpec, next: ReadonlyMap<string, number>): void {
    const tasks = new Set(
      [...this.#registry.entries.keys()].flatMap((key) =>
        key.startsWith(`image/${spec.id}/`) ? [key.split('/')[2]!] : [],
      ),
    );
    for (const task of tasks) {
      const stream = [...next.keys()].find((name) => name.startsWith(`${spec.id}/cm`) && name.endsWith(`/t${task}`));
      if (stream !== undefined && next.get(stream)! > 0) continue;
      this.#problems.push({
        file: `log/${encodeURIComponent(stream ?? `${spec.id}/cm0/t${task}`)}`,
        what:
          `${stream === undefined ? 'is missing' : 'is empty'}, though rank ${task} of job ${spec.id} has ` +
          'images: the messages since them are lost',
      });
    }
  }

  async #checkTls(): Promise<void> {
    let names: string[];
    try {
      names = await readdir(join(this.#dataDir, 'tls'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#problems.push({ file: 'tls', what: unreadable(error) });
      return;
    }
    if (names.length === 0) return;
    const again = 'the next start creates a new certificate, and browsers will warn about it once';
    const read = async <T>(file: string, parse: (pem: Buffer) => T): Promise<T | undefined> => {
      try {
        return parse(await readFile(join(this.#dataDir, 'tls', file)));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        this.#problems.push({
          file: `tls/${file}`,
          what: `${code?.startsWith('E') && !code.startsWith('ERR') ? unreadable(error) : 'is damaged'}; ${again}`,
        });
        return undefined;
      }
    };
    const cert = await read('cert.pem', (pem) => new X509Certificate(pem));
    const key = await read('key.pem', (pem) => createPrivateKey(pem));
    if (cert && key && !keyFits(cert, key))
      this.#problems.push({ file: 'tls/key.pem', what: `does not belong to tls/cert.pem; ${again}` });
    else if (cert && !cert.verify(cert.publicKey))
      this.#problems.push({ file: 'tls/cert.pem', what: `is damaged: its signature is wrong; ${again}` });
  }

  // Repair

  async repair(): Promise<void> {
    if (this.#problems.length === 0) return;
    const entries = new Map(this.#registry.entries);
    for (const { file } of this.#problems.filter(
      (p) => /^(?:log|images|jobs|registry)$/.test(p.file) && p.what.startsWith('is a file'),
    ))
      await this.#setAside(file);
    await this.#takeIn(entries);
    await this.#dropImages(entries);
    const changed =
      entries.size !== this.#registry.entries.size ||
      [...entries].some(([k, v]) => this.#registry.entries.get(k) !== v);
    const registry = this.#registry.problems.length > 0;
    if (changed || registry) {
      this.#lock.confirm();
      await rebuildRegistry(this.#dataDir, this.#aside, entries);
      this.#did(`registry: rebuilt with ${entries.size} records; the old files are in ${this.#rel()}/registry`);
      if (!entries.has('secret/token'))
        this.#did(
          'registry: the tokens and rooms without a readable record are lost; the next start creates a new owner token',
        );
    }
    for (const p of this.#problems) if (p.file.startsWith('tls/')) await this.#setAside(p.file);
    // Mends pages, cuts torn tails of packs, and sees that a server can open it.
    await this.#mend();
  }

  /** Jobs that the registry lacks. */
  async #takeIn(entries: Map<string, unknown>): Promise<void> {
    const orders = [...entries].flatMap(([key, value]) => (key.startsWith('job/') ? [(value as JobRecord).order] : []));
    let order = Math.max(0, ...orders);
    for (const job of this.#unknown.jobs) {
      const record = this.#records.get(job);
      if (!record) {
        await this.#setAside(`jobs/${job}`, 'its folder does not say enough of it (no readable record.json)');
        continue;
      }
      if (record.records) {
        for (const [key, value] of record.records) entries.set(key, value);
        this.#did(`jobs/${job}: “${record.job.name}” is in the registry again, with its end and its output`);
      } else {
        const lost =
          'The registry of the server was lost while the job ran. Its output up to then is here; run it ' +
          'again for the rest.';
        const { submittedAt } = record.job;
        entries.set(`job/${job}`, {
          spec: record.job,
          order: ++order,
          state: 'failed',
          startedAt: submittedAt,
          endedAt: this.#now,
          error: { code: 'DAMAGED_DATA', message: lost },
        } satisfies JobRecord);
        this.#did(
          `jobs/${job}: “${record.job.name}” had not ended; it is in the registry again as failed, with what ` +
            'it had written',
        );
      }
    }
    for (const streams of this.#unknown.logs.values())
      for (const s of streams) await this.#setAside(`log/${s}`, undefined);
    for (const [job, files] of this.#unknown.images) {
      // An image that a crash left behind does no harm where it lies.
      if (
        this.#unknown.jobs.includes(job) ||
        this.#unknown.logs.has(job) ||
        jobsOf(this.#registry.entries.keys()).size === 0
      )
        for (const f of files) await this.#setAside(`images/manifests/${f}`, undefined);
    }
  }

  /** A damaged image goes where the task has another one, sound and older or newer. */
  async #dropImages(entries: Map<string, unknown>): Promise<void> {
    const byTask = new Map<string, [key: string, image: string][]>();
    for (const [key, value] of entries) {
      const task = /^image\/([^/]+\/\d+)\//.exec(key)?.[1];
      if (task === undefined) continue;
      const list = byTask.get(task) ?? [];
      byTask.set(task, list);
      list.push([key, (value as { image: string }).image]);
    }
    for (const [task, images] of byTask) {
      const damaged = images.filter(([, image]) => this.#images.damaged.has(image));
      if (damaged.length === 0) continue;
      const sound = images.filter(([, image]) => !this.#images.damaged.has(image));
      const [job, rank] = task.split('/');
      for (const [key, image] of damaged) {
        const file = this.#images.damaged.get(image)!;
        if (sound.length === 0 && entries.has(`trimmed/${task}`)) {
          this.#did(
            `${file}: rank ${rank} of job ${job} has no intact image, and its log from the start is gone; if ` +
              'the rank is lost, the job ends with an error',
          );
          continue;
        }
        entries.delete(key);
        await this.#setAside(
          file,
          sound.length > 0
            ? `rank ${rank} of job ${job} goes back to image ${sound.at(-1)![1]}`
            : `rank ${rank} of job ${job} begins again from its log`,
        );
      }
    }
  }

  async #mend(): Promise<void> {
    const pages = this.#problems.filter((p) => p.file.startsWith('images/pa') && p.harmless).map((p) => p.file);
    try {
      const storage = await openEmbeddedStorage({ dataDir: this.#dataDir, lock: this.#lock });
      try {
        if (pages.length > 0)
          for (const image of await storage.images.list(''))
            for (const hash of await pagesOf(storage, image)) await storage.images.getPage(hash);
      } finally {
        await storage.close();
      }
      for (const file of pages) this.#did(`${file}: repaired as far as possible`);
    } catch (error) {
      this.#did(`A server cannot open the directory yet: ${(error as Error).message}`);
    }
  }

  async #setAside(file: string, why?: string): Promise<void> {
    this.#lock.confirm();
    const to = join(this.#aside, file);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    try {
      await rename(join(this.#dataDir, file), to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      if (why !== undefined) this.#did(`${file}: ${why}`);
      return;
    }
    this.#did(`${file}: moved to ${this.#rel()}${why === undefined ? '' : `; ${why}`}`);
  }

  #rel(): string {
    return this.#aside.slice(this.#dataDir.length + 1);
  }

  #did(what: string): void {
    this.result.done.push(what);
  }
}

async function pagesOf(storage: Awaited<ReturnType<typeof openEmbeddedStorage>>, image: string): Promise<string[]> {
  try {
    const json = await storage.images.getManifest(image);
    return json === undefined
      ? []
      : [...new Set((JSON.parse(json) as { pages: string[] }).pages)].filter((h) => h !== '');
  } catch {
    return [];
  }
}
