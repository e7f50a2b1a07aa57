/**
 * A volunteer without a browser: the same daemon, comm worker and rank worker, in worker threads. For laboratory machines, scale runs and tests.
 * A program here is held by the scrubbed globals of a worker thread, not by a browser's sandbox: run it where you would run the program.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { memoryImages } from '@mayfly/checkpoint';
import { PROGRAM_KINDS, type BoardName, type NodeId } from '@mayfly/wire';
import { Daemon } from '../daemon/daemon.ts';
import { measureSpeed } from '../daemon/speed.ts';
import { startFrame } from '../frame/core.ts';
import type { CommToDaemon, CommToFrame, DaemonToComm, FrameToComm, RankInit } from '../messages.ts';
import { nodeWorker } from '../node-worker.ts';
import type { VolunteerSnapshot } from '../page/snapshot.ts';
import { channelOf, type PortLike } from '../ports.ts';

export type { VolunteerSnapshot } from '../page/snapshot.ts';

export interface HeadlessOptions {
  /** URL of the server. */
  server: string;
  /** Ranks that may run here at the same time. */
  slots: number;
  name: string;
  room?: string;
  /** Under which name the board of the room counts what this node gives. */
  board?: BoardName;
  /** Also take jobs in TypeScript, whose ranks are held by scrubbed globals only. Default: programs of WebAssembly (C, C++), which reach nothing but their imports. */
  allowTypeScript?: boolean;
  /** Folder with comm.cjs and rank.cjs; default: `headless/` beside the running file, else the package's own dist. */
  workers?: string;
  /** Resident memory of this process above which a rank is ended as crashed. Default: three quarters of what the machine has. */
  memoryBytes?: number;
  /** The machine's clock, ms since the epoch; for tests. */
  now?: () => number;
  onChange?: (snapshot: VolunteerSnapshot) => void;
  onNote?: (text: string) => void;
}

export interface HeadlessNode {
  readonly node: NodeId;
  snapshot(): VolunteerSnapshot;
  setSlots(slots: number): void;
  /** Asks every rank here for a checkpoint soon. */
  checkpoint(): void;
  /** Takes last images of its ranks (5 s at most, or `patience` ms), and says goodbye: the ranks are placed elsewhere at once and lose nothing. */
  close(patience?: number): Promise<void>;
  /** Ends as a killed process does: nobody is told. */
  kill(): void;
}

const GUARD_MS = 500;
const AGAIN_MS = 10_000;

function workerFolder(given: string | undefined): string {
  if (given) return given;
  for (const candidate of ['./headless/', '../../dist/headless/', '../dist/headless/']) {
    const folder = fileURLToPath(new URL(candidate, import.meta.url));
    if (existsSync(`${folder}comm.cjs`)) return folder;
  }
  throw new Error('the worker bundles of @mayfly/node are missing: run its build');
}

/** Resolves when the server has welcomed the node; waits for a server that is not there yet. @throws when the server refuses it. */
export async function startHeadlessNode(options: HeadlessOptions): Promise<HeadlessNode> {
  const folder = workerFolder(options.workers).replace(/[\\/]?$/, '/');
  const server = options.server.replace(/\/+$/, '');
  const daemon = new Daemon(
    { server, name: options.name, slots: options.slots, room: options.room, board: options.board, runs: options.allowTypeScript ? PROGRAM_KINDS : ['wasm'] },
    {
      async openFrame() {
        const { port1, port2 } = new MessageChannel();
        let dead: (why: string) => void = () => undefined;
        const frame = startFrame(
          {
            spawnComm: () => nodeWorker<FrameToComm, CommToFrame>(`${folder}comm.cjs`, { name: 'comm' }),
            spawnRank: (memoryBytes) =>
              nodeWorker<RankInit, never>(`${folder}rank.cjs`, { name: 'rank', env: {}, argv: [...(options.allowTypeScript ? ['--allow-typescript'] : []), ...(process.env['MAYFLY_RANK_FAULTS'] ? ['--faults'] : [])], resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(memoryBytes / 1048576)) } }),
          },
          server,
          port2 as unknown as PortLike,
          (why) => dead(why),
        );
        return { channel: channelOf<DaemonToComm, CommToDaemon>(port1 as unknown as PortLike), onDeath: (handler) => (dead = handler), tells: true, close: () => frame.close() };
      },
      spareFrame: false,
      images: memoryImages(),
      now: options.now ?? Date.now,
      after(ms, run) {
        const t = setTimeout(run, ms);
        return () => clearTimeout(t);
      },
      speed: () => measureSpeed(() => performance.now()),
      engine: `Node ${process.versions.node.split('.').slice(0, 2).join('.')}`,
      loadIdentity: () => undefined,
      saveIdentity: () => undefined,
      session: randomUUID(),
    },
    (snapshot) => options.onChange?.(snapshot),
    options.onNote,
  );
  await daemon.start();
  // A worker's heap has a limit, its array buffers have none: without this the kernel would end the process, and every rank with it.
  const most = options.memoryBytes ?? totalmem() * 0.75;
  let sacrificed = { rss: 0, at: 0 };
  const guard = setInterval(() => {
    const { rss } = process.memoryUsage();
    // What the last one had comes back after a while only: another one goes when it becomes more, or when that did not help.
    if (rss > most && (rss > 1.05 * sacrificed.rss || Date.now() - sacrificed.at > AGAIN_MS)) {
      sacrificed = { rss, at: Date.now() };
      daemon.sacrifice(`out of memory: this node uses ${Math.round(rss / 1048576)} MB and may use ${Math.round(most / 1048576)}`);
    }
  }, GUARD_MS);
  guard.unref();
  return {
    get node() {
      return daemon.node!;
    },
    snapshot: () => daemon.snapshot(),
    setSlots: (n) => daemon.setSlots(n),
    checkpoint: () => daemon.checkpoint(),
    async close(patience) {
      clearInterval(guard);
      await daemon.stop('stopped', patience);
    },
    kill() {
      clearInterval(guard);
      daemon.die();
    },
  };
}
