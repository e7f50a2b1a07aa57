/**
 * C programs on an in-memory fabric: one worker thread per rank, no sockets, no server. With `cycle`, every rank is
 * checkpointed and restored, with nothing kept but the image, at every n-th suspending call, and inside its first wait
 * (host/cycle.ts).
 *
 *   const fabric = new CFabric();
 *   const ranks = await fabric.run(wasm, 4, { args: ['100'], files: { 'in.txt': bytes }, cycle: 1 });
 *   ranks[0].stdout, ranks[0].exit, ranks[0].files['out.txt']
 */
import { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { append, makeInbox, type DeviceOptions } from '@mayfly/mpi/test-fabric';
import { FileServer, type ToWorld } from '@mayfly/mpi/test-files';
import type { Answer, Job, RankResult } from './job.ts';

export type { RankResult };

export interface RunOptions extends DeviceOptions {
  args?: string[];
  files?: Record<string, Uint8Array>;
  stdin?: string;
  /** Image and restore at every n-th suspending call. */
  cycle?: number;
  /**
   * With `cycle`: a new instance at every n-th image (5 unless said otherwise); in between the same one, its memory and
   * globals spoilt.
   */
  fresh?: number | undefined;
  /**
   * The stack is unwound and rewound at every n-th suspending call, in the same instance, as for an image in passing.
   */
  unwind?: number;
  /** The program's stack is unwound and entered anew at every suspending call, without an image. */
  reenter?: boolean;
  inboxBytes?: number;
  /** Processes that may be spawned besides. They come behind the others in the results. */
  spare?: number;
  /** Most that result files may have together. */
  outputBytes?: number;
  memoryBytes?: number;
  /** The scratch binding of the host's own tests instead of the real one. */
  scratch?: boolean;
}

const WORLD = 0xffff_ffff | 0;
const STDIN = 5;

export class CFabric {
  private readonly workers: Worker[] = [];
  private readonly code = buildSync({
    entryPoints: [fileURLToPath(new URL('rank-worker.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    write: false,
    logLevel: 'error',
  }).outputFiles[0]!.text;

  async run(wasm: Uint8Array | WebAssembly.Module, size: number, options: RunOptions = {}): Promise<RankResult[]> {
    const module =
      wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>);
    const {
      args = [],
      files = {},
      stdin,
      cycle,
      fresh = 5,
      unwind,
      reenter = false,
      inboxBytes = 1 << 25,
      spare = 0,
      memoryBytes = 1 << 30,
      outputBytes = 1 << 26,
      scratch = false,
      ...device
    } = options;
    const inboxes = Array.from({ length: size + spare }, () => makeInbox(inboxBytes));
    if (stdin) append(inboxes[0]!, WORLD, STDIN, 0, 0, 0, new TextEncoder().encode(stdin));
    append(inboxes[0]!, WORLD, STDIN, 0, 0, 0, new Uint8Array(0));
    const job: Omit<Job, 'rank'> = {
      size,
      inboxes,
      module,
      args: ['a.out', ...args],
      files,
      cycle,
      fresh,
      unwind,
      reenter,
      memoryBytes,
      scratch,
      options: { patience: 60_000, ...device },
    };
    const asked: Promise<Answer>[] = [];
    const server: FileServer = new FileServer(inboxes, files, outputBytes, {
      size,
      start: ({ first, root, parts }) => {
        const each = parts.flatMap((p, appnum) =>
          Array.from({ length: p.count }, () => ({ appnum, args: ['a.out', ...p.args] })),
        );
        each.forEach(({ appnum, args: own }, i) =>
          asked.push(
            this.ask(
              first + i,
              { ...job, rank: first + i, size: each.length, args: own, spawned: { first, root, appnum } },
              server,
            ),
          ),
        );
      },
    });
    for (let rank = 0; rank < size; rank++) asked.push(this.ask(rank, { ...job, rank }, server));
    const answers: Answer[] = [];
    for (let i = 0; i < asked.length; i++) answers.push(await asked[i]!);
    const shared = server.results();
    return answers.map((a) => ({ ...a, shared }));
  }

  private ask(i: number, job: Job, server: FileServer): Promise<Answer> {
    const worker = (this.workers[i] ??= new Worker(this.code, { eval: true, stdout: false }));
    const stop = server.serve(worker);
    return new Promise<Answer>((resolve, reject) => {
      const done = (a: Answer | ToWorld): void => {
        if ('world' in a) return;
        worker.off('error', reject);
        worker.off('message', done);
        resolve(a);
      };
      worker.on('message', done);
      worker.once('error', reject);
      worker.postMessage(job);
    }).finally(stop);
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((w) => w?.terminate()));
  }
}

/** Every rank ended with exit 0. */
export function ok(ranks: readonly RankResult[]): readonly RankResult[] {
  const bad = ranks.findIndex((r) => r.died !== undefined || r.exit?.code !== 0 || r.exit.abort);
  if (bad >= 0)
    throw new Error(`rank ${bad}: ${ranks[bad]!.died ?? JSON.stringify(ranks[bad]!.exit)}\n${ranks[bad]!.stderr}`);
  return ranks;
}
