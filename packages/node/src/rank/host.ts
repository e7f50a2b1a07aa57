/**
 * The rank worker: builds the device, the MPI layer and the program's world, evaluates the program, and reports how it
 * ended.
 *
 * Invariants
 *  K1 The program's first instruction runs after the world is installed, and the world is never taken back.
 *  K2 Whatever ends the program ends with one EXIT message: return, exit(), abort, an uncaught error. What breaks the
 *     host or the replay itself counts as a crash of this incarnation.
 *  K4 Nothing is thrown out of {@link runRank}, and it does not return: what an engine does with an uncaught error, and
 *     whatever the program has left to be done later (promises), would run with more rights than the program has. What
 *     is thrown may be hostile: it is looked at by {@link describe} alone.
 *  K3 Whether a checkpoint is taken, and when, leaves no trace in the program's history: it reads the engine's clock,
 *  not the job's.
 */
import { createMath } from '@mayfly/libm';
import { createLayer, runProgram, type CheckpointImage, type RestoredImage, type Runtime } from '@mayfly/mpi';
import { ReplayDiverged, protocols } from '@mayfly/protocols';
import type { RankRun } from '../messages.ts';
import { RankSide } from '../ring/index.ts';
import { RankState, StatusWriter } from '../status.ts';
import { RankDevice } from './host-device.ts';
import { plantFault, type FaultSeam } from './fault.ts';
import { describe, isA, messageOf } from './describe.ts';
import { Teammates } from './teammates.ts';
import { RankImages } from './rank-images.ts';
import { Random } from './random.ts';
import { runWasm } from './wasm.ts';
import { installWorld } from './program-globals.ts';

export interface RankSeams {
  /** The engine's own clock, ms since the epoch. */
  now(): number;
  /** Runs a classic script in the global scope. */
  evaluate(source: string): void;
  /** Ends this node where the job's arguments ask for it (fault.ts). Absent: they are the program's alone. */
  fault?: FaultSeam;
  /**
   * Reports to the thread's parent that this rank cannot continue, through no fault of its program. The parent then
   * ends the thread.
   */
  broken(why: string): void;
  global: Record<PropertyKey, unknown>;
}

/** Made ahead: a rank that waits here may have no memory left. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

export function runRank(memory: SharedArrayBuffer, wakeComm: () => void, run: RankRun, seams: RankSeams): never {
  let why = 'the rank host returned';
  try {
    hostRank(memory, wakeComm, run, seams);
  } catch (e) {
    why = messageOf(e);
  }
  try {
    seams.broken(why);
  } catch {
    // There is no report: the daemon notices that this rank makes no progress.
  }
  for (;;) Atomics.wait(NEVER, 0, 0);
}

function hostRank(memory: SharedArrayBuffer, wakeComm: () => void, run: RankRun, seams: RankSeams): never {
  const a = run.assignment;
  const team = run.team && new Teammates(run.team, a.task);
  const side = new RankSide(memory, wakeComm, team?.bell);
  if (team) side.spin = team.spin;
  const status = new StatusWriter(
    side.words,
    () => side.nudge(),
    () => seams.now(),
  );
  const endpoint = protocols[a.protocol].rank(a.task, Math.max(a.size, a.capacity ?? 0), a.position, run.start, a.team);
  const device = new RankDevice(
    side,
    endpoint,
    status,
    a,
    () => seams.now() + run.clockOffset,
    () => seams.now(),
    team,
    typeof run.program === 'string' ? a.checkpointMs : undefined,
  );
  if (run.image && typeof run.program === 'string') device.begins(run.image);
  const counted = seams.fault && plantFault(device, a.task, a.incarnation, a.args, seams.fault);
  const random = new Random(a.seed, a.task);
  const images = new RankImages(run, device, endpoint, random, status, () => seams.now());
  const end = (): never => {
    device.flush();
    counted?.();
    status.state(RankState.ENDED);
    // Nothing of the program may run any more.
    return device.leave();
  };
  const { program } = run;
  if (typeof program !== 'string')
    return runWasm({
      run,
      module: program,
      device,
      endpoint,
      random,
      images,
      status,
      words: side.words,
      now: () => seams.now(),
      end,
    });

  const runtime: Runtime = {
    args: a.args,
    ...(a.env ? { env: a.env } : {}),
    inputFiles: () => a.files.map((f) => f.path),
    readInput: (path) => device.read(path),
    processorName: () => run.place,

    openCheckpoint(): RestoredImage | undefined {
      const image = images.restore();
      if (!image) {
        endpoint.openPrologue();
        device.log?.opened();
      }
      if (images.taken && device.log?.hasImages !== false) status.canImage();
      return image && Object.fromEntries(image);
    },
    checkpointDue: (force) => images.dueHere(force),
    saveCheckpoint: (image: CheckpointImage) => images.save(image),
    setCheckpointInterval(ms) {
      images.interval = ms;
    },

    describeError: describe,
    end,
  };

  const layer = createLayer(device);
  // It waits for its parents, and perhaps for slots of its siblings, before the program's first line.
  if (a.spawned) status.started();
  return runProgram(
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
        origin: () => (images.origin ??= device.clock()),
      });
      status.state(endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);
      status.started();
      seams.evaluate(program);
    },
    (e) => isA(e, ReplayDiverged),
  );
}
