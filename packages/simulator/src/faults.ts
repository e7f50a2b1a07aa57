/**
 * Faults: their kinds, the list that a seed draws, and how each strikes. The list is drawn before the run and each
 * fault has its own generator, so that a shorter list (shrink.ts) is the same run with fewer faults.
 *
 * A fault counts when it changed a state: there was a victim, and something of it that lives was hit (a delay held a
 * message back, a doubled message came twice, a power loss took records, a flipped bit lies in a record or page that is
 * still there, a lost page was there, a full disk refused).
 */
import { taskId } from '@mayfly/wire';
import type { Excuses } from './checkers/index.ts';
import { FAULTS, type FaultKind } from './fault-kinds.ts';
import { FALSE_POSITIONS, claimsPosition } from './false-position.ts';
import { HOSTILE } from './hostile.ts';
import type { Volunteer } from './volunteer.ts';
import { Random } from './random.ts';
import type { World } from './world.ts';

/** These only break or delay links, for less time than after which a node counts as lost. */
export const LINK_FAULTS: readonly FaultKind[] = [
  'broken link',
  'delay',
  'reorder',
  'duplicate',
  'second socket',
  'congestion',
];

export interface Fault {
  readonly at: number;
  readonly kind: FaultKind;
  /** Names its generator. */
  readonly n: number;
}

/** Faults fall within this time, so that a correct run ends afterwards. */
const FAULT_TIME_MS = 30_000;
/**
 * Drawn apart, so that the other faults of a seed stay what they were: a seed has none, or a few. Each with the first
 * number of its generators.
 */
const APART = { pause: 1_000_000, 'false loss': 2_000_000, 'false deadlock': 3_000_000 } as const satisfies Partial<
  Record<FaultKind, number>
>;
type Apart = keyof typeof APART;
/**
 * Nodes that run none of their ranks, and programs that no node can run: the latter only where a seed is held to them.
 * Drawn apart, too.
 */
const STRANGE: readonly FaultKind[] = [...HOSTILE, 'crashing program'];
/** Only where a seed is held to it: the campaign's seeds are older, and stay what they were. */
const LATER: readonly FaultKind[] = ['congestion', 'false position'];
const STRUCK = FAULTS.filter((k) => !(k in APART) && !STRANGE.includes(k) && !LATER.includes(k));
const FIRST_STRANGER = 4_000_000;
const FIRST_LEAVE = 5_000_000;
const LEAVES_MS = 5000;
/** They come early, when no node has a record yet. */
const STRANGERS_MS = 8000;
/** How often a kind is drawn, where it is drawn at all. */
const WEIGHT: Partial<Record<FaultKind, number>> = {
  'rank crash': 0.3,
  'log bit flip': 0.06,
  'full disk': 0.4,
  delay: 3,
  reorder: 3,
  duplicate: 3,
  'power loss': 1,
};

const square = (x: number): number => x * x;

/**
 * Each seed has some of the kinds and not others, in proportions of its own: what many kinds together would hide, few
 * show.
 */
export function drawFaults(seed: number, everyMs?: number, only?: readonly FaultKind[]): Fault[] {
  const r = Random.named(seed, 'faults');
  const struck = [...STRUCK, ...LATER.filter((k) => only?.includes(k))];
  const weights = struck.map(
    (k) => (r.chance(0.55) ? square(r.next()) + 0.1 : 0) * (WEIGHT[k] ?? 1) * (!only || only.includes(k) ? 1 : 0),
  );
  const sum = weights.reduce((a, b) => a + b, 0);
  const every = everyMs ?? r.pick([25, 40, 60, 100, 250, 1000]);
  const out: Fault[] = [];
  const apart = [
    ...(Object.keys(APART) as Apart[]).flatMap((kind) => drawApart(seed, kind, only)),
    ...drawStrangers(seed, only),
  ];
  if (sum === 0) return apart.sort((a, b) => a.at - b.at);
  // a squared uniform draw: bursts and pauses, and the same on every engine, as a logarithm would not be
  for (let at = 3 * square(r.next()) * every; at < FAULT_TIME_MS; at += 3 * square(r.next()) * every) {
    let x = r.next() * sum;
    let i = 0;
    while (i < struck.length - 1 && x >= weights[i]!) x -= weights[i++]!;
    out.push({ at, kind: struck[i]!, n: out.length });
  }
  return [...out, ...apart].sort((a, b) => a.at - b.at);
}

function drawApart(seed: number, kind: Apart, only: readonly FaultKind[] | undefined): Fault[] {
  const r = Random.named(seed, kind === 'pause' ? 'pauses' : kind);
  if (only ? !only.includes(kind) : !r.chance(0.3)) return [];
  // a node that has convinced the server of a deadlock once: to do it again, the logs must have moved on
  return Array.from({ length: kind === 'false deadlock' ? 1 : r.between(1, 4) }, (_, i) => ({
    at: square(r.next()) * FAULT_TIME_MS,
    kind,
    n: APART[kind] + i,
  }));
}

/** Nodes that leave, where the ranks of their teams have room on several others only. */
export function drawLeaves(seed: number): Fault[] {
  const r = Random.named(seed, 'leaves');
  return Array.from({ length: r.between(1, 4) }, (_, i) => ({
    at: square(r.next()) * LEAVES_MS,
    kind: 'close',
    n: FIRST_LEAVE + i,
  }));
}

function drawStrangers(seed: number, only: readonly FaultKind[] | undefined): Fault[] {
  const r = Random.named(seed, 'strangers');
  const kinds = only
    ? STRANGE.filter((k) => only.includes(k))
    : r.chance(0.3)
      ? HOSTILE.filter(() => r.chance(0.6))
      : [];
  if (kinds.length === 0) return [];
  return Array.from({ length: r.between(1, 6) }, (_, i) => ({
    at: r.chance(0.5) ? 0 : square(r.next()) * STRANGERS_MS,
    kind: r.pick(kinds),
    n: FIRST_STRANGER + i,
  }));
}

/**
 * No honest node fails in a seed that is held to these: a node that reports a crash is hostile, or right about the
 * program.
 */
export const harmless = (only: readonly FaultKind[] | undefined): boolean =>
  only !== undefined && only.every((k) => STRANGE.includes(k) || HARMLESS.includes(k));
const HARMLESS: readonly FaultKind[] = [
  'close',
  'reload',
  'delay',
  'reorder',
  'duplicate',
  'kill server',
  'kill CM',
  'pause',
];

export class Striker {
  readonly counts: Record<string, number> = {};
  readonly excuses: Excuses;

  constructor(private readonly world: World) {
    this.excuses = {
      powerLost: new Map(),
      damagedLogs: new Set(),
      damagedImages: new Set(),
      poisoned: world.poisoned,
      beyondLinks: false,
    };
  }

  private happened(kind: FaultKind, what: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    if (!LINK_FAULTS.includes(kind)) this.excuses.beyondLinks = true;
    this.world.note(`FAULT ${kind}${what === '' ? '' : `: ${what}`}`);
  }

  strike(f: Fault): void {
    const { world } = this;
    const { kind } = f;
    const r = Random.named(world.seed, `fault ${f.n}`);
    const honest = world.volunteers.filter((v) => !v.hostile);
    const busy = honest.filter((v) => v.alive && v.held.size > 0);
    const v = r.pick(busy.length > 0 ? busy : honest);
    switch (kind) {
      case 'kill server':
      case 'server and nodes':
      case 'power loss':
        return this.server(kind, r);
      case 'kill CM':
      case 'CM power loss':
        return this.channelMemory(kind, r);
      case 'log bit flip':
      case 'image bit flip':
      case 'page lost':
        return this.damage(kind, r);
      case 'full disk':
        return this.fullDisk(r);
      case 'pause':
        return this.pause(r);
      case 'false deadlock':
        if (world.server.seemsDeadlocked()) this.happened(kind, '');
        return;
      case 'false crash':
      case 'silence':
      case 'endless start':
        this.happened(kind, world.volunteer(undefined, kind).name);
        return;
      case 'crashing program':
        return this.poison(r);
      case 'partition': {
        const hit = honest.filter((o) => !o.offline && r.chance(0.5));
        if (hit.length < 2) return;
        this.happened(kind, hit.map((o) => o.name).join(' '));
        const ms = r.between(10, 6000);
        const heard = r.chance(0.5);
        for (const o of hit) o.cutOff(ms, heard);
        return;
      }
      default:
        if (v) this.node(kind, v, r);
    }
  }

  /** From now on no node can run this task. */
  private poison(r: Random): void {
    const { world } = this;
    const task = taskId(r.between(0, world.setup.spec.size - 1));
    if (world.poisoned.has(task) || world.server.registry.isDone(task)) return;
    world.poisoned.add(task);
    this.happened('crashing program', `task ${task}`);
    for (const v of world.volunteers) v.crashRank(task);
  }

  /** Another volunteer opens a tab in the same place, so every room keeps its slots. */
  private replace({ place, slots }: Volunteer, r: Random, afterMs = 0): void {
    const other = { id: undefined, place, slots };
    this.world.agenda.after(
      afterMs + r.between(0, this.world.setup.replaceMs ?? 3000),
      () => void this.world.volunteer(other),
    );
  }

  /** How long a node that leaves waits for last images of its teams. */
  private lastImagesMs({ name }: Volunteer): number {
    const { setup, seed } = this.world;
    return (setup.spare ?? 0) > 0
      ? Random.named(seed, `close ${name}`).pick(setup.replaceMs === undefined ? [0, 500, 2500] : [500, 2500, 2500])
      : 0;
  }

  private node(kind: FaultKind, v: Volunteer, r: Random): void {
    const { world } = this;
    const until = world.agenda.now + r.between(5, kind === 'stall' ? 6000 : 800);
    const cm = r.between(0, world.setup.channelMemories - 1);
    const hit = (): void => this.happened(kind, v.name);
    switch (kind) {
      case 'close':
      case 'crash':
      case 'half-open crash':
        if (v.leaves && kind === 'close') return;
        hit();
        if (kind !== 'close') v.crash(kind === 'half-open crash');
        return this.replace(v, r, kind === 'close' ? v.goodbye(this.lastImagesMs(v)) : 0);
      case 'reload':
        if (!v.id) return;
        hit();
        v.goodbye();
        return world.agenda.after(r.between(100, 2000), () => void world.volunteer(v));
      case 'freeze':
      case 'zombie':
        if (v.frozen) return;
        hit();
        return v.freeze(r.between(10, 12_000), kind === 'zombie' ? r.between(10, 400) : 0);
      case 'cut off':
        if (v.offline) return;
        hit();
        return v.cutOff(r.between(10, 6000), r.chance(0.5));
      case 'rank crash': {
        const task = r.pick([...v.held.keys()]);
        if (task === undefined) return;
        this.happened(kind, `task ${task} on ${v.name}`);
        world.honestCrashes++;
        return v.crashRank(task);
      }
      case 'false loss': {
        const task = r.pick([...v.held.keys()]);
        if (task !== undefined && v.claimsLoss(task)) this.happened(kind, `task ${task} on ${v.name}`);
        return;
      }
      case 'false position': {
        const task = r.pick([...v.held.keys()]);
        const at = r.pick(FALSE_POSITIONS);
        if (task === undefined || !claimsPosition(v, task, cm, at)) return;
        this.happened(kind, `task ${task} on ${v.name} to CM ${cm}: ${JSON.stringify(at)}`);
        // By then it has come.
        return v.after(r.between(200, 400), () => v.crashRank(task));
      }
      case 'broken link':
        if (v.breakData(cm)) this.happened(kind, `${v.name} to CM ${cm}`);
        return;
      case 'stall':
      case 'delay': {
        // every connection, or all the data and not the control: what is not lost comes late
        let counted = false;
        const once = (): void => {
          if (counted) return;
          counted = true;
          hit();
        };
        for (const l of v.connections()) l.hold(until, once);
        return;
      }
      case 'reorder':
        // one channel waits while the others go on
        v.dataLink(cm)?.hold(until, () => this.happened(kind, `${v.name} to CM ${cm} waits`));
        return;
      case 'duplicate':
        r.pick(v.connections())?.double(until, hit);
        return;
      case 'congestion':
        if (world.server.cms[cm]!.congest(v.dataLink(cm), until - world.agenda.now))
          this.happened(kind, `${v.name} from CM ${cm}`);
        return;
      case 'second socket':
        if (v.connectTwice(cm)) this.happened(kind, `${v.name} to CM ${cm}`);
        return;
      case 'clone': {
        if (v.held.size === 0) return;
        const copy = world.volunteer(v);
        hit();
        copy.becomeCloneOf(v);
        return world.agenda.after(r.between(500, 8000), () => copy.crash(false));
      }
      default:
        throw new Error(`${kind} does not strike a node`);
    }
  }

  /**
   * The job's owner pauses it, and lets it go on later: asks until the server has answered, which it does when that is
   * durable.
   */
  private pause(r: Random): void {
    const { server, agenda } = this.world;
    const { job } = this.world.setup;
    if (!server.up || this.world.end) return;
    this.happened('pause', '');
    server.dispatch({ type: 'pause', job, waitMs: r.between(0, 5000) });
    const resume = (): void => {
      if (server.up) server.dispatch({ type: 'resume', job });
      agenda.after(200, () => server.registry.pausedDurably() && resume());
    };
    agenda.after(r.between(0, 8000), resume);
  }

  private server(kind: 'kill server' | 'server and nodes' | 'power loss', r: Random): void {
    const { world } = this;
    if (!world.server.up) return;
    if (kind === 'kill server') {
      this.happened(kind, '');
      world.server.kill();
    } else if (kind === 'server and nodes') {
      // in one instant: no node is left that could return to the server what it did not write down
      const hit = world.volunteers.filter((v) => v.alive && v.held.size > 0 && r.chance(0.5));
      if (hit.length === 0) return;
      this.happened(kind, hit.map((v) => v.name).join(' '));
      world.server.kill();
      for (const v of hit) {
        v.crash(false);
        this.replace(v, r);
      }
    } else {
      const l = world.server.powerLoss();
      this.happened(kind, `${l.lost} records lost, ${l.reordered} streams reordered, ${l.torn} torn`);
      this.powerLost(l.streams);
    }
    world.agenda.after(r.between(20, 1500), () => world.server.start());
  }

  private powerLost(streams: readonly string[]): void {
    const tasks = new Set(streams.filter((s) => s[0] !== 'w').map((s) => Number(s.slice(1))));
    for (const task of tasks) {
      const before = this.excuses.powerLost.get(task) ?? [];
      this.excuses.powerLost.set(task, [...before, this.world.checkers.acting(task).executes]);
    }
  }

  private channelMemory(kind: 'kill CM' | 'CM power loss', r: Random): void {
    const { world } = this;
    const cm = r.pick(world.server.cms);
    if (!world.server.up || !cm.up) return;
    cm.kill();
    let what = `CM ${cm.index}`;
    if (kind === 'CM power loss') {
      const l = cm.log.powerLoss(r);
      what += `, ${l.lost} records lost, ${l.reordered} streams reordered, ${l.torn} torn`;
      this.powerLost(l.streams);
    }
    this.happened(kind, what);
    world.server.later(r.between(20, 800), () => cm.up || cm.open());
  }

  private damage(kind: 'log bit flip' | 'image bit flip' | 'page lost', r: Random): void {
    const { world } = this;
    if (kind === 'log bit flip') {
      const cm = r.pick(world.server.cms);
      const where = cm.log.flip(r);
      if (!where) return;
      this.happened(kind, `CM ${cm.index} ${where.stream}[${where.lsn}]${where.synced ? '' : ', not yet synced'}`);
      // an un-synced record may be synced as it is now, or be cut as a torn tail
      this.excuses.damagedLogs.add(Number(where.stream.slice(1)));
      return;
    }
    const { cs } = world.server;
    const task = r.between(0, world.setup.spec.size - 1) as never;
    const image = kind === 'page lost' ? cs.lose(task, r.next()) : cs.flip(task, r.next());
    if (image === undefined) return;
    this.excuses.damagedImages.add(image);
    this.happened(kind, image);
  }

  private fullDisk(r: Random): void {
    const { world } = this;
    const { server } = world;
    const ms = r.between(50, 2500);
    this.happened('full disk', `${ms} ms`);
    server.setFull(true, r.between(0, 300));
    world.agenda.after(ms, () => server.setFull(false, r.between(0, 300)));
  }
}
