/** `mayfly volunteer` as a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CLI } from '../server.ts';
import { noteLine, type VolunteerNode } from './node.ts';
import { descendants, resumed, stopped } from './processes.ts';

export class HeadlessProcess implements VolunteerNode {
  readonly kind = 'headless';
  readonly log: string[] = [];
  private readonly over: Promise<void>;
  private frozen: number[] = [];

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    this.over = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  /** Resolves when the server has welcomed it. */
  static async start(
    url: string,
    name: string,
    slots: number,
    env: Record<string, string> = {},
    options: readonly string[] = ['--allow-typescript'],
  ): Promise<HeadlessProcess> {
    const child = spawn(
      process.execPath,
      [CLI, 'volunteer', url, '--slots', String(slots), '--name', name, ...options],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
    );
    const node = new HeadlessProcess(name, child);
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout!, child.stderr!])
        createInterface(stream).on('line', (line) => {
          noteLine(node.log, line);
          if (line.includes(' offers ')) resolve();
        });
      void node.over.then(() => reject(new Error(`the volunteer ${name} ended: ${node.log.join('\n')}`)));
    });
    return node;
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** SIGKILL: nobody is told. The processes of its jobs end themselves; frozen ones when they are woken. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    this.thaw();
    await this.over;
  }

  /** SIGTERM: it says goodbye. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.over;
  }

  /** The machine stands still: the volunteer, and the processes of its jobs. */
  freeze(): Promise<void> {
    this.frozen = [this.child.pid!, ...descendants(this.child.pid!)];
    return stopped(this.frozen);
  }

  thaw(): void {
    resumed(this.frozen);
    this.frozen = [];
  }

  async dispose(): Promise<void> {
    await this.kill();
  }
}
