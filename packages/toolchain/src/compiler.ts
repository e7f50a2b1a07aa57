/**
 * The compiler as its users see it: a queue in front of one warm compile process.
 *
 * Owns: the process, the queue. Does not own: what a program may be (resolve.ts, inspect.ts).
 * Invariants:
 *   C1  one request at a time is inside the process;
 *   C2  every request is answered: by its result, or TIME_LIMIT, or TOO_LARGE (the process ran out of memory), or COMPILE_FAILED;
 *   C3  a process that is over its time or has failed is killed with its children and never serves again;
 *   C4  an idle process keeps nobody alive, and goes away by itself.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { AnyRequest, FromCompileServer, ToCompileServer } from './compile-protocol.ts';
import { compileServerPath } from './dist-files.ts';
import { stackFlags } from './stack-flags.ts';
import type { Compiler, CompileResult, CompilerOptions, ModuleResult, RefusedProgram } from './types.ts';

interface Job {
  readonly id: number;
  readonly request: AnyRequest | undefined;
  readonly resolve: (result: CompileResult | ModuleResult) => void;
  readonly reject: (error: Error) => void;
}

/** clang's own memory, which is none of the heap: 1.25 GB (it takes 0.1 to 0.5). */
const WASM_PAGES = 20_480;
const MEMORY_EXHAUSTED = /heap out of memory|Reached heap limit|invalid size error|Cannot allocate memory/i;

export function createCompiler(options: CompilerOptions = {}): Compiler {
  const { memoryMb = 512, maxSourceBytes = 8 << 20, maxFiles = 500, maxQueue = 64, idleMs = 600_000 } = options;
  // The start of the process is no program's: what a program may take says nothing of it.
  const limitOf = (job: Job): number => (job.request === undefined ? 120_000 : (options.timeLimitMs ?? ('language' in job.request ? 120_000 : 30_000)));
  const queue: Job[] = [];
  let current: Job | undefined;
  let child: ChildProcess | undefined;
  /** A killed process cannot remove its own. */
  const folders = new Map<ChildProcess, string>();
  let errorText = '';
  let timer: NodeJS.Timeout | undefined;
  let nextId = 1;
  let closed = false;

  const remove = (of: ChildProcess | undefined): void => {
    const folder = of && folders.get(of);
    if (folder === undefined) return;
    folders.delete(of!);
    rmSync(folder, { recursive: true, force: true });
  };

  const kill = (): void => {
    const dying = child;
    child = undefined;
    if (dying === undefined) return;
    end(dying);
    remove(dying);
  };
  const end = (dying: ChildProcess): void => {
    if (dying.pid === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
    try {
      // The process leads a group of its own: esbuild goes with it.
      if (process.platform === 'win32') dying.kill('SIGKILL');
      else process.kill(-dying.pid, 'SIGKILL');
    } catch {
      // It has just gone.
    }
  };

  const settle = (how: (job: Job) => void): void => {
    const job = current;
    current = undefined;
    clearTimeout(timer);
    if (job !== undefined) how(job);
    pump();
  };

  const start = (): ChildProcess => {
    errorText = '';
    const { PATH, TMPDIR, TMP, TEMP, SystemRoot, ESBUILD_BINARY_PATH } = process.env;
    const kept = Object.entries({ PATH, TMPDIR, TMP, TEMP, SystemRoot, ESBUILD_BINARY_PATH }).filter(([, v]) => v !== undefined);
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-compile-'));
    const started = spawn(process.execPath, [`--max-old-space-size=${memoryMb}`, `--wasm-max-mem-pages=${WASM_PAGES}`, ...stackFlags(), options.serverPath ?? compileServerPath(), folder], {
      cwd: tmpdir(),
      env: { ...Object.fromEntries(kept), GOMEMLIMIT: `${memoryMb}MiB`, GOMAXPROCS: '2' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Modules travel as bytes.
      serialization: 'advanced',
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    folders.set(started, folder);
    started.stderr!.on('data', (bytes: Buffer) => {
      if (child === started) errorText = (errorText + bytes.toString()).slice(-8192);
    });
    started.on('message', (m: FromCompileServer) => {
      if (child !== started || m.type === 'ready' || m.id !== current?.id) return;
      if (m.type === 'failed') kill();
      settle((job) => {
        if (m.type === 'result') job.resolve(m.result);
        else if (m.type === 'warm') job.resolve(undefined as never);
        else if (job.request === undefined) job.reject(new MayflyError('INTERNAL', `The compile process failed: ${m.message}`));
        else job.resolve(refusal('COMPILE_FAILED', `The compiler gave up on this program: ${m.message.split('\n')[0]!}`, job));
      });
    });
    const gone = (why: string): void => {
      if (child !== started) return;
      child = undefined;
      settle((job) => {
        if (job.request === undefined) job.reject(new MayflyError('INTERNAL', `The compile process ended: ${why} ${errorText}`));
        else if (MEMORY_EXHAUSTED.test(errorText)) job.resolve(refusal('TOO_LARGE', `Compiling the program takes more than the ${memoryMb} MB that a compilation may use.`, job));
        else job.reject(new MayflyError('INTERNAL', `The compile process ended: ${why} ${errorText.slice(-1000)}`));
      });
    };
    started.on('error', (error) => gone(error.message));
    // 'close' rather than 'exit': what it wrote last says why.
    started.on('close', (code, signal) => {
      remove(started);
      gone(`${signal ?? `exit ${code}`}.`);
    });
    return started;
  };

  const keepsAlive = (on: boolean): void => {
    const c = child as (ChildProcess & { stderr: { ref?(): void; unref?(): void } | null; channel?: { ref(): void; unref(): void } | null }) | undefined;
    for (const handle of [c, c?.stderr, c?.channel]) if (on) handle?.ref?.();
      else handle?.unref?.();
  };

  const pump = (): void => {
    if (current !== undefined) return;
    current = queue.shift();
    clearTimeout(timer);
    if (current === undefined) {
      keepsAlive(false);
      timer = setTimeout(kill, idleMs);
      timer.unref();
      return;
    }
    try {
      child ??= start();
    } catch (error) {
      settle((job) => job.reject(error as Error));
      return;
    }
    keepsAlive(true);
    const limit = limitOf(current);
    timer = setTimeout(() => {
      kill();
      settle((job) => {
        if (job.request === undefined) job.reject(new MayflyError('INTERNAL', `The compile process did not start within ${limit} ms. ${errorText}`));
        else job.resolve(refusal('TIME_LIMIT', `Compiling the program took longer than ${limit / 1000} s.`, job));
      });
    }, limit);
    const message: ToCompileServer = current.request === undefined ? { type: 'warm', id: current.id } : { type: 'compile', id: current.id, request: current.request };
    child.send(message, (error) => {
      if (error !== null) child?.kill('SIGKILL');
    });
  };

  const enqueue = (request: AnyRequest | undefined): Promise<CompileResult | ModuleResult> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new MayflyError('INTERNAL', 'The compiler is closed.'));
      if (queue.length >= maxQueue) return reject(new MayflyError('TOO_MANY', `${queue.length} programs wait to be compiled.`));
      queue.push({ id: nextId++, request, resolve, reject });
      pump();
    });

  const tooLarge = (sources: Readonly<Record<string, string>>): RefusedProgram | undefined => {
    const texts = Object.values(sources);
    const bytes = texts.reduce((sum, t) => sum + Buffer.byteLength(t), 0);
    if (texts.length > maxFiles) return refusal('TOO_LARGE', `The program has ${texts.length} files; ${maxFiles} are allowed.`);
    if (bytes > maxSourceBytes) return refusal('TOO_LARGE', `The program's texts have ${bytes} bytes; ${maxSourceBytes} are allowed.`);
    return undefined;
  };

  return {
    async compile({ entry, sources }) {
      return tooLarge(sources) ?? ((await enqueue({ entry, sources })) as CompileResult);
    },
    async compileModule(request) {
      return (request.language === 'wasm' ? undefined : tooLarge(request.sources)) ?? ((await enqueue(request)) as ModuleResult);
    },
    async warm() {
      await enqueue(undefined);
    },
    close() {
      closed = true;
      const waiting = [...(current === undefined ? [] : [current]), ...queue.splice(0)];
      current = undefined;
      clearTimeout(timer);
      kill();
      for (const job of waiting) job.reject(new MayflyError('INTERNAL', 'The compiler is closed.'));
      return Promise.resolve();
    },
  };
}

function refusal(code: RefusedProgram['code'], message: string, job?: Job): RefusedProgram {
  return { ok: false, code, message, diagnostics: [{ file: job?.request !== undefined && 'entry' in job.request ? job.request.entry : '', line: 1, column: 1, code, message, severity: 'error' }] };
}
