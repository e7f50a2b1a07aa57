/**
 * One compile process (compile-server.ts), as its parent has it: one request at a time, within limits of time,
 * processor time and memory.
 *
 * Owns: the process and its folder.
 * Invariants:
 *   T1  every run ends in an outcome; but for a result, the process is gone then, with its children, and never serves
 *       again;
 *   T2  processor time and memory are watched from inside (watch.ts), where both are known on every platform; the time
 *       of the clock, for what hangs, from here;
 *   T3  a process that runs nothing keeps nobody alive.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyRequest, AnyResult, FromCompileServer, ToCompileServer } from './compile-protocol.ts';
import { compileServerPath } from './dist-files.ts';
import { stackFlags } from './stack-flags.ts';

export type Outcome =
  | { readonly type: 'result'; readonly result: AnyResult | undefined }
  | { readonly type: 'limit'; readonly what: 'time' | 'cpu' | 'memory' }
  /** A defect of a tool. */
  | { readonly type: 'failed'; readonly message: string }
  /** It ended, and nobody knows why. */
  | { readonly type: 'ended'; readonly why: string }
  | { readonly type: 'killed' };

export interface RunLimits {
  readonly timeMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** clang's own memory, which is none of the heap: 1.25 GB (it takes 0.1 to 0.5). */
const WASM_PAGES = 20_480;
const MEMORY_EXHAUSTED = /heap out of memory|Reached heap limit|invalid size error|Cannot allocate memory/i;
const LIMIT = /mayfly-compile-limit: (cpu|memory)/;

export class ToolProcess {
  readonly #child: ChildProcess;
  /** A killed process cannot remove its own. */
  readonly #folder: string;
  #errorText = '';
  #gone = false;
  #run: { readonly id: number; readonly end: (outcome: Outcome) => void } | undefined;
  #runs = 0;

  /** @throws Error when it cannot be started */
  constructor(options: { readonly memoryMb: number; readonly serverPath: string | undefined }) {
    const { memoryMb } = options;
    const { PATH, TMPDIR, TMP, TEMP, SystemRoot, ESBUILD_BINARY_PATH } = process.env;
    const kept = Object.entries({ PATH, TMPDIR, TMP, TEMP, SystemRoot, ESBUILD_BINARY_PATH }).filter(
      ([, v]) => v !== undefined,
    );
    const server = options.serverPath ?? compileServerPath();
    this.#folder = mkdtempSync(join(tmpdir(), 'mayfly-compile-'));
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${memoryMb}`, `--wasm-max-mem-pages=${WASM_PAGES}`, ...stackFlags(), server, this.#folder],
      {
        cwd: tmpdir(),
        env: { ...Object.fromEntries(kept), GOMEMLIMIT: `${memoryMb}MiB`, GOMAXPROCS: '2' },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        // Modules travel as bytes.
        serialization: 'advanced',
        detached: process.platform !== 'win32',
        windowsHide: true,
      },
    );
    this.#child.stderr!.on(
      'data',
      (bytes: Buffer) => (this.#errorText = (this.#errorText + bytes.toString()).slice(-8192)),
    );
    this.#child.on('message', (m: FromCompileServer) => {
      if (m.type === 'ready' || m.id !== this.#run?.id) return;
      if (m.type === 'failed') {
        this.#over({ type: 'failed', message: m.message });
        this.kill();
      } else this.#over({ type: 'result', result: m.type === 'result' ? m.result : undefined });
    });
    this.#child.on('error', (error) => this.#ended(error.message));
    // 'close' rather than 'exit': what it wrote last says why.
    this.#child.on('close', (code, signal) => this.#ended(`${signal ?? `exit ${code}`}.`));
    this.#keepsAlive(false);
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** T1. Only when it runs nothing. */
  run(request: AnyRequest | undefined, limits: RunLimits): Promise<Outcome> {
    if (this.#gone) return Promise.resolve({ type: 'ended', why: 'It had ended before.' });
    this.#keepsAlive(true);
    return new Promise((resolve) => {
      const id = ++this.#runs;
      const late = setTimeout(() => {
        this.#over({ type: 'limit', what: 'time' });
        this.kill();
      }, limits.timeMs);
      this.#run = {
        id,
        end: (outcome) => {
          clearTimeout(late);
          this.#keepsAlive(false);
          resolve(outcome);
        },
      };
      const watch = { cpuMs: limits.cpuMs, rssBytes: limits.rssBytes };
      const message: ToCompileServer =
        request === undefined ? { type: 'warm', id } : { type: 'compile', id, request, watch };
      this.#child.send(message, (error) => {
        if (error !== null) this.#child.kill('SIGKILL');
      });
    });
  }

  kill(): void {
    if (this.#gone) return;
    this.#gone = true;
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      try {
        // The process leads a group of its own: esbuild goes with it.
        if (process.platform === 'win32') this.#child.kill('SIGKILL');
        else process.kill(-pid, 'SIGKILL');
      } catch {
        // It has just gone.
      }
    }
    rmSync(this.#folder, { recursive: true, force: true });
    this.#over({ type: 'killed' });
  }

  #over(outcome: Outcome): void {
    const run = this.#run;
    this.#run = undefined;
    run?.end(outcome);
  }

  #ended(why: string): void {
    rmSync(this.#folder, { recursive: true, force: true });
    this.#gone = true;
    const limit = LIMIT.exec(this.#errorText)?.[1] as 'cpu' | 'memory' | undefined;
    if (limit !== undefined || MEMORY_EXHAUSTED.test(this.#errorText))
      this.#over({ type: 'limit', what: limit ?? 'memory' });
    else this.#over({ type: 'ended', why: `${why} ${this.#errorText.slice(-1000)}` });
  }

  /** T3 */
  #keepsAlive(on: boolean): void {
    const c = this.#child as ChildProcess & {
      stderr: { ref?(): void; unref?(): void } | null;
      channel?: { ref(): void; unref(): void } | null;
    };
    for (const handle of [c, c.stderr, c.channel])
      if (on) handle?.ref?.();
      else handle?.unref?.();
  }
}
