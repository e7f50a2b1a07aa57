/**
 * The rank worker: builds the device, the MPI layer and the program's world, evaluates the program, and says how it ended.
 *
 * Invariants
 *  K1 The program's first instruction runs after the world is installed, and the world is never taken back.
 *  K2 Whatever ends the program ends with one EXIT message: return, exit(), abort, an uncaught error. Only what breaks the host or the replay
 *     itself is thrown out of the worker, and counts as a crash of this incarnation.
 *  K3 Whether a checkpoint is taken, and when, leaves no trace in the program's history: it reads the engine's clock, not the job's.
 */
import { createMath } from '@mayfly/libm';
import { createLayer, runProgram, type CheckpointImage, type RestoredImage, type Runtime } from '@mayfly/mpi';
import { Endpoint, ReplayDiverged } from '@mayfly/protocols';
import type { RankRun } from '../messages.ts';
import { RankSide } from '../ring.ts';
import { RankState, StatusWriter } from '../status.ts';
import { RingDevice } from './device.ts';
import { plantFault, type FaultSeam } from './fault.ts';
import { RankImages } from './images.ts';
import { PROGRAM_FILE } from './place.ts';
import { Random } from './random.ts';
import { runWasm } from './wasm.ts';
import { installWorld } from './world.ts';

export interface RankSeams {
  /** The engine's own clock, ms since the epoch. */
  now(): number;
  /** Runs a classic script in the global scope. */
  evaluate(source: string): void;
  /** Ends this node where the job's arguments ask for it (fault.ts). Absent: they are the program's alone. */
  fault?: FaultSeam;
  global: Record<PropertyKey, unknown>;
}

export function runRank(memory: SharedArrayBuffer, wakeComm: () => void, run: RankRun, seams: RankSeams): void {
  const a = run.assignment;
  const side = new RankSide(memory, wakeComm);
  const status = new StatusWriter(side.words, () => side.nudge(), () => seams.now());
  const endpoint = new Endpoint(a.task, Math.max(a.size, a.capacity ?? 0), a.replay, run.start);
  const device = new RingDevice(side, endpoint, status, a, () => seams.now() + run.clockOffset, () => seams.now());
  const counted = seams.fault && plantFault(device, a.task, a.incarnation, a.args, seams.fault);
  const random = new Random(a.seed, a.task);
  const images = new RankImages(run, device, endpoint, random, status, () => seams.now());
  const end = (): never => {
    device.flush();
    counted?.();
    status.state(RankState.ENDED);
    // The EXIT is in the ring. The comm worker ends this thread when it is durable; until then nothing of the program may run.
    for (;;) side.park();
  };
  const { program } = run;
  if (typeof program !== 'string') return runWasm({ run, module: program, device, endpoint, random, images, status, words: side.words, now: () => seams.now(), end });

  const runtime: Runtime = {
    args: a.args,
    ...(a.env ? { env: a.env } : {}),
    inputFiles: () => a.files.map((f) => f.path),
    readInput: (path) => device.read(path),
    processorName: () => run.place,

    openCheckpoint(): RestoredImage | undefined {
      status.canImage();
      const image = images.restore();
      if (image) return Object.fromEntries(image);
      endpoint.openPrologue();
      return undefined;
    },
    checkpointDue: () => images.due(false),
    saveCheckpoint: (image: CheckpointImage) => images.save(image),
    setCheckpointInterval(ms) {
      images.interval = ms;
    },

    describeError: describe,
    end,
  };

  let origin: number | undefined;
  const layer = createLayer(device);
  // It waits for its parents, and perhaps for slots of its siblings, before the program's first line.
  if (a.spawned) status.started();
  runProgram(
    layer,
    runtime,
    (mayfly) => {
      installWorld({
        global: seams.global,
        random,
        clock: () => device.clock(),
        math: createMath(() => random.draw()),
        console: mayfly.console,
        mayfly,
        origin: () => (origin ??= device.clock()),
      });
      status.state(endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);
      status.started();
      seams.evaluate(program);
    },
    (e) => e instanceof ReplayDiverged,
  );
}

/** Message and stack of whatever was thrown; of the stack, the program's own frames. The server maps them to its sources. */
function describe(error: unknown): { message: string; stack?: string } {
  if (!(error instanceof Error)) return { message: `uncaught: ${shown(error)}` };
  const frames = String(error.stack ?? '')
    .split('\n')
    .filter((line) => line.includes(PROGRAM_FILE));
  const message = `${error.name}: ${error.message}`;
  return { message, ...(frames.length > 0 ? { stack: [message, ...frames].join('\n') } : {}) };
}

function shown(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
