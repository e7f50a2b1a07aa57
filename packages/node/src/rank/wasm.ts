/**
 * A C or C++ program as the rank: the program host of packages/libmpi over this rank's device. Such a program sees
 * nothing but its imports.
 */
import { createBinding, runProcess, type Program } from '@mayfly/libmpi';
import type { Endpoint } from '@mayfly/protocols';
import type { RankRun } from '../messages.ts';
import { MEMORY_WORD } from '../ring/index.ts';
import { RankState, type StatusWriter } from '../status.ts';
import type { RankDevice } from './host-device.ts';
import type { RankImages } from './rank-images.ts';
import type { Random } from './random.ts';

export interface WasmRank {
  run: RankRun;
  module: WebAssembly.Module;
  device: RankDevice;
  endpoint: Endpoint;
  random: Random;
  images: RankImages;
  status: StatusWriter;
  /** Shared with the comm worker (src/ring). */
  words: Int32Array;
  /** The engine's own clock. */
  now(): number;
  end(): never;
}

const MOST_FRAMES = 64;
const PAGE_BYTES = 65_536;
/** After the start: an engine has better code of what is hot by then, of small functions soon, of large ones later. */
const REENTRIES_MS = [50, 150, 400, 1000, 3000, 10_000];

export function runWasm({ run, module, device, endpoint, random, images, status, words, now, end }: WasmRank): never {
  const a = run.assignment;
  (Error as unknown as { stackTraceLimit?: number }).stackTraceLimit = MOST_FRAMES;
  const image = images.restore();
  /** When the image under way became due, and what it holds. */
  let stall: { since: number; bytes: number; copied: number } | undefined;
  let program: Program | undefined;
  /** Its memory as it was seen last: a buffer that is empty now has been replaced by a larger one. */
  let seen = new ArrayBuffer(0);
  const due = (waiting: boolean): boolean => {
    if (seen.byteLength === 0 && program) {
      seen = program.memory.buffer as ArrayBuffer;
      words[MEMORY_WORD] = seen.byteLength / PAGE_BYTES;
    }
    if (!images.due(waiting)) return false;
    stall = { since: performance.now(), bytes: 0, copied: 0 };
    return true;
  };
  const began = performance.now();
  let reentries = 0;
  const reentryDue = (): boolean => {
    if (reentries === REENTRIES_MS.length) return false;
    const passed = performance.now() - began;
    if (passed < REENTRIES_MS[reentries]!) return false;
    while (reentries < REENTRIES_MS.length && passed >= REENTRIES_MS[reentries]!) reentries++;
    return true;
  };
  if (images.taken) status.canImage();
  status.state(endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);
  status.started();
  return runProcess({
    module,
    createBinding(options) {
      program = options.program;
      return createBinding(options);
    },
    restored: image && Object.fromEntries(image),
    onWaits: (waits) => {
      device.interrupted = () => waits.interrupted();
    },
    host: {
      device,
      args: [programName(a.program.entry), ...a.args],
      ...(a.env ? { env: a.env } : {}),
      inputs: a.files,
      readInput: (path) => device.read(path),
      processorName: () => run.place,
      random,
      memoryBytes: a.limits.memoryBytes,
      fileBytes: a.limits.fileBytes,
      version: 'Mayfly',
      imageDue: due,
      reentryDue,
      saveImage(taken) {
        if (stall)
          stall.bytes = taken.sections.reduce((n, s) => n + s.parts.reduce((k, part) => k + part.length, 0), 0);
        const began = performance.now();
        images.save(taken);
        if (stall) stall.copied = performance.now() - began;
        status.state(endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);
      },
      resumed() {
        if (stall)
          device.note(
            `rank ${a.task} stood still for ${(performance.now() - stall.since).toFixed(2)} ms for an image ` +
              `of ${(stall.bytes / 1048576).toFixed(1)} MB (${stall.copied.toFixed(2)} ms for the copy)`,
          );
        stall = undefined;
      },
      sleep: (ms) => device.sleep(ms, () => due(true), now),
      end,
    },
  });
}

/** argv[0]: 'src/main.c' → 'main'. */
const programName = (entry: string): string => (entry.split('/').at(-1) ?? '').replace(/\.\w+$/, '') || 'a.out';
