/**
 * What compiling C++ costs: five small files that begin with headers of the library (programs/compile), compiled with
 * -O3 two at a time and linked, by `mayfly mpicxx` and by MPICH's mpicxx (gcc) in the same run. Processor time of the
 * callers and of the compile server together.
 *
 * Does not measure: large files, where the optimiser counts more than headers; memory. Linux only (/proc).
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, processorTimes, ROOT, spent, type Times } from './mayfly-side.ts';
import { NATIVE } from './native.ts';
import { quick } from './short.ts';
import { print, times } from './table.ts';

const AT_ONCE = 2;
/** The other rows hold work that is done once: the engine compiles clang, headers are precompiled. */
const GOALS = { there: 3, repeated: 0.2 };

interface Side {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly server: () => Promise<Times>;
}

/** Processor time of a command and what it started, ms, as the shell counts it. @throws when it fails */
function timed([command, ...args]: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn('sh', ['-c', '"$@" >&2 || exit; times', 'sh', command!, ...args], { cwd, env });
  let out = '';
  let err = '';
  child.stdout.on('data', (d: Buffer) => (out += d.toString()));
  child.stderr.on('data', (d: Buffer) => (err += d.toString()));
  return new Promise((resolve, reject) =>
    child.once('close', (code) => {
      const clocks = [...out.matchAll(/(\d+)m([\d.]+)s/g)].map((m) => 60_000 * Number(m[1]) + 1000 * Number(m[2]));
      // The second line is that of the children.
      if (code === 0 && clocks.length === 4) resolve(clocks[2]! + clocks[3]!);
      else reject(new Error(`${command} ${args.join(' ')}: ${code}\n${err}`));
    }),
  );
}

async function build(side: Side, sources: readonly string[], cwd: string, more: readonly string[]): Promise<number> {
  const before = await side.server();
  let callers = 0;
  const waiting = [...sources];
  const call = async (args: readonly string[]): Promise<void> => {
    callers += await timed([...side.command, ...args], cwd, side.env);
  };
  const worker = async (): Promise<void> => {
    for (let s = waiting.shift(); s !== undefined; s = waiting.shift()) await call(['-O3', ...more, '-c', s]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await call(['-O3', ...sources.map((s) => s.replace(/cc$/, 'o')), '-o', 'program']);
  return callers + spent(before, await side.server());
}

export async function compile(): Promise<boolean> {
  const native = NATIVE['c++'];
  if (native === undefined) {
    console.log('compile: left out, no MPICH is installed');
    return true;
  }
  const scratch = await mkdtemp(join(tmpdir(), 'mayfly-bench-compile-'));
  try {
    const cwd = join(scratch, 'sources');
    await cp(join(ROOT, 'benchmarks/programs/compile'), cwd, { recursive: true });
    const sources = (await readdir(cwd)).filter((n) => n.endsWith('.cc')).sort();
    const server = async (): Promise<Times> => {
      const pids = (await readdir(scratch)).filter((n) => n.endsWith('.pid'));
      return pids[0] === undefined
        ? new Map<number, number>()
        : processorTimes(Number(await readFile(join(scratch, pids[0]), 'utf8')));
    };
    const env = {
      ...process.env,
      MAYFLY_RUNTIME_DIR: scratch,
      MAYFLY_COMPILE_CACHE: join(scratch, 'calls'),
      MAYFLY_COMPILE_SERVER_IDLE: '60',
    };
    const gcc: Side = { command: [native], env: process.env, server: () => Promise.resolve(new Map<number, number>()) };
    const ours: Side = { command: [process.execPath, CLI, 'mpicxx'], env, server };
    const forgetful: Side = { ...ours, env: { ...env, MAYFLY_COMPILE_CACHE: 'off' } };
    const rows: { readonly what: string; readonly goal?: number; readonly ratio: number }[] = [];
    const measure = async (what: string, side: Side, more: readonly string[], goal?: number): Promise<void> => {
      const [mayfly, peer] = [await build(side, sources, cwd, more), await build(gcc, sources, cwd, more)];
      rows.push({ what, ratio: mayfly / peer, ...(goal === undefined ? {} : { goal }) });
    };
    await measure('the server starts, precompiled headers are made', ours, []);
    await measure('a repeated build', ours, [], GOALS.repeated);
    await measure('other options: they are made', ours, ['-Wall']);
    // Each of these has another macro, so no call is remembered.
    await measure('they are there', ours, ['-Wall', '-DOTHER_1'], GOALS.there);
    await measure('they are there', ours, ['-Wall', '-DOTHER_2'], GOALS.there);
    await measure('without them', forgetful, ['-Wall']);
    await measure('without them', forgetful, ['-Wall']);
    for (const pid of (await server()).keys()) process.kill(pid);
    console.log('compile: processor time against gcc, five C++ files and their link');
    print(
      ['', 'goal', 'Mayfly / gcc'],
      rows.map((r) => [r.what, r.goal === undefined ? '–' : times(r.goal), times(r.ratio)]),
    );
    return quick(rows.every((r) => r.goal === undefined || r.ratio <= 2 * r.goal));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
