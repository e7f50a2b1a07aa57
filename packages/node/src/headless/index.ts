/**
 * A volunteer without a browser: the same daemon, comm worker and rank worker. For laboratory machines, scale runs and
 * tests. Each job runs in a process of its own, in the sandbox that this machine offers (../sandbox/), or in worker
 * threads of this process, for people who run their own programs.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { memoryImages } from '@mayfly/checkpoint';
import { PROGRAM_KINDS, type BoardName, type NodeId } from '@mayfly/wire';
import { Daemon } from '../daemon/daemon.ts';
import { measureSpeed } from '../daemon/speed.ts';
import type { VolunteerSnapshot } from '../page/snapshot.ts';
import type { TlsTrust } from '../sandbox/channel.ts';
import { openFrameProcess, type ProcessFrame } from '../sandbox/frame-process.ts';
import { chooseSandbox, type Sandbox, type SandboxChoice } from '../sandbox/launch.ts';
import { openThreadFrame } from './thread-frame.ts';

export type { VolunteerSnapshot } from '../page/snapshot.ts';
export { ATTEMPTS, type Attempt } from '../sandbox/attempts.ts';
export { checkSandbox, type Check, type Layer } from '../sandbox/try-sandbox.ts';
export { DEFAULT_NICE, SANDBOXES, type Sandbox, type SandboxChoice } from '../sandbox/launch.ts';

export interface HeadlessOptions {
  /** URL of the server. */
  server: string;
  /** Ranks that may run here at the same time. */
  slots: number;
  name: string;
  room?: string;
  /** Under which name the board of the room counts what this node gives. */
  board?: BoardName;
  /**
   * Also take jobs in TypeScript, whose ranks are held by scrubbed globals only. Default: programs of WebAssembly (C,
   * C++), which reach nothing but their imports.
   */
  allowTypeScript?: boolean;
  /** Where jobs run; default: `none`, worker threads of this process. */
  sandbox?: SandboxChoice;
  /** How far a job's process steps back behind others, 0 to 19. */
  nice?: number;
  /** Folder with the bundles; default: `headless/` beside the running file, else the package's own dist. */
  workers?: string;
  /**
   * Resident memory of this process and of those of its jobs above which a rank is ended as crashed. Default: three
   * quarters of what the machine has.
   */
  memoryBytes?: number;
  /** The machine's clock, ms since the epoch; for tests. */
  now?: () => number;
  onChange?: (snapshot: VolunteerSnapshot) => void;
  onNote?: (text: string) => void;
}

export interface HeadlessNode {
  readonly node: NodeId;
  /** What stands around its jobs; undefined: nothing. */
  readonly sandbox: Sandbox | undefined;
  snapshot(): VolunteerSnapshot;
  setSlots(slots: number): void;
  /** It may soon be lost: its ranks take a checkpoint. */
  foresee(): void;
  /**
   * Takes last images of its ranks (5 s at most, or `patience` ms), and sends a goodbye: the server places the ranks
   * elsewhere at once, and they lose nothing.
   */
  close(patience?: number): Promise<void>;
  /** Ends as a killed process does, without a message. */
  kill(): void;
}

const GUARD_MS = 500;
const AGAIN_MS = 10_000;
/** A rank that waits goes when nothing else has helped for so long. */
const WAITING_MS = 60_000;

/** Folder of the bundles. */
export function workerFolder(named?: string): string {
  if (named) return named.replace(/[\\/]?$/, '/');
  for (const candidate of ['./headless/', '../../dist/headless/', '../dist/headless/']) {
    const folder = fileURLToPath(new URL(candidate, import.meta.url));
    if (existsSync(`${folder}comm.cjs`)) return folder;
  }
  throw new Error('the worker bundles of @mayfly/node are missing: run its build');
}

/** What this process trusts; a job's process has no environment and no files to know it from. */
function tlsTrust(): TlsTrust {
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  return {
    rejectUnauthorized: process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0',
    ca: extra ? [...rootCertificates, readFileSync(extra, 'utf8')] : undefined,
  };
}

/**
 * Resolves when the server has welcomed the node; waits for a server that is not there yet. @throws when the server
 * refuses it.
 */
export async function startHeadlessNode(options: HeadlessOptions): Promise<HeadlessNode> {
  const folder = workerFolder(options.workers);
  const server = options.server.replace(/\/+$/, '');
  const faults = process.env['MAYFLY_RANK_FAULTS'] !== undefined && process.env['MAYFLY_RANK_FAULTS'] !== '';
  const rankArguments = [...(options.allowTypeScript ? ['--allow-typescript'] : []), ...(faults ? ['--faults'] : [])];
  const choice = options.sandbox ?? 'none';
  const sandbox = choice === 'none' ? undefined : await chooseSandbox(choice, folder, options.nice);
  const processes = new Set<ProcessFrame>();
  const tls = tlsTrust();
  const daemon = new Daemon(
    {
      server,
      name: options.name,
      slots: options.slots,
      room: options.room,
      board: options.board,
      runs: options.allowTypeScript ? PROGRAM_KINDS : ['wasm'],
      insecure: !tls.rejectUnauthorized,
    },
    {
      async openFrame() {
        if (!sandbox) return openThreadFrame(folder, server, rankArguments);
        const frame = await openFrameProcess({
          sandbox,
          server,
          tls,
          faults,
          rankArguments,
          onGone: (f) => processes.delete(f),
        });
        processes.add(frame);
        return frame;
      },
      // A process takes a tenth of a second to start, threads much less.
      spareFrame: sandbox !== undefined,
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
  // A worker's heap has a limit, its array buffers have none: without this the kernel would end the process, and every
  // rank with it.
  const most = options.memoryBytes ?? totalmem() * 0.75;
  let sacrificed = { rss: 0, at: 0 };
  const guard = setInterval(() => {
    let rss = process.memoryUsage.rss();
    let heaviest: { frame: ProcessFrame; bytes: number } | undefined;
    for (const frame of processes) {
      const bytes = frame.resident();
      rss += bytes;
      if (bytes > (heaviest?.bytes ?? 0)) heaviest = { frame, bytes };
    }
    // What the last one had comes back after a while only: another one goes when it becomes more, or when that did not
    // help.
    const grew = rss > 1.05 * sacrificed.rss;
    const ago = Date.now() - sacrificed.at;
    if (rss > most && (grew || ago > AGAIN_MS)) {
      const why = `out of memory: this node uses ${Math.round(rss / 1048576)} MB and may use ${Math.round(most / 1048576)}`;
      // One that waits took nothing of it since.
      if (daemon.sacrifice(why, heaviest?.frame, grew || ago > WAITING_MS)) sacrificed = { rss, at: Date.now() };
    }
  }, GUARD_MS);
  guard.unref();
  return {
    get node() {
      return daemon.node!;
    },
    sandbox,
    snapshot: () => daemon.snapshot(),
    setSlots: (n) => daemon.setSlots(n),
    foresee: () => daemon.foresee(),
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
