/**
 * One seed: draws topology, workload and faults, runs the cores through them, and checks the answer. Everything that a run does
 * follows from its seed; the same seed gives the same notes byte for byte.
 *
 * Faults fall only while the job runs, and stop after a while, so that a correct run ends: one that does not is a violation too.
 */
import type { EndpointOptions } from '@mayfly/protocols';
import { jobId } from '@mayfly/wire';
import { Violation } from './checkers.ts';
import type { ProgramSpec } from './program.ts';
import { Random } from './random.ts';
import { World, type Setup } from './world.ts';

export const FAULTS = ['close', 'crash', 'half-open crash', 'freeze', 'cut off', 'reload', 'rank crash', 'broken link', 'kill server', 'power loss'] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface RunOptions {
  /** Mean time between faults, ms; default drawn from the seed. */
  readonly faultEveryMs?: number;
  readonly endpoint?: EndpointOptions;
  /** Overrides what the seed draws, for named scenarios. */
  readonly setup?: Partial<Setup>;
  readonly spec?: Partial<ProgramSpec>;
  /** No faults at all. */
  readonly calm?: boolean;
}

export interface RunReport {
  seed: number;
  parameters: string;
  /** Faults that changed a state, by kind. */
  faults: Record<string, number>;
  counts: Record<string, number>;
  simulatedMs: number;
  repeated: number;
  answer: number[][];
  /** Power loss in `behind` may exceed what the protocol covers: it must be detected and end the job with this code. */
  lostLog: boolean;
  violation?: string;
  notes: string[];
}

const TIME_LIMIT_MS = 600_000;
const FAULT_TIME_MS = 20_000;
const STEP_LIMIT = 3_000_000;

const square = (x: number): number => x * x;

function draw(seed: number, o: RunOptions): { setup: Setup; random: Random } {
  const r = new Random(seed);
  const spec: ProgramSpec = {
    seed: r.between(1, 2 ** 31),
    size: r.between(2, 6),
    rounds: r.between(3, 25),
    ordered: r.chance(0.4),
    prologueRounds: r.chance(0.4) ? undefined : r.between(0, 2),
    maxBody: r.pick([16, 40, 200, 700]),
    storeBytes: r.pick([0, 64, 300, 100_000]),
    ...o.spec,
  };
  const setup: Setup = {
    job: jobId('sim000000000'), program: 'ab'.repeat(32), spec,
    channelMemories: r.between(1, 3), protocol: 'pessimistic', durability: r.chance(0.3) ? 'strict' : 'behind',
    chunkBytes: 64, window: r.pick([128, 1024, 100_000]), checkpointMs: r.pick([200, 1000, 5000, 100_000]), graceMs: r.pick([300, 1000, 3000]),
    maxDelay: r.pick([2, 10, 80]), turnMs: r.pick([1, 10, 60]), syncMs: r.pick([10, 50]), nodes: r.between(2, 5), slots: r.between(1, 3),
    dispatcher: { restartGraceMs: 2000, silentMs: 4000, startMs: 10_000, crashLimit: 1e6 }, endpoint: o.endpoint ?? {}, ...o.setup,
  };
  // enough slots for every rank
  const nodes = Math.max(setup.nodes, Math.ceil(spec.size / setup.slots));
  return { setup: { ...setup, nodes }, random: r.fork(7) };
}

export function run(seed: number, o: RunOptions = {}): RunReport {
  const { setup, random } = draw(seed, o);
  const world = new World(setup, random);
  const faults: Record<string, number> = {};
  const parameters = JSON.stringify(setup);
  let powerLost = 0;
  const report = (violation?: string): RunReport => ({
    seed, parameters, faults, counts: Object.fromEntries(world.counts), simulatedMs: world.agenda.now, repeated: world.checkers.repeated,
    answer: violation === undefined && world.end?.state === 'done' ? world.checkers.answer() : [], lostLog: world.end?.error?.code === 'LOST_LOG',
    ...(violation === undefined ? {} : { violation }), notes: world.notes,
  });
  const happened = (kind: FaultKind, what: string): void => {
    faults[kind] = (faults[kind] ?? 0) + 1;
    world.note(`FAULT ${kind}: ${what}`);
  };

  const strike = (): void => {
    if (world.end) return;
    const kind = random.pick(FAULTS);
    const busy = world.volunteers.filter((v) => v.alive && v.held.size > 0);
    const v = random.pick(busy.length > 0 ? busy : world.volunteers);
    const replace = (): void => world.agenda.after(random.between(0, 3000), () => void world.volunteer());
    switch (kind) {
      case 'close':
      case 'crash':
      case 'half-open crash':
        if (!v) return;
        happened(kind, v.name);
        if (kind === 'close') v.goodbye();
        else v.crash(kind === 'half-open crash');
        return replace();
      case 'reload':
        if (!v?.id) return;
        happened(kind, v.name);
        v.goodbye();
        return world.agenda.after(random.between(100, 2000), () => void world.volunteer(v.id));
      case 'freeze':
        if (!v || v.frozen) return;
        happened(kind, v.name);
        return v.freeze(random.between(10, 12_000));
      case 'cut off':
        if (!v || v.offline) return;
        happened(kind, v.name);
        return v.cutOff(random.between(10, 6000));
      case 'rank crash': {
        const task = v && random.pick([...v.held.keys()]);
        if (task === undefined || random.chance(0.7)) return; // rare: three in a row rightly end a job
        happened(kind, `task ${task} on ${v!.name}`);
        return v!.crashRank(task);
      }
      case 'broken link':
        if (!v) return;
        happened(kind, v.name);
        return v.breakData(random.between(0, setup.channelMemories - 1));
      case 'kill server':
      case 'power loss': {
        if (!world.server.up) return;
        happened(kind, '');
        if (kind === 'power loss') powerLost += world.server.powerLoss();
        else world.server.kill();
        return world.agenda.after(random.between(20, 1500), () => world.server.start());
      }
    }
  };

  try {
    world.server.start();
    for (let i = 0; i < setup.nodes; i++) world.volunteer();
    const every = o.faultEveryMs ?? random.pick([100, 400, 1500, 6000]);
    const next = (): void => {
      // a squared uniform draw: bursts and pauses, and the same on every engine, as a logarithm would not be
      world.agenda.after(3 * square(random.next()) * every, () => {
        if (world.agenda.now > FAULT_TIME_MS || world.end) return;
        strike();
        next();
      });
    };
    if (!o.calm) next();
    let steps = 0;
    while (!world.end && world.agenda.now < TIME_LIMIT_MS && ++steps < STEP_LIMIT && world.agenda.step());
    if (!world.end) for (const v of world.volunteers) world.note(v.describe());
    if (!world.end) return report(`no end after ${Math.round(world.agenda.now)} ms and ${steps} steps`);
    if (world.end.state === 'done') return report();
    const { code, message } = world.end.error ?? { code: '?', message: '' };
    if (code === 'LOST_LOG' && powerLost > 0 && setup.durability === 'behind') return report();
    return report(`the job ended ${world.end.state}: ${code} ${message}`);
  } catch (e) {
    if (e instanceof Violation) return report(e.message);
    return report(`${(e as Error).name}: ${(e as Error).message}\n${(e as Error).stack ?? ''}`);
  }
}

/** A disturbed run against its undisturbed twin: K6. */
export function runAndCompare(seed: number, o: RunOptions = {}): RunReport {
  const disturbed = run(seed, o);
  if (disturbed.violation !== undefined || disturbed.answer.length === 0) return disturbed;
  const { setup } = draw(seed, o);
  if (!setup.spec.ordered) return disturbed;
  const calm = run(seed, { ...o, calm: true });
  if (calm.violation !== undefined) return { ...disturbed, violation: `undisturbed: ${calm.violation}` };
  if (JSON.stringify(calm.answer) !== JSON.stringify(disturbed.answer)) return { ...disturbed, violation: 'K6: the answer differs from the undisturbed run' };
  return disturbed;
}
