/**
 * A team that found too few slots (D23) moves once a node has room for all of it.
 *
 *  D29 (T8) It is an ordinary restart of the team, without a fault: the logs have what its ranks did behind their
 *      images. So that little is repeated, all of them are asked for images first, and stop in one step when these are
 *      complete. It begins only while all of them run and have repeated what earlier incarnations did, and once the
 *      room has been there for {@link DispatcherSettings.moveAfterMs}. A team whose images take longer than
 *      {@link WAIT_MS} stays where it is, and is asked again no sooner than {@link RETRY_MS} later.
 */
import { fitsElsewhere } from './dissolve.ts';
import { jobKey } from './keys.ts';
import { askForImage, stopToRestart } from './restart.ts';
import { over, recoveryOf, type Core, type Job, type Task } from './state.ts';
import { noteChange } from './teams.ts';
import { runsFreely, unitOf } from './unit.ts';

const WAIT_MS = 20_000;
const RETRY_MS = 60_000;

/** At every tick. */
export function watchCrowded(core: Core, job: Job): void {
  const may = !over(job) && job.record.state === 'running' && core.stopped === undefined;
  if (!may || recoveryOf(core, job).teams !== 'unit') return;
  for (const t of job.tasks) if (t.team?.[0] === t.task && t.oversubscribed) watch(core, t, unitOf(core, t));
}

function watch(core: Core, first: Task, unit: readonly Task[]): void {
  const { time } = core;
  const { moves } = first;
  if (moves?.by !== undefined) {
    if (time >= moves.by) first.moves = { from: time + RETRY_MS };
  } else if (!mayMove(core, unit)) {
    if (moves && moves.from <= time) first.moves = undefined;
  } else if (!moves) first.moves = { from: time + core.settings.moveAfterMs };
  else if (time >= moves.from) {
    first.moves = { from: time, by: time + WAIT_MS };
    for (const m of unit) {
      m.wanted = m.newest?.serial ?? 0;
      askForImage(core, m);
    }
  }
}

/** Not one of whose ranks last images are waited for (D30). */
const mayMove = (core: Core, unit: readonly Task[]): boolean =>
  unit.every(runsFreely) && unit[0]!.job.regrouping?.by === undefined && fitsElsewhere(core, unit);

/** An image of a task is complete. */
export function moveWithImage(core: Core, t: Task): void {
  const unit = unitOf(core, t);
  const first = unit[0]!;
  if (first.moves?.by === undefined || unit.some((m) => m.wanted !== undefined)) return;
  first.moves = undefined;
  if (over(t.job) || t.job.record.state !== 'running' || !mayMove(core, unit)) return;
  const { job } = t;
  const { id } = job.record.spec;
  const team = unit.map((m) => m.task);
  core.emit({
    type: 'log',
    level: 'info',
    message: `ranks ${team.join(', ')} share too few slots and move to a node that has room for all of them`,
    job: id,
    task: first.task,
  });
  noteChange(core, job, { what: 'moved', ranks: team, teams: [team] });
  core.persist({ kind: 'nothing' }, [[jobKey(id), { ...job.record }]]);
  for (const m of unit) stopToRestart(core, m, 'Its team moves to a node with more free slots.');
}
