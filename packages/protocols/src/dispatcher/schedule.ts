/** Who gets free slots: lost ranks, then the queue (D4), in the order of D27 and within the quotas of owners (D26). */
import type { ProgramKind } from '@mayfly/wire';
import { rooms, type Room } from './free-slots.ts';
import { NONE, bestRooms, suits, takeRoomForUnit, wantedByUnit } from './placement.ts';
import { ownerOf, SlotsInUse } from './quotas.ts';
import { apartAgain, isBecomingTeam } from './make-team.ts';
import { raise } from './restart.ts';
import { byRoom, roomOf, roomsOf } from './rooms-of-job.ts';
import { lineUp } from './shares.ts';
import { occupy } from './slots.ts';
import { goesBackNow, kindOfJob, over, timeGoesOn, type Core, type Job, type Task } from './state.ts';
import { formTeams, mapByOf } from './teams.ts';
import { waitingUnits } from './unit.ts';
import { capacityOf } from './events.ts';

/** Kinds of programs by room, of which something is the case. */
class Kinds {
  readonly #byRoom = new Map<string | undefined, Set<ProgramKind>>();

  of(room: string | undefined): ReadonlySet<ProgramKind> {
    return this.#byRoom.get(room) ?? NONE;
  }

  get none(): boolean {
    return this.#byRoom.size === 0;
  }

  add(job: Job, room: string | undefined): void {
    this.#byRoom.set(room, new Set(this.of(room)).add(kindOfJob(job)));
  }

  /** In all rooms of the job. */
  addEverywhere(job: Job): void {
    for (const room of roomsOf(job.record.spec)) this.add(job, room);
  }
}

/** D34. Up to so many nodes each event gives slots away; beyond, the first one after the pause does, or a tick. */
const MANY_NODES = 1000;
const PAUSE_MS = 100;

export const maySchedule = (core: Core): boolean =>
  core.nodes.size <= MANY_NODES || core.time - core.scheduledAt >= PAUSE_MS;

/**
 * Gives free slots away: lost ranks first, by job and rank, then whole jobs in the order of D27. Each room
 * has a queue of its own: its jobs and its nodes are no concern of the others. A job of several rooms is in the queue
 * of each, and begins when every one has the slots for its ranks. One commit for all of it.
 *
 * Nodes may run one kind of programs only (D20), so not every job can use every slot. A waiting job blocks the jobs
 * behind it only from slots that it could use itself. Example: a TypeScript job waits for tabs. A C job behind it
 * starts if nodes that run only WebAssembly have slots for all its ranks; the tabs stay reserved for the first job.
 */
export function schedule(core: Core): void {
  core.scheduledAt = core.time;
  const inUse = new SlotsInUse(core);
  core.shares.pass(core.time);
  if (core.stopped === undefined) giveAway(core, inUse); // D13
  core.shares.note(inUse.byOwner);
}

function giveAway(core: Core, inUse: SlotsInUse): void {
  const raised: Task[] = [];
  const starts: Job[] = [];
  /** Kinds of programs for which a job has to wait. */
  const short = new Kinds();
  const waiting = new Kinds();
  for (const job of core.jobs.values())
    if (
      !over(job) &&
      (job.record.state === 'waiting' || (job.record.state === 'running' && job.tasks.some((t) => t.phase === 'idle')))
    )
      waiting.addEverywhere(job);
  // Nodes come and go all the time, and mostly nobody waits for them.
  if (waiting.none) return;
  const free = rooms(core);
  const take = (unit: readonly Task[], held = new Kinds(), among: readonly Room[] = free): boolean => {
    const { job } = unit[0]!;
    const code = roomOf(job.record.spec, unit[0]!.task);
    const wanted = wantedByUnit(unit, mapByOf(core, job), held.of(code), waiting.of(code).size > 1);
    // D30: what is not there any more they need not wait for; they get slots one by one in the next step.
    const whole = isBecomingTeam(unit[0]!);
    const room = takeRoomForUnit(wanted, unit.length, among, whole);
    if (whole && room === undefined) {
      apartAgain(core, unit[0]!);
      core.emit({ type: 'wake', afterMs: 0 });
      core.reschedule = true;
    }
    if (room === undefined) return false;
    for (const t of unit) {
      raised.push(t);
      occupy(core, t, room.node);
      t.oversubscribed = room.crowded;
    }
    return true;
  };
  for (const job of core.jobs.values()) {
    if (over(job) || job.record.state !== 'running' || job.rolling === 'all') continue;
    for (const unit of waitingUnits(core, job))
      if (!unit.some(goesBackNow) && !take(unit)) short.add(job, roomOf(job.record.spec, unit[0]!.task));
  }
  for (const job of lineUp(core, inUse)) {
    const kind = kindOfJob(job);
    const units = waitingUnits(core, job); // all tasks, but for those that ended before a pause
    const begin = units.flat();
    const owner = ownerOf(job.record.spec);
    const blocked = roomsOf(job.record.spec).some((room) => short.of(room).has(kind));
    if (blocked ? inUse.left(owner) < begin.length : inUse.waits(owner, begin.length)) {
      job.waitsSince = core.now; // D26
      continue;
    }
    let slots = 0;
    let enough = !blocked;
    for (const [code, there] of byRoom(job.record.spec, begin)) {
      const wanted = { code, kind, held: short.of(code) };
      const suitable = free.reduce((sum, r) => sum + (suits(r, wanted) ? r.free : 0), 0);
      if (suitable < there.length) enough = false;
      slots += suitable;
    }
    if (!enough) {
      short.addEverywhere(job);
      continue;
    }
    const isNew = job.record.startedAt === undefined && units.every((unit) => unit.length === 1);
    job.record.state = 'running';
    timeGoesOn(core, job);
    job.record.startedAt ??= core.now;
    job.record.universe ??= Math.max(
      job.record.spec.size,
      Math.min(slots, inUse.left(owner), capacityOf(job.record.spec)),
    );
    inUse.add(owner, begin.length);
    core.shares.started(owner, core.now);
    starts.push(job);
    for (const [code, there] of byRoom(job.record.spec, begin)) {
      // None of its ranks has been anywhere: all of them ask for the same.
      const wanted = wantedByUnit([there[0]!], mapByOf(core, job), short.of(code), waiting.of(code).size > 1);
      const among = isNew ? bestRooms(wanted, there.length, free) : free;
      for (const unit of units) if (roomOf(job.record.spec, unit[0]!.task) === code) take(unit, short, among);
    }
  }
  if (raised.length === 0) return;
  raise(core, raised, starts, formTeams(core, raised));
}
