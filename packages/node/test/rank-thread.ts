/**
 * One rank in a real worker thread, from the real bundle, without a server: the test stands where the comm worker
 * stands. For programs that try to get out.
 */
import { fileURLToPath } from 'node:url';
import { MessageChannel, type WorkerOptions } from 'node:worker_threads';
import {
  encodeFrame,
  Flag,
  HEADER_BYTES,
  Kind,
  readHeader,
  WORLD,
  WorldMode,
  type Assignment,
  type ExitReport,
} from '@mayfly/wire';
import { protocols } from '@mayfly/protocols';
import type { FromRank, RankInit, RankRun } from '../src/messages.ts';
import { nodeWorker } from '../src/node-worker.ts';
import { RankLink } from '../src/comm/rank-link.ts';

const BUNDLE = fileURLToPath(new URL('../dist/headless/rank.cjs', import.meta.url));

export interface RankEnd {
  stdout: string;
  stderr: string;
  /** What the rank reported of its end. */
  exit?: ExitReport;
  /** The thread ended, or asked to be ended, without a report. */
  died?: string;
}

const assignment = {
  job: 'job',
  task: 0,
  incarnation: 1,
  size: 1,
  capability: '',
  program: { language: 'typescript', hash: '', entry: 'main.ts' },
  args: [],
  files: [],
  protocol: 'pessimistic',
  channelMemories: [],
  seed: 1,
  serverTime: 0,
  checkpointMs: 0,
  graceMs: 0,
  position: protocols.pessimistic.recovery.start,
  limits: { memoryBytes: 256 << 20, fileBytes: 1 << 20 },
} as unknown as Assignment;

/** Runs a script, which finds the module 'mayfly' in `__mayfly`, until it ends. */
export function runInThread(program: string, options: WorkerOptions = {}): Promise<RankEnd> {
  const seen = { stdout: '', stderr: '' };
  let report = '';
  let arrivals = 0;
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const worker = nodeWorker<RankInit, FromRank>(BUNDLE, {
      env: {},
      argv: ['--allow-typescript'],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 64 },
      ...options,
    });
    const finish = (end: Pick<RankEnd, 'exit' | 'died'>): void => {
      link.close();
      worker.terminate();
      port1.close();
      resolve({ ...seen, ...end });
    };
    const frames = (bytes: Uint8Array): void => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.length;) {
        const h = readHeader(view, at);
        const body = bytes.subarray(at + HEADER_BYTES + h.detBytes, at + HEADER_BYTES + h.detBytes + h.bytes);
        const text = new TextDecoder().decode(body);
        if (h.dst === WORLD && h.mode === WorldMode.STDOUT) seen.stdout += text;
        if (h.dst === WORLD && h.mode === WorldMode.STDERR) seen.stderr += text;
        const exit = h.dst === WORLD && h.mode === WorldMode.EXIT;
        if (exit) report += text;
        if (exit && (h.flags & Flag.LAST) !== 0) return finish({ exit: JSON.parse(report) as ExitReport });
        // To itself: what the Channel Memory would send back.
        if (h.dst === assignment.task) {
          link.deliver(encodeFrame({ ...h, kind: Kind.ARRIVAL, arrival: ++arrivals, detBytes: 0 }, body));
          link.settle();
        }
        at += (HEADER_BYTES + h.detBytes + h.bytes + 7) & ~7;
      }
    };
    const link: RankLink = new RankLink(assignment, undefined, undefined, {
      onFrames: frames,
      onImage: () => undefined,
      onChannels: () => undefined,
      onDeclined: () => undefined,
      onEnd: () => undefined,
      onWish: () => undefined,
      onRead: () => undefined,
      onNote: () => undefined,
      onWake: () => serve(),
      blocked: () => false,
    });
    const serve = (): void => {
      while (link.drain() === 'more');
      if (!link.sleep(false)) setImmediate(serve);
    };
    port1.on('message', () => link.side.woken());
    worker.onDeath((died) => finish({ died }));
    worker.onMessage(({ why }) => finish({ died: why }));
    worker.post({ type: 'init', memory: link.memory, port: port2 } as never, [port2]);
    const run = {
      type: 'run',
      assignment,
      clockOffset: 0,
      program,
      imageBuffer: undefined,
      image: undefined,
      place: 'here',
      start: {
        incarnation: assignment.incarnation,
        limits: [],
        prologue: [],
        determinants: [],
        openPolls: 0,
        consumed: 0,
      },
    } satisfies RankRun;
    port1.postMessage(run);
    serve();
  });
}
