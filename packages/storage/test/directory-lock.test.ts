/**
 * Two real processes and one data directory: in one process namespace and in two, over two mounts, copied, killed,
 * stopped, and without the socket, which is how it looks from another machine.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { LOCK_FOLDER, lockDirectory, openEmbeddedStorage, restoreDirectory } from '../src/index.ts';
import { temporary } from './temporary.ts';

/** Longer than any test: who would have to watch so long proves that it did not. */
const NEVER = 3600_000;

let base: Awaited<ReturnType<typeof temporary>>;
let directory: string;
let processes: Process[] = [];

beforeAll(async () => {
  base = await temporary();
  await build({
    entryPoints: [join(import.meta.dirname, 'lock-child.ts')],
    outfile: join(base.path, 'child.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => base.dispose());
beforeEach(async () => {
  directory = await mkdtemp(join(base.path, 'data-'));
});
afterEach(async () => {
  for (const p of processes) await p.kill();
  processes = [];
});

class Process {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #gone: Promise<unknown>;

  /** @param within a command that runs it, with its arguments */
  constructor(of: string, { beatMs = 1000, watchMs = NEVER, within = [] as string[] } = {}) {
    const [command, ...args] = [...within, process.execPath, join(base.path, 'child.mjs'), of, beatMs, watchMs];
    this.child = spawn(String(command), args.map(String), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface(this.child.stdout!)[Symbol.asyncIterator]();
    this.#gone = new Promise((resolve) => this.child.once('exit', resolve));
    processes.push(this);
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done ? 'nothing' : value;
  }

  write(n: number): void {
    this.child.stdin!.write(`write ${n}\n`);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#gone;
  }
}

/** How this user makes namespaces; undefined: not at all. */
function namespaces(...flags: string[]): string[] | undefined {
  const ways = [[], ['--user', '--map-root-user']].map((user) => ['unshare', ...user, ...flags]);
  return ways.find(([command, ...args]) => spawnSync(command!, [...args, 'true']).status === 0);
}

const ownPids = namespaces('--pid', '--fork', '--mount-proc', '--kill-child');
const ownMounts = namespaces('--mount');
const claims = async (): Promise<string[]> => (await readdir(join(directory, LOCK_FOLDER))).sort();

it.skipIf(!ownPids)('refuses a process in another pid namespace, and lets it in at once after kill -9', async () => {
  const first = new Process(directory);
  expect(await first.line()).toMatch(/^open/);
  expect(await new Process(directory, { within: ownPids! }).line()).toMatch(
    /^refused CONFLICT .* is in use by process \d+ on .*; stop that process or choose another --data-dir$/,
  );
  first.write(1);
  expect([await first.line(), await first.line()]).toEqual(['appended 1', 'stored 1']);
  await first.kill();
  const second = new Process(directory, { within: ownPids! });
  expect(await second.line()).toMatch(/^open/);
  // The other way round: the owner has pid 1 of its own namespace.
  expect(await new Process(directory).line()).toMatch(/^refused CONFLICT/);
  await second.kill();
  expect(await new Process(directory).line()).toMatch(/^open/);
});

it.skipIf(!ownMounts)('refuses a process that sees the directory by another mount, under another path', async () => {
  const other = join(base.path, 'mounted');
  await mkdir(other, { recursive: true });
  const within = [...ownMounts!, 'sh', '-c', `mount --bind '${directory}' '${other}' && exec "$@"`, 'sh'];
  const first = new Process(directory);
  expect(await first.line()).toMatch(/^open/);
  expect(await new Process(other, { within }).line()).toMatch(/^refused CONFLICT/);
  await first.kill();
  expect(await new Process(other, { within }).line()).toMatch(/^open/);
});

it('opens a directory that was copied while a process used it, and leaves that one alone', async () => {
  const first = new Process(directory);
  expect(await first.line()).toMatch(/^open/);
  const copy = `${directory}-copy`;
  // A socket of its own, at which nobody listens.
  spawnSync('cp', ['-a', directory, copy]);
  expect(await new Process(copy).line()).toMatch(/^open/);
  // As a tool that leaves sockets out.
  const files = `${directory}-files`;
  await cp(directory, files, { recursive: true, filter: (path) => !path.endsWith('.socket') });
  expect(await new Process(files, { watchMs: 100 }).line()).toMatch(/^open/);
  first.write(1);
  expect([await first.line(), await first.line()]).toEqual(['appended 1', 'stored 1']);
});

it('X3: without a socket the beats show that the owner lives, and their end that it died', async () => {
  const first = new Process(directory, { beatMs: 50 });
  expect(await first.line()).toMatch(/^open/);
  for (const name of await claims()) if (name.endsWith('.socket')) await rm(join(directory, LOCK_FOLDER, name));
  // It watches until it has seen a beat.
  expect(await new Process(directory).line()).toMatch(/^refused CONFLICT/);
  await first.kill();
  expect(await new Process(directory, { watchMs: 100 }).line()).toMatch(/^open/);
});

it('X4: a process that was stopped, and whose directory was taken, writes nothing when it goes on', async () => {
  const first = new Process(directory, { beatMs: 50 });
  expect(await first.line()).toMatch(/^open/);
  // As seen from another machine. From this one, a process that is stopped has the directory as before:
  first.child.kill('SIGSTOP');
  expect(await new Process(directory, { watchMs: 1 }).line()).toMatch(/^refused CONFLICT/);
  for (const name of await claims()) if (name.endsWith('.socket')) await rm(join(directory, LOCK_FOLDER, name));
  const second = new Process(directory, { watchMs: 200 });
  expect(await second.line()).toMatch(/^open/);
  first.write(1);
  first.child.kill('SIGCONT');
  expect([await first.line(), await first.line(), await first.line()].sort()).toEqual([
    'failed CONFLICT',
    'failed CONFLICT',
    'lost',
  ]);
  second.write(2);
  expect([await second.line(), await second.line()]).toEqual(['appended 2', 'stored 2']);
  await first.kill();
  await second.kill();
  const storage = await openEmbeddedStorage({ dataDir: directory });
  expect(await storage.registry.entries('n/')).toEqual([['n/2', '2']]);
  expect([...(await storage.log.open('job/cm0/t0')).scan()].map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
    '2',
  ]);
  await storage.close();
});

it('X1, X4: an owner whose claim is gone reports nothing as stored beside the next owner', async () => {
  const first = await openEmbeddedStorage({ dataDir: directory });
  await first.registry.commit([['before', 1]]);
  // Nobody else is there: a hand removed it, and it comes again.
  await rm(join(directory, LOCK_FOLDER), { recursive: true });
  await first.registry.commit([['between', 1]]);
  expect(first.lost.aborted).toBe(false);
  await expect.poll(async () => (await readdir(directory)).includes(LOCK_FOLDER)).toBe(true);
  await expect(openEmbeddedStorage({ dataDir: directory })).rejects.toMatchObject({ code: 'CONFLICT' });
  await rm(join(directory, LOCK_FOLDER), { recursive: true });
  const second = await openEmbeddedStorage({ dataDir: directory });
  const stream = await first.log.open('s').catch((error: unknown) => error);
  expect(stream).toMatchObject({ code: 'CONFLICT' });
  const taken = { code: 'CONFLICT', message: expect.stringContaining('has taken the data directory') as string };
  for (const write of [
    () => first.registry.commit([['after', 1]]),
    () => first.registry.lease('l', 1000),
    () => first.images.putManifest('i', '{}'),
    () => first.files.create('j', new Map()),
    () => first.output.remove('j'),
    () => first.archive.put('j', 'run', new Uint8Array(1)),
  ])
    await expect(write()).rejects.toMatchObject(taken);
  expect(first.lost.reason).toMatchObject(taken);
  expect((await second.registry.entries('')).map(([key]) => key)).toEqual(['before', 'between']);
  await first.close();
  // What it leaves behind is the other's.
  await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'CONFLICT' });
  await second.close();
  expect(await readdir(directory)).not.toContain(LOCK_FOLDER);
});

it('X2: of many that begin at once, also beside a dead claim, one gets it', async () => {
  for (let round = 0; round < 5; round++) {
    await new Process(directory).line();
    await processes.at(-1)!.kill();
    expect(await claims()).toHaveLength(2);
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
    const got = all.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
    expect(got).toHaveLength(1);
    for (const r of all) if (r.status === 'rejected') expect(r.reason).toMatchObject({ code: 'CONFLICT' });
    await got[0]!.release();
  }
});

it('asks the kernel also where the path of the directory is longer than that of a socket may be', async () => {
  const long = join(directory, 'd'.repeat(120));
  await mkdir(long);
  const first = new Process(long);
  expect(await first.line()).toMatch(/^open/);
  expect(await new Process(long, { beatMs: NEVER }).line()).toMatch(/^refused CONFLICT/);
  await first.kill();
  expect(await new Process(long).line()).toMatch(/^open/);
});

it('takes no time after kill -9 in the ordinary case, although a claim was only half written', async () => {
  await mkdir(join(directory, LOCK_FOLDER));
  await writeFile(join(directory, LOCK_FOLDER, '0123456789abcdef'), '{"who":"proc');
  const lock = await lockDirectory(directory, { watchMs: 100 });
  expect(await claims()).toHaveLength(2);
  await lock.release();
  // NEVER: it did not watch.
  await new Process(directory).line();
  await processes.at(-1)!.kill();
  expect(await new Process(directory).line()).toMatch(/^open/);
});

it('says what lies in its place', async () => {
  const claim = join(directory, LOCK_FOLDER, '0123456789abcdef');
  await mkdir(claim, { recursive: true });
  await expect(lockDirectory(directory)).rejects.toMatchObject({
    code: 'DAMAGED_DATA',
    message: `${claim} is a folder where a file belongs; make sure that no server uses ${directory}, then remove it`,
  });
  await rm(join(directory, LOCK_FOLDER), { recursive: true });
  await writeFile(join(directory, LOCK_FOLDER), '{"pid":1,"started":""}');
  await expect(lockDirectory(directory)).rejects.toMatchObject({
    code: 'DAMAGED_DATA',
    message:
      `${join(directory, LOCK_FOLDER)} is a file where a folder belongs; make sure that no server uses ` +
      `${directory}, then remove it`,
  });
  expect(await readFile(join(directory, LOCK_FOLDER), 'utf8')).toContain('pid');
});

it('restores into no directory that a process uses', async () => {
  const from = await openEmbeddedStorage({ dataDir: directory });
  const backup = `${directory}-backup`;
  await from.backup(backup, { version: '1', at: 1 });
  await from.close();
  const target = await mkdtemp(join(base.path, 'target-'));
  const lock = await lockDirectory(target);
  await expect(restoreDirectory(backup, target)).rejects.toMatchObject({ code: 'CONFLICT' });
  await lock.release();
  await restoreDirectory(backup, target);
  await expect(restoreDirectory(backup, target)).rejects.toMatchObject({
    message: expect.stringContaining('is not empty') as string,
  });
});
