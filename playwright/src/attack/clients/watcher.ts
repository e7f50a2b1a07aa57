/** The process that watches a server (watch.mjs), and what /proc says of it. Linux only. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../server.ts';

const WATCH = join(ROOT, 'playwright', 'src', 'attack', 'clients', 'watch.mjs');
/** How long the work of the yardstick takes on a core of a machine of 2020 that does nothing else, ms. */
const YARDSTICK_MS = 80;

const slownessOf = (ms: number): number => Math.max(1, ms / YARDSTICK_MS);

export interface Seen {
  gapMs: number;
  rss: number;
  answers: number;
  /** As `Watcher.slowness`, all the while. */
  slowness: number;
}

export class Watcher {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(
    url: string,
    readonly pid: number,
  ) {
    this.#child = spawn(process.execPath, [WATCH, url, String(pid)], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.#child.stdout!).on('line', (line) => this.#waiting.shift()?.(line));
    this.#child.once('exit', () => this.#waiting.splice(0).forEach((told) => told('')));
    this.#child.stdin!.on('error', () => undefined);
  }

  async #ask<T>(line: string): Promise<T> {
    const told = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#child.stdin!.write(`${line}\n`);
    const answer = await told;
    if (answer === '') throw new Error('the process that watches the server has ended');
    return JSON.parse(answer) as T;
  }

  /** What was seen since the last call. */
  read(): Promise<Seen> {
    return this.#seen('read');
  }

  /** The same for whoever looks on: the next `read` has it as well. */
  look(): Promise<Seen> {
    return this.#seen('look');
  }

  async #seen(line: 'read' | 'look'): Promise<Seen> {
    const { ms, ...seen } = await this.#ask<Omit<Seen, 'slowness'> & { ms: number }>(line);
    return { ...seen, slowness: slownessOf(ms) };
  }

  /** How much slower than usual this machine is now; 1: not at all. */
  async slowness(): Promise<number> {
    return slownessOf((await this.#ask<{ ms: number }>('yardstick')).ms);
  }

  /** Sockets that the server has open. Files are another matter: a log that has grown has more of them. */
  sockets(): number {
    const folder = `/proc/${this.pid}/fd`;
    return readdirSync(folder).filter((fd) => {
      try {
        return readlinkSync(join(folder, fd)).startsWith('socket:');
      } catch {
        return false; // Closed meanwhile.
      }
    }).length;
  }

  close(): void {
    this.#child.kill();
  }
}
