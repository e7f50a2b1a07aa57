/**
 * What stands around an attack: a real server, an honest volunteer, and an honest job of two ranks that runs all the
 * while. Its ranks add numbers up, lap by lap; a lap begins with a line of standard input, so it runs as long as it is
 * wanted, and its answer is known.
 *
 * Owns: the honest run. Does not own: the server and the volunteer (arena.ts).
 */
import { spawn } from 'node:child_process';
import type { JobView } from '@mayfly/wire';
import { Client, source } from '../../client.ts';
import { CLI, type ServerProcess } from '../../server.ts';
import { sleep } from './hostile.ts';
import type { Watcher } from './watcher.ts';

const RANKS = 2;
/** These follow how slow the machine was all the while, which is known afterwards. */
const LAP_MS = 10_000;
const END_MS = 20_000;
/** Something hangs. */
const LIMIT_MS = 120_000;

/** States of jobs. */
export const OVER = ['done', 'failed', 'cancelled'];

const HONEST = source(
  'honest',
  `import { COMM_WORLD as comm, SUM, stdin } from 'mayfly';
const one = new Float64Array(512);
const all = new Float64Array(512);
const go = new Float64Array(1);
let sum = 0;
for (let lap = 0; ; lap++) {
  if (comm.rank === 0) go[0] = stdin.readLine() === 'lap' ? 1 : 0;
  comm.bcast(go, 0);
  if (go[0] === 0) break;
  one.fill(comm.rank + 1 + lap);
  comm.allreduce(one, all, SUM);
  sum += all[0];
  if (comm.rank === 0) console.log(lap + 1);
}
console.log('sum', sum);
`,
);
/** Lap l, from 0, adds (1 + l) + (2 + l). */
const sumOf = (laps: number): number => laps * laps + 2 * laps;

export class Scene {
  /** As the owner of the server. */
  readonly owner: Client;
  /** The honest job that runs now. */
  honestJob = '';

  constructor(
    readonly server: ServerProcess,
    readonly watcher: Watcher,
  ) {
    this.owner = new Client(server);
  }

  /** Starts the honest job. Its first lap is over when this resolves. */
  async honest(slowness: number): Promise<HonestRun> {
    const job = await this.owner.submit(HONEST, RANKS, [], { interactive: true, team: 1 });
    this.honestJob = job.id;
    const run = new HonestRun(this.owner, job.id, slowness);
    await run.lap();
    return run;
  }

  /** So that its ranks do not take the places of the next attacker's. */
  async cancelOthers(): Promise<void> {
    for (const { id, state } of await this.owner.json<JobView[]>('GET', '/api/jobs'))
      if (id !== this.honestJob && !OVER.includes(state)) await this.owner.request('POST', `/api/jobs/${id}/cancel`);
  }

  /** A command of Mayfly as the owner uses it; what it prints on a terminal. */
  mayfly(...args: string[]): Promise<string> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [CLI, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, MAYFLY_SERVER: this.server.url, MAYFLY_TOKEN: this.server.token },
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (d: Buffer) => (said += d.toString()));
      child.once('close', () => resolve(said));
    });
  }

  info(): Promise<{ slots: number; free: number }> {
    return this.owner.json('GET', '/api/info');
  }
}

export class HonestRun {
  laps = 0;
  #longestMs = 0;
  #endMs = 0;
  #stopping = false;
  #running: Promise<void> | undefined;
  #failed: string | undefined;

  constructor(
    private readonly owner: Client,
    readonly id: string,
    private readonly slowness: number,
  ) {}

  async lap(): Promise<void> {
    const limitMs = LIMIT_MS * this.slowness;
    const began = performance.now();
    await this.owner.input(this.id, 'lap');
    for (const text = `\n${this.laps + 1}\n`; ; await sleep(50)) {
      const r = await this.owner.request('GET', `/api/jobs/${this.id}/tasks/0/stdout`);
      if (`\n${await r.text()}`.includes(text)) break;
      if (performance.now() - began > limitMs)
        throw new Error(`lap ${this.laps + 1} of the honest job did not end within ${Math.round(limitMs)} ms`);
    }
    this.#longestMs = Math.max(this.#longestMs, performance.now() - began);
    this.laps++;
  }

  /** Laps without end, until `end`. */
  go(): void {
    this.#running = (async () => {
      while (!this.#stopping) {
        await this.lap();
        await sleep(100);
      }
    })().catch((e: unknown) => void (this.#failed = firstLine(e)));
  }

  /** @returns what was wrong with it */
  async end(): Promise<string[]> {
    this.#stopping = true;
    await this.#running;
    if (this.#failed !== undefined) {
      await this.owner.request('POST', `/api/jobs/${this.id}/cancel`).catch(() => undefined);
      return [this.#failed];
    }
    return this.#end().catch((e: unknown) => [`the honest job: ${firstLine(e)}`]);
  }

  async #end(): Promise<string[]> {
    await this.owner.input(this.id, 'end');
    const began = performance.now();
    const job = await this.owner.ended(this.id, LIMIT_MS * this.slowness);
    this.#endMs = performance.now() - began;
    const { stdout } = await this.owner.answer(job);
    const right = stdout.every((text) => text.endsWith(`sum ${sumOf(this.laps)}\n`));
    return job.state === 'done' && right ? [] : [`the honest job ended ${wordsOf(job)}: ${JSON.stringify(stdout)}`];
  }

  /** What took too long, on a machine that is so slow. After `end`. */
  late(slowness: number): string[] {
    return [
      ...(this.#longestMs <= LAP_MS * slowness ? [] : [`a lap took ${Math.round(this.#longestMs)} ms`]),
      ...(this.#endMs <= END_MS * slowness ? [] : [`the honest job took ${Math.round(this.#endMs)} ms to end`]),
    ];
  }
}

const firstLine = (e: unknown): string => (e instanceof Error ? e.message : String(e)).split('\n')[0]!.slice(0, 300);
const wordsOf = (job: JobView): string => `${job.state} ${job.error?.code ?? ''} ${job.error?.message ?? ''}`;
