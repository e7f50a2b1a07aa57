/**
 * Checks the folder of one job. What its record has a checksum of is compared with it; the rest is read as the server
 * reads it: the hashes of program and input files, the places of output, the records of standard input and of the
 * journal.
 */
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { createBLAKE3 } from 'hash-wasm';
import { partsOf, type JobSpec } from '@mayfly/protocols';
import {
  RECORD,
  checkIndex,
  readRecord,
  readStdinRecord,
  sumOf,
  type JobFolderRecord,
  unreadable,
  unseal,
  type CheckProgress,
  type Problem,
} from '@mayfly/storage';
import { checkHistory } from '../history/store.ts';
import { programFile } from '../jobs/job-store.ts';

/** @returns the content of its record, if it can be read */
export async function checkJobFolder(
  dataDir: string,
  job: string,
  spec: JobSpec | undefined,
  over: boolean,
  problems: Problem[],
  progress: CheckProgress,
): Promise<JobFolderRecord | undefined> {
  const folder = `jobs/${job}`;
  const dir = join(dataDir, folder);
  const say = (path: string, what: string, harmless = false): void =>
    void problems.push({ file: path === '' ? folder : `${folder}/${path}`, what, ...(harmless ? { harmless } : {}) });
  try {
    await readdir(dir);
  } catch (error) {
    say('', unreadable(error));
    return undefined;
  }
  let record: JobFolderRecord | undefined;
  try {
    record = await readRecord(dir);
  } catch (error) {
    say(RECORD, (error as NodeJS.ErrnoException).code === 'DAMAGED_DATA' ? 'is damaged' : unreadable(error));
  }
  const job_ = spec ?? record?.job;
  const whole = over && record?.records !== undefined;
  await checkSums(dir, record, say, (path, bytes) => progress(`${folder}/${path}`, bytes));
  if (job_) await checkProgram(dir, job_, record, say);
  await checkReadable(dir, over, say);
  if (!whole) await checkRunning(dir, job_, say, (path, bytes) => progress(`${folder}/${path}`, bytes));
  return record;
}

type Say = (path: string, what: string, harmless?: boolean) => void;

async function checkSums(
  dir: string,
  record: JobFolderRecord | undefined,
  say: Say,
  progress: CheckProgress,
): Promise<void> {
  for (const [path, [bytes, crc]] of Object.entries(record?.sums ?? {}))
    try {
      const [size, sum] = await sumOf(join(dir, path));
      progress(path, size);
      if (size < bytes) say(path, `is damaged: it has ${size} bytes, and ${bytes} were written`);
      else if (size !== bytes || sum !== crc) say(path, 'is damaged: its checksum is wrong');
    } catch (error) {
      say(path, unreadable(error));
    }
}

/** Of a folder without a record, whose job came just before a crash: what has a hash. */
async function checkProgram(dir: string, job: JobSpec, record: JobFolderRecord | undefined, say: Say): Promise<void> {
  if (record) return;
  const programs = partsOf(job).map(({ program }, n) => [programFile(program.language, n), program.hash] as const);
  for (const [path, hash] of [...programs, ...job.files.map((f) => [`in/${f.hash}`, f.hash] as const)])
    try {
      const hasher = await createBLAKE3();
      for await (const chunk of createReadStream(join(dir, path)) as AsyncIterable<Buffer>) hasher.update(chunk);
      if (hasher.digest('hex') !== hash) say(path, 'is damaged: its hash differs');
    } catch (error) {
      say(path, unreadable(error));
    }
  try {
    JSON.parse(await readFile(join(dir, 'submission.json'), 'utf8'));
  } catch (error) {
    say('submission.json', error instanceof SyntaxError ? 'is damaged' : unreadable(error));
  }
}

/** Files with a checksum of their own. What is lost with them are statistics. */
async function checkReadable(dir: string, over: boolean, say: Say): Promise<void> {
  const files: [string, (bytes: Buffer) => void][] = [
    ['run.json', (b) => void JSON.parse(unseal(b.toString('utf8'), 'run.json'))],
    ['history.bin', checkHistory],
    ['final.json', (b) => void JSON.parse(unseal(b.toString('utf8'), 'final.json'))],
  ];
  for (const [path, read] of files)
    try {
      read(await readFile(join(dir, path)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const known = code?.startsWith('E') && !code.startsWith('ERR');
      // A job that ended in the same second has none yet.
      if (code !== 'ENOENT') say(path, known ? unreadable(error) : 'is damaged');
      else if (over && path === 'final.json') say(path, 'is missing');
    }
}

/** Of a job that has not ended: files that grow. */
async function checkRunning(dir: string, job: JobSpec | undefined, say: Say, progress: CheckProgress): Promise<void> {
  await checkStdin(dir, job, say);
  await checkJournal(dir, say);
  await checkFiles(dir, say);
  let names: string[];
  try {
    names = await readdir(join(dir, 'out'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') say('out', unreadable(error));
    return;
  }
  for (const name of names) {
    const m = /^(\d+)\.(index|stdout|stderr)$/.exec(name);
    if (!m) continue;
    const task = m[1]!;
    if (m[2] !== 'index') {
      if (!names.includes(`${task}.index`)) say(`out/${task}.index`, 'is missing');
      continue;
    }
    try {
      progress(`out/${name}`, (await stat(join(dir, 'out', name))).size);
      for (const p of checkIndex(join(dir, 'out'), task)) say(`out/${p.file}`, p.what, p.harmless);
    } catch (error) {
      say(`out/${name}`, unreadable(error));
    }
  }
}

async function checkStdin(dir: string, job: JobSpec | undefined, say: Say): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(dir, 'stdin'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') say('stdin', unreadable(error));
    else if (job && !job.interactive) say('stdin', 'is missing');
    return;
  }
  let at = 0;
  let ended = false;
  for (let r = readStdinRecord(bytes, at); r && !ended; r = readStdinRecord(bytes, at)) {
    ended = r.bytes.length === 0;
    at = r.end;
  }
  if (at !== bytes.length) say('stdin', `is damaged from byte ${at} on`);
  else if (job && !job.interactive && !ended) say('stdin', 'is damaged: its end is missing');
}

/**
 * Result files: a server that starts mends what its journal says of them, but cannot write where a folder
 * stands, or what it may not open.
 */
async function checkFiles(dir: string, say: Say): Promise<void> {
  let index: string;
  try {
    index = await readFile(join(dir, 'out', 'files.index'), 'utf8');
  } catch (error) {
    // Nothing was written yet, or the next start writes it again.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      say('out/files.index', `${unreadable(error)}; the next start writes it again`, true);
    index = '';
  }
  const files = new Set<string>();
  for (const line of index.split('\n').filter((l) => l !== ''))
    try {
      const { path } = JSON.parse(line) as { path?: unknown };
      if (typeof path !== 'string') throw new SyntaxError('names no file');
      files.add(path);
    } catch {
      say('out/files.index', 'is damaged; the next start writes it again', true);
      break;
    }
  for (const path of files)
    try {
      await (await open(join(dir, 'out', 'files', path), 'r+')).close();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') say(`out/files/${path}`, unreadable(error));
    }
}

async function checkJournal(dir: string, say: Say): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(dir, 'out', 'journal'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') say('out/journal', unreadable(error));
    return;
  }
  let at = 0;
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    if (at + 8 + length > bytes.length || crc32(bytes.subarray(at + 8, at + 8 + length)) !== bytes.readUInt32LE(at + 4))
      break;
    at += 8 + length;
  }
  if (bytes.length === 0) say('out/journal', 'is empty');
  else if (at !== bytes.length) say('out/journal', `is damaged from byte ${at} on`);
}
