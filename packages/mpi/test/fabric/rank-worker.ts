/** One rank of the test fabric in a worker thread: waits for jobs, runs a named program, answers with its result. */
import { parentPort } from 'node:worker_threads';
import { createLayer, createMayfly, type CheckpointImage, type Runtime } from '../../src/index.ts';
import { LogDevice, type DeviceOptions, type Line, type RankLog } from './log-device.ts';
import { programs } from '../programs/index.ts';

export interface Job {
  rank: number;
  size: number;
  inboxes: SharedArrayBuffer[];
  program: string;
  input: unknown;
  options: DeviceOptions;
  files: Record<string, Uint8Array>;
  /** Second incarnation: the log of the first, and the image to begin from. */
  before?: RankLog | undefined;
  image?: StoredImage | undefined;
}
export interface StoredImage {
  sections: Record<string, Uint8Array>;
  held: number[];
  line: Line;
}
export interface Answer {
  value?: unknown;
  error?: { name: string; message: string; errorClass?: number | undefined; stack?: string | undefined } | undefined;
  exit?: unknown;
  log: RankLog;
  images: StoredImage[];
  counters: unknown;
  /** Requests, posted receives, unexpected messages and scratch buffers that are left. */
  left: { requests: number; posted: number; unexpected: number; scratch: number; unexpectedBytes: number };
  mostUnexpected: number;
}

class Ended extends Error {
  constructor(readonly report: unknown) {
    super('the program ended');
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

function run(job: Job): Answer {
  const device = new LogDevice(job.rank, job.size, job.inboxes, job.options, job.before);
  device.onWorld = (n, mode, body) => parentPort!.postMessage({ world: { task: job.rank, n, mode, body } });
  const layer = createLayer(device);
  const images: StoredImage[] = [];
  const runtime: Runtime = {
    args: ['a', 'b'],
    inputFiles: () => Object.keys(job.files),
    readInput: (path) => job.files[path]!,
    processorName: () => `node of rank ${job.rank}`,
    openCheckpoint: () => {
      if (!job.image) return undefined;
      device.jump(job.image.line);
      return job.image.sections;
    },
    checkpointDue: () => true,
    saveCheckpoint: (image: CheckpointImage) => {
      images.push({
        sections: Object.fromEntries(image.sections.map((s) => [s.name, concat(s.parts)])),
        held: [...image.held],
        line: device.snapshotLine(),
      });
    },
    setCheckpointInterval: () => undefined,
    end: (report) => {
      throw new Ended(report);
    },
  };
  const answer: Answer = {
    log: device.log,
    images,
    counters: layer.counters,
    left: { requests: 0, posted: 0, unexpected: 0, scratch: 0, unexpectedBytes: 0 },
    mostUnexpected: 0,
  };
  try {
    const program = programs[job.program];
    if (!program) throw new Error(`no program ${job.program}`);
    answer.value = program(createMayfly(layer, runtime), job.input as never);
  } catch (e) {
    if (e instanceof Ended) answer.exit = e.report;
    else if (e instanceof Error)
      answer.error = {
        name: e.name,
        message: e.message,
        errorClass: (e as { errorClass?: number }).errorClass,
        stack: e.stack,
      };
    else throw e;
  }
  const { state } = layer;
  answer.left = {
    requests: state.requests.rows.size,
    posted: state.posted.size,
    unexpected: [...state.unexpected.values()].reduce((n, q) => n + q.length, 0),
    scratch: state.scratch.size,
    unexpectedBytes: state.unexpectedBytes,
  };
  answer.mostUnexpected = device.mostUnexpected;
  return answer;
}

parentPort!.on('message', (job: Job) => parentPort!.postMessage(run(job)));
