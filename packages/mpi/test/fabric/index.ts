/**
 * The test fabric: a pool of worker threads, one per rank, that run programs of test/programs over shared-memory logs.
 */
import { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { append, makeInbox, type DeviceOptions, type Output, type RankLog } from './log-device.ts';
import { FileServer, type ToWorld } from './file-server.ts';
import type { Answer, Job, StoredImage } from './rank-worker.ts';

export type { Answer, RankLog };

export interface RunOptions extends DeviceOptions {
  files?: Record<string, Uint8Array>;
  /** Chunks of standard input, as the world sends them to rank 0; the end follows. */
  stdin?: string[];
  inboxBytes?: number;
}

export interface Run {
  answers: Answer[];
  inboxes: SharedArrayBuffer[];
  files: FileServer;
}

const WORLD = 0xffff_ffff | 0;
const STDIN = 5;

export class Fabric {
  private readonly workers: Worker[] = [];
  private readonly code = buildSync({
    entryPoints: [fileURLToPath(new URL('rank-worker.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    write: false,
    logLevel: 'error',
    sourcemap: 'inline',
  }).outputFiles[0]!.text;

  private worker(i: number): Worker {
    return (this.workers[i] ??= new Worker(this.code, { eval: true }));
  }

  private ask(i: number, job: Job, files: FileServer): Promise<Answer> {
    const worker = this.worker(i);
    const stop = files.serve(worker);
    return new Promise<Answer>((resolve, reject) => {
      const done = (answer: Answer | ToWorld): void => {
        if ('world' in answer) return;
        worker.off('error', reject);
        worker.off('message', done);
        resolve(answer);
      };
      worker.on('message', done);
      worker.once('error', reject);
      worker.postMessage(job);
    }).finally(stop);
  }

  /** Runs a program on `size` ranks. */
  async run(size: number, program: string, input: unknown = undefined, options: RunOptions = {}): Promise<Run> {
    const { answers, inboxes, files } = this.begin(size, program, input, options);
    return { answers: await Promise.all(answers), inboxes, files };
  }
  /**
   * As run, but the ranks' answers come one by one: a rank that has died may be restarted while the others wait for it.
   */
  begin(
    size: number,
    program: string,
    input: unknown = undefined,
    options: RunOptions = {},
    inputOf = (_rank: number): unknown => input,
  ): Omit<Run, 'answers'> & { answers: Promise<Answer>[] } {
    const { files = {}, stdin = [], inboxBytes = 1 << 24, ...device } = options;
    const inboxes = Array.from({ length: size }, () => makeInbox(inboxBytes));
    for (const chunk of stdin) append(inboxes[0]!, WORLD, STDIN, 0, 0, 0, new TextEncoder().encode(chunk));
    append(inboxes[0]!, WORLD, STDIN, 0, 0, 0, new Uint8Array(0));
    const server = new FileServer(inboxes, files);
    const answers = inboxes.map((_, rank) =>
      this.ask(rank, { rank, size, inboxes, program, input: inputOf(rank), files, options: device }, server),
    );
    return { answers, inboxes, files: server };
  }

  /** Runs one rank again, as a new incarnation: from the start, or from an image. */
  restart(
    run: Omit<Run, 'answers'> & { answers: readonly unknown[] },
    rank: number,
    program: string,
    input: unknown,
    image?: StoredImage,
    options: DeviceOptions = {},
    before: RankLog = (run.answers[rank] as Answer).log,
  ): Promise<Answer> {
    return this.ask(
      rank,
      { rank, size: run.inboxes.length, inboxes: run.inboxes, program, input, files: {}, options, before, image },
      run.files,
    );
  }

  /** As run, but every rank has to succeed; gives the values in rank order. */
  async values<T>(size: number, program: string, input: unknown = undefined, options: RunOptions = {}): Promise<T[]> {
    const { answers } = await this.run(size, program, input, options);
    const bad = answers.findIndex((a) => a.error ?? a.exit);
    if (bad >= 0)
      throw new Error(
        `${program} on ${size} ranks: rank ${bad}: ${answers[bad]!.error?.stack ?? JSON.stringify(answers[bad]!.exit)}`,
      );
    return answers.map((a) => a.value as T);
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((w) => w?.terminate()));
  }
}

export const textOf = (outputs: readonly Output[], mode: number): string =>
  outputs
    .filter((o) => o.mode === mode)
    .map((o) => new TextDecoder().decode(o.body))
    .join('');
