/**
 * The process of a browser without a window, with a profile of its own in the folder of temporary files.
 *
 * Invariants
 *  B1 The browser does not outlive this process, however that ends: where the browser does not watch for it by itself,
 *  `watched` makes a shell do so.
 *  B2 The profile goes with the browser. Where its main process ends alone (a crash), the others of its group are ended
 *  at once: one of them could write a folder of the profile after its removal.
 *  B3 Ctrl-C in the terminal does not reach the browser: the page is asked to leave first.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const SAID = 4000;
/** A browser that was told to end has so long for it. */
const END_MS = 5000;
/**
 * B1: the shell ends the whole group as soon as its standard input closes, which the kernel does when this process is
 * gone.
 */
const WATCH = '"$@" </dev/null & cat >/dev/null; kill -KILL 0';

export const newProfile = (): Promise<string> => mkdtemp(join(tmpdir(), 'mayfly-browser-'));

export interface BrowserOptions {
  path: string;
  args: string[];
  profile: string;
  env?: NodeJS.ProcessEnv;
  /** Opens file descriptors 3 and 4 of the browser: it listens there, and ends when they close. */
  pipes?: boolean;
  /** Has a shell watch over it (not on Windows). */
  watched?: boolean;
}

export class BrowserProcess {
  /** The first end of it, in words. */
  readonly gone: Promise<string>;
  readonly #child: ChildProcess;
  readonly #profile: string;
  #said = '';
  #over = false;
  readonly #exit = (): void => {
    this.#kill();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  };

  constructor({ path, args, profile, env, pipes, watched }: BrowserOptions) {
    const windows = process.platform === 'win32';
    const shell = watched === true && !windows;
    const [file, all] = shell ? ['/bin/sh', ['-c', WATCH, 'sh', path, ...args]] : [path, args];
    this.#profile = profile;
    this.#child = spawn(file, all, {
      stdio: [shell ? 'pipe' : 'ignore', 'ignore', 'pipe', ...(pipes ? (['pipe', 'pipe'] as const) : [])],
      detached: !windows,
      env: { ...withoutOurs(process.env), ...env },
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stderr!.on('data', (d: Buffer) => (this.#said = (this.#said + d.toString()).slice(-SAID)));
    this.gone = new Promise((resolve) => {
      this.#child.once('error', (e) => resolve(`it does not start: ${e.message}`));
      this.#child.once('exit', (code, signal) => {
        this.#killGroup(); // B2
        this.#over = true;
        resolve(signal ? `it was ended by ${signal}` : `it ended with code ${code}`);
      });
    });
    process.once('exit', this.#exit); // B1, B2
  }

  /** What it wrote to standard error last. */
  get said(): string {
    return this.#said;
  }

  get pipe(): { to: Writable; from: Readable } {
    return { to: this.#child.stdio[3] as Writable, from: this.#child.stdio[4] as Readable };
  }

  #kill(): void {
    if (!this.#over) this.#killGroup();
  }

  #killGroup(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? this.#child.pid : -this.#child.pid, 'SIGKILL');
    } catch {
      // gone meanwhile
    }
  }

  /** @param polite asks the browser to end */
  async close(polite: () => Promise<unknown>): Promise<void> {
    if (!this.#over) {
      void polite().then(
        () => this.#child.stdin?.end(),
        () => this.#kill(),
      );
      await Promise.race([this.gone, new Promise((r) => setTimeout(r, END_MS).unref())]);
      this.#kill();
      await this.gone;
    }
    process.off('exit', this.#exit);
    // Its children may still write for a moment.
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => undefined);
  }
}

/** What configures Mayfly, with its tokens, is no concern of a browser. */
const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([k]) => !/^(MAYFLY_|NODE_)/.test(k)));
