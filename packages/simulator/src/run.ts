/**
 * One seed: draws topology, workload and faults, runs the cores through them, and checks the answer. Everything that a
 * run does follows from its seed; the same seed gives the same notes byte for byte.
 *
 * Faults fall only while the job runs, and stop after a while, so that a correct run ends: one that does not is a
 * violation too (K13).
 */
import { accepts, protocols, reasonOf, type VProtocol } from '@mayfly/protocols';
import { jobId, PROGRAM_KINDS, type ErrorBody, type ProtocolName } from '@mayfly/wire';
import { Violation } from './violation.ts';
import type { FaultKind } from './fault-kinds.ts';
import { drawClusters, nodesFor } from './clusters-of-seed.ts';
import { Striker, drawFaults, drawLeaves, harmless, type Fault } from './faults.ts';
import type { Rule } from './planted.ts';
import type { ProgramSpec } from './program.ts';
import { Random } from './random.ts';
import type { Setup } from './setup.ts';
import { World } from './world.ts';

export interface RunOptions {
  /** Mean time between faults, ms; default drawn from the seed. */
  readonly faultEveryMs?: number;
  /** Only faults of these kinds. */
  readonly only?: readonly FaultKind[];
  /** Overrides what the seed draws, for planted bugs, shrinking and named scenarios. */
  readonly setup?: Partial<Setup>;
  readonly spec?: Partial<ProgramSpec>;
  /** The faults instead of those that the seed draws. */
  readonly faults?: readonly Fault[];
  /** The rule that this run breaks on purpose. */
  readonly undone?: Rule;
  /** Asked instead of the V-protocol that `setup.protocol` names; checked by the kit of that one. */
  readonly protocol?: VProtocol;
  /** Called at every step, with the world in which it happens: for transcripts, and for faults at a named place. */
  readonly trace?: (world: World, line: string) => void;
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
  /** The named error that rightly ended the job, if one did. */
  endedBy: string | undefined;
  violation?: string;
  notes: string[];
}

const TIME_LIMIT_MS = 400_000;
const STEP_LIMIT = 2_000_000;

/** The V-protocol that a campaign draws for a seed, where it is held to none. Clusters are drawn apart. */
export const protocolOfSeed = (seed: number): ProtocolName =>
  Random.named(seed, 'protocol of clusters').chance(1 / 6)
    ? 'hc3i'
    : Random.named(seed, 'programs that recover').chance(1 / 8)
      ? 'app'
      : Random.named(seed, 'protocol').pick(['pessimistic', 'pessimistic', 'vcl', 'pcl', 'none'] as const);

/** What a campaign draws for a seed, where it is held to no protocol: that, and parity of images where it has any. */
export function setupOfSeed(seed: number, protocol: ProtocolName = protocolOfSeed(seed)): Partial<Setup> {
  const r = Random.named(seed, 'parity');
  if (!accepts(protocol, 'parity') || !r.chance(0.4)) return { protocol };
  return {
    protocol,
    wholeEvery: r.pick([2, 3, 5]),
    ...(protocol === 'pessimistic' && r.chance(0.5) ? { team: 1 } : {}),
  };
}

export function draw(seed: number, o: RunOptions = {}): Setup {
  const r = Random.named(seed, 'setup');
  const spec: ProgramSpec = {
    seed: r.between(1, 2 ** 31),
    size: r.between(2, 6),
    rounds: r.between(8, 48),
    ordered: r.chance(0.35),
    prologueRounds: r.chance(0.4) ? undefined : r.between(0, 2),
    maxBody: r.pick([16, 40, 200, 700, 3000]),
    storeBytes: r.pick([0, 64, 300, 100_000]),
    stdin: r.chance(0.5) ? 0 : r.between(1, 8),
    files: Random.named(seed, 'files').chance(0.4),
    ...o.spec,
  };
  const spawn = Random.named(seed, 'spawn');
  if (spec.files && !spec.script && !spec.spawn && spawn.chance(0.5))
    Object.assign(spec, {
      spawn: { first: spawn.between(1, spec.size - 1), round: spawn.between(1, Math.min(5, spec.rounds - 1)) },
    });
  const grace = Random.named(seed, 'grace');
  const kinds = Random.named(seed, 'kinds');
  const setup: Setup = {
    kind: kinds.pick(PROGRAM_KINDS),
    others: kinds.chance(0.7) ? 0 : kinds.between(1, 2),
    lazyTicks: Random.named(seed, 'sync').pick([1, 1, 3, 8]),
    briefGraceMs: grace.chance(0.5) ? grace.pick([50, 150, 400]) : undefined,
    job: jobId('sim000000000'),
    program: 'ab'.repeat(32),
    spec,
    channelMemories: r.between(1, 4),
    protocol: 'pessimistic',
    durability: r.chance(0.3) ? 'strict' : 'behind',
    chunkBytes: 64,
    window: r.pick([128, 1024, 100_000]),
    retainBytes: r.pick([600, 5000, 1_000_000]),
    memoryBytes: 200_000,
    checkpointMs: r.pick([100, 300, 1000, 4000, 100_000]),
    graceMs: r.pick([300, 1000, 3000]),
    maxDelay: r.pick([2, 10, 80]),
    turnMs: r.pick([1, 10, 60]),
    syncMs: r.pick([10, 50, 400]),
    diskMs: r.pick([8, 60, 250]),
    nodes: r.between(2, 5),
    slots: r.between(1, 3),
    dispatcher: {
      restartGraceMs: 2000,
      silentMs: 4000,
      startMs: 10_000,
      startAfterMs: 5000,
      stuckAfterMs: 10_000,
      stuckFactor: 3,
      quarantineMs: 400,
      quarantineMaxMs: 6000,
      // Honest nodes leave and come back: a time in which none is here must not end a job.
      strangersMs: o.only?.includes('crashing program') ? 1000 : 1e9,
      crashLimit: harmless(o.only) ? 3 : 1e6,
    },
    team: 1,
    ringBytes: 4000,
    backlogBytes: 1e9,
    ...o.setup,
  };
  drawTeams(seed, setup, o);
  const { goesBack } = protocols[setup.protocol].manifest;
  if (goesBack === 'cluster') {
    Object.assign(spec, { spawn: undefined }); // a new process would be in no cluster
    Object.assign(setup, drawClusters(seed, setup), o.setup);
  }
  // Coordinated checkpointing takes images wherever a rank waits: modules alone.
  if (goesBack === 'cluster' || goesBack === 'job') {
    Object.assign(spec, { prologueRounds: undefined });
    Object.assign(setup, { kind: 'wasm' });
  }
  if (setup.protocol === 'app') drawRecovery(seed, setup, o);
  // enough slots for every rank
  return { ...setup, nodes: Math.max(setup.nodes, nodesFor(setup)) };
}

/** A program that recovers itself does nothing but that, and how long its replacements may wait for a slot. */
function drawRecovery(seed: number, setup: Setup, { setup: held }: RunOptions): void {
  const r = Random.named(seed, 'recovery');
  const communicators = r.pick(['rebuild', 'rebuild', 'shrink', 'blank'] as const);
  const slotMs = r.pick([0, 3000, 10_000]);
  Object.assign(setup.spec, { files: false, stdin: 0, spawn: undefined, prologueRounds: undefined });
  Object.assign(setup, { ft: { communicators, messages: 'reset', slotMs }, kind: 'wasm' }, held);
}

/** Ranks of one node may exchange messages in its memory; what must be logged of that is. */
export const hasTeams = ({ recovery, teams }: VProtocol): boolean =>
  recovery.teams === 'transport' || (recovery.teams === 'unit' && teams !== undefined);

/** For somebody who looks for what a run waits for. */
function stateOf({ server, setup }: World): string {
  const { core } = server.service.dispatcher;
  const job = core.jobs.get(setup.job);
  if (!job) return 'the dispatcher does not know it';
  const tasks = job.tasks.map(
    (t) => `${t.task}.${t.incarnation} ${t.phase}${t.node === undefined ? '' : ` at ${t.node}`}`,
  );
  return `${reasonOf(core, job) ?? 'no reason'}; ${tasks.join(', ')}`;
}

/** Teams, where the protocol has them: drawn apart, so that the other seeds stay what they were. */
function drawTeams(
  seed: number,
  setup: Setup,
  { setup: held, spec: heldSpec, protocol = protocols[setup.protocol], undone }: RunOptions,
): void {
  const r = Random.named(seed, 'teams');
  const drawn: Partial<Setup> = {
    team: r.pick([1, 2, 3, 4, 4]),
    mapBy: r.pick([undefined, undefined, 'slot', 'node']),
    ringBytes: r.pick([90, 400, 4000]),
    backlogBytes: Random.named(seed, 'backlog').pick([1e9, 1e9, 1000, 5000]),
    slots: r.between(2, 4),
    spare: undone === undefined ? Random.named(seed, 'spare').pick([0, 0, 2, 4]) : 0,
    spareSlots: undone === undefined ? Random.named(seed, 'spare slots').pick([1, 1, 2]) : 1,
    // the faults strike few nodes: a start takes long
    dispatcher: { ...setup.dispatcher, startMs: 40_000, moveAfterMs: 1000, mergeAfterMs: 1000 },
  };
  const sparse = r.chance(0.4);
  const tight = undone === undefined && protocol.teams && drawTight(seed);
  if (tight) Object.assign(drawn, tight);
  if (!hasTeams(protocol) || (held?.team ?? drawn.team) === 1 || setup.spec.script) return;
  Object.assign(setup, drawn, held);
  if (tight) Object.assign(setup.spec, { rounds: r.between(24, 48), ...heldSpec });
  // Modules of a team with a log take their images wherever a rank waits, scripts at a checkpoint of all.
  const drawsScript = undone === undefined && Random.named(seed, 'team of scripts').chance(0.4);
  const script = held?.kind === undefined ? drawsScript : held.kind === 'typescript';
  if (protocol.recovery.restarts && !script) {
    Object.assign(setup.spec, { prologueRounds: undefined });
    Object.assign(setup, { kind: 'wasm' });
  } else if (protocol.recovery.restarts) {
    Object.assign(setup.spec, { prologueRounds: r.between(0, 2), ...heldSpec });
    Object.assign(setup, { kind: 'typescript' });
  }
  if (sparse) Object.assign(setup.spec, { sparse, ...heldSpec });
}

function faultsFor({ replaceMs }: Setup, seed: number, { faultEveryMs, only, undone }: RunOptions): Fault[] {
  const drawn = drawFaults(seed, faultEveryMs, only);
  if (only || undone !== undefined || replaceMs === undefined) return drawn;
  const oneIn = Random.named(seed, 'thinned').pick([1, 8, 32]);
  return [...drawn.filter((_, i) => i % oneIn === 0), ...drawLeaves(seed)];
}

/** In half of the seeds no more nodes than it takes, and others with few slots: teams are dissolved, and they move. */
function drawTight(seed: number): Partial<Setup> | undefined {
  const r = Random.named(seed, 'tight');
  if (!r.chance(0.5)) return undefined;
  const [spare, spareSlots] = [r.pick([4, 5, 6]), r.pick([1, 1, 2])];
  return { nodes: 1, slots: r.between(3, 4), mapBy: 'slot', team: r.between(2, 4), spare, spareSlots, replaceMs: 8000 };
}

export function run(seed: number, o: RunOptions = {}): RunReport {
  const setup = draw(seed, o);
  const world = new World(setup, seed, o);
  const striker = new Striker(world);
  const report = (violation?: string, endedBy?: string): RunReport => ({
    seed,
    parameters: JSON.stringify(setup),
    faults: striker.counts,
    counts: Object.fromEntries(world.counts),
    simulatedMs: world.agenda.now,
    repeated: world.checkers.repeated,
    answer: violation === undefined && world.end?.state === 'done' && !setup.ft ? world.checkers.answer() : [],
    endedBy,
    ...(violation === undefined ? {} : { violation }),
    notes: world.notes,
  });
  try {
    world.server.start();
    for (let i = 0; i < setup.nodes; i++) world.volunteer();
    for (let i = 0; i < (setup.spare ?? 0); i++)
      world.volunteer({ id: undefined, place: {}, slots: setup.spareSlots ?? 1 });
    for (let i = 0; i < setup.others; i++) world.bystander();
    for (const f of o.faults ?? faultsFor(setup, seed, o))
      world.agenda.after(f.at, () => world.end ?? striker.strike(f));
    const typing = Random.named(seed, 'stdin');
    for (let i = 0; i < setup.spec.stdin; i++) world.agenda.after(typing.between(0, 3000), () => world.typed());
    let steps = 0;
    while (!world.end && world.agenda.now < TIME_LIMIT_MS && ++steps < STEP_LIMIT && world.agenda.step());
    if (!world.end) {
      world.note(`the job: ${stateOf(world)}`);
      for (const v of world.volunteers) world.note(v.describe());
      return report(`K13: no end after ${Math.round(world.agenda.now)} ms and ${steps} steps`);
    }
    world.count('recoveries heard of', world.checkers.kit.recoveries?.heardOf ?? 0);
    if (world.end.state === 'done') return report();
    const error: ErrorBody = world.end.error ?? { code: 'INTERNAL', message: 'no error is named' };
    const { code, message } = error;
    // K19: the program was to blame, and no honest node is for it.
    const blamed =
      code === 'KEEPS_CRASHING'
        ? world.volunteers.find((v) => !v.hostile && v.id !== undefined && world.server.quarantined().includes(v.id))
        : undefined;
    if (blamed) return report(`K19: ${blamed.name} is in quarantine for what the program did`);
    return excused(error, striker, world)
      ? report(undefined, code)
      : report(`the job ended ${world.end.state}: ${code} ${message}`);
  } catch (e) {
    if (e instanceof Violation) return report(e.message);
    return report(`${(e as Error).name}: ${(e as Error).message}\n${(e as Error).stack ?? ''}`);
  }
}

/** May a job end with this error? A program that no node can run excuses it; what else does is a matter of its kit. */
function excused(error: ErrorBody, { excuses }: Striker, { checkers }: World): boolean {
  if (error.code === 'KEEPS_CRASHING') {
    const named = Number(/^Rank (\d+)/.exec(error.message)?.[1]);
    return checkers.teamOf(named).some((task) => excuses.poisoned.has(task));
  }
  return checkers.kit.excuses(error, excuses);
}
