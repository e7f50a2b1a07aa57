/**
 * Teams at the Checkpoint Server: images of members count together (team-sets.ts has the rule).
 *
 *  C9  A set of images is complete by one commit of all its manifests and records. Images of a wave that are not a set
 *      never count: if a registry has such, they are removed when the teams of the job are known.
 *  C10 A team restarts when all its members are fenced: all from the newest set of which every image is sound, or all
 *      from the start of their programs. Members that had ended at this set do not restart (T12).
 *  C11 Images of a member are kept until all members have ended: the others may go back to where it had not.
 */
import type { ImageId, JobId, TaskId } from '@mayfly/wire';
import { commit } from './complete.ts';
import { inTeam, offersOf } from './team-offers.ts';
import { countsNearInTeam, forgetNear, rebuildsTeam } from './near-teams.ts';
import { refuse } from './offers.ts';
import { lost } from './restart.ts';
import { discardAll, remove, trim } from './retention.ts';
import { emit, jobOf, taskOf, type Job, type Offer, type State, type Task, type Team } from './state.ts';
import type { ImageSet } from './team-sets.ts';
import { imageKey, trimmedKey, type ImageRecord } from './events.ts';

export function formTeams(s: State, id: JobId, teams: readonly (readonly TaskId[])[]): void {
  const job = jobOf(s, id);
  for (const members of teams) {
    if (job.teams.has(members[0]!)) continue;
    const team: Team = { job, members, sets: new s.Sets(members, s.settings.keep), exited: new Set(), ready: false };
    for (const m of members) job.teams.set(m, team);
  }
  if (job.open) for (const team of new Set(job.teams.values())) begin(s, team);
}

/** Teams and policy of the job are known: what the registry has of images is sets, or goes (C9). */
function begin(s: State, team: Team): void {
  if (team.ready) return;
  team.ready = true;
  const { job, members } = team;
  const waves = new Map<number, { wave: number; images: Map<TaskId, ImageRecord>; done: readonly TaskId[] }>();
  for (const task of members)
    for (const record of taskOf(job, task).images) {
      const at = inTeam(job, record);
      const wave = at?.wave ?? 0;
      const set = waves.get(wave) ?? { wave, images: new Map(), done: at?.done ?? [] };
      waves.set(wave, set);
      set.images.set(task, record);
    }
  for (const set of [...waves.values()].sort((a, b) => a.wave - b.wave)) {
    if (set.wave > 0 && team.sets.recover(set)) continue;
    const [task] = set.images.keys();
    warn(s, team, task!, `images of ${set.images.size} of ${members.length} members are no set and were removed`);
    discardRecords(s, job, set.images);
  }
  mirror(team);
  chooseForTeam(s, team);
}

/** Everything that the image of a member depends on is durable. */
export function coveredInTeam(s: State, team: Team, o: Offer, record: ImageRecord): void {
  const { wave, done } = inTeam(team.job, record)!;
  o.stage = 'covered';
  o.since = s.now;
  o.record = record;
  o.wave = wave;
  team.sets.stored(wave, o.task.task, record, done);
  team.sets.covered(wave, o.task.task);
  commitSet(s, team, wave);
}

/** C9. */
function commitSet(s: State, team: Team, wave: number): void {
  const set = team.sets.take(wave, team.exited);
  if (!set) return;
  const offers = offersOf(team, wave).filter((o) => o.stage === 'covered');
  const level = team.sets.levelOf(offers.map((o) => o.near));
  if (level === 'near') countsNearInTeam(s, team, set, offers);
  else if (level === 'complete') commitTaken(s, team, set, offers);
  else for (const o of offers) refuse(s, o, MIXED);
}

const MIXED = { code: 'CONFLICT', message: 'Parity protects some images of its team only.' } as const;

/** All its images are here. */
export function commitTaken(s: State, team: Team, set: ImageSet<ImageRecord>, offers: readonly Offer[]): void {
  team.committing = set;
  const { surplus } = team.sets;
  const full = team.sets.all.length + 1 - surplus.length >= s.settings.keep;
  const changes: (readonly [string, unknown])[] = [];
  for (const o of surplus)
    for (const [task, r] of o.images) changes.push([imageKey(team.job.id, task, r.serial), undefined]);
  if (full)
    for (const task of set.images.keys())
      if (!taskOf(team.job, task).trimmed) changes.push([trimmedKey(team.job.id, task), true]);
  commit(s, offers, changes);
}

/** The set is durable. `offers`: of its images. */
export function setCommitted(s: State, team: Team, offers: readonly Offer[]): void {
  const set = team.committing!;
  team.committing = undefined;
  const old = team.sets.surplus;
  team.sets.add(set);
  if (!team.sets.near) forgetNear(team);
  mirror(team);
  for (const o of offers) {
    const { record, link, task } = o;
    if (link !== undefined && !o.unwanted) emit(s, { type: 'reply', link, reply: 'complete', image: record!.image });
    if (o.unwanted) discardAll(s, task);
    else emit(s, { type: 'complete', job: team.job.id, task: task.task, ...shown(record!) });
  }
  for (const o of old) remove(s, [...o.images.values()]);
  if (team.sets.all.length >= s.settings.keep)
    for (const task of set.images.keys()) {
      const t = taskOf(team.job, task);
      if (t.done) continue;
      t.trimmed = true;
      trim(s, t); // C3
    }
  chooseForTeam(s, team);
}

const shown = ({ image, serial, bytes, sentBytes }: ImageRecord) => ({ image, serial, bytes, sentBytes });

/** The commit of a set failed: none of it counts. */
export function setFailed(s: State, team: Team): void {
  team.committing = undefined;
  chooseForTeam(s, team);
}

/** Tasks know their images of the sets. */
function mirror({ job, members, sets }: Team): void {
  for (const task of members) {
    const t = taskOf(job, task);
    if (!t.done) t.images = sets.all.flatMap((set) => set.images.get(task) ?? []);
  }
}

/** A member is to restart. */
export function restartInTeam(s: State, team: Team): void {
  team.sets.drop();
  chooseForTeam(s, team);
}

/** C10. */
export function chooseForTeam(s: State, team: Team): void {
  const { job, members, sets } = team;
  if (!team.ready || team.committing || team.check || team.again) return;
  if (!members.every((m) => job.tasks.get(m)?.restart)) return;
  const tasks = members.map((m) => taskOf(job, m));
  if (rebuildsTeam(s, team)) return;
  const { newest } = sets;
  if (newest) {
    team.check = { set: newest, left: new Set([...newest.images.values()].map((i) => i.image)), sound: true };
    for (const { image } of newest.images.values()) emit(s, { type: 'check', image });
    return;
  }
  const trimmed = tasks.find((t) => t.trimmed);
  if (trimmed) {
    lost(s, trimmed);
    for (const t of tasks) delete t.restart;
  } else for (const t of tasks) answer(s, t, undefined);
}

/** An image has been looked at. */
export function checkedInTeam(s: State, team: Team, image: ImageId, sound: boolean): void {
  const { check } = team;
  if (!check?.left.delete(image)) return;
  if (!sound) check.sound = false;
  const [damaged] = [...check.set.images].find(([, r]) => r.image === image)!;
  if (!sound) discardSet(s, team, check.set, damaged);
  if (check.left.size > 0) return;
  team.check = undefined;
  // A set may have been found damaged meanwhile, or a member have to restart once more.
  if (!check.sound) return chooseForTeam(s, team);
  for (const m of team.members) {
    const t = taskOf(team.job, m);
    if (t.restart) answer(s, t, check.set);
  }
}

function answer(s: State, t: Task, set: ImageSet<ImageRecord> | undefined): void {
  const { incarnation } = t.restart!;
  delete t.restart;
  const record = set?.images.get(t.task);
  emit(s, {
    type: 'chosen',
    job: t.job.id,
    task: t.task,
    incarnation,
    ...(record && { image: record.image, position: record.position }),
    ...(set?.done.includes(t.task) && { ended: true }),
  });
}

/** The image of a member is damaged: so is its set (T6). */
export function damagedInTeam(s: State, team: Team, task: TaskId, image: ImageId): void {
  const set = team.sets.all.find((x) => x.images.get(task)?.image === image);
  if (!set) return;
  if (team.check?.set === set) team.check.sound = false;
  discardSet(s, team, set, task);
}

function discardSet(s: State, team: Team, set: ImageSet<ImageRecord>, task: TaskId): void {
  if (!team.sets.all.includes(set)) return;
  const before = new Map(team.members.map((m) => [m, taskOf(team.job, m).images]));
  team.sets.damaged(set.wave, task);
  mirror(team);
  const gone = new Map<TaskId, ImageRecord>();
  for (const [m, images] of before) for (const i of images) if (!taskOf(team.job, m).images.includes(i)) gone.set(m, i);
  discardRecords(s, team.job, gone);
  warn(s, team, task, `an image of wave ${set.wave} of the team is damaged, and its set was removed`);
}

function discardRecords(s: State, job: Job, records: ReadonlyMap<TaskId, ImageRecord>): void {
  s.garbage = true;
  emit(s, {
    type: 'discard',
    images: [...records.values()].map((r) => r.image),
    changes: [...records].map(([task, r]) => [imageKey(job.id, task, r.serial), undefined] as const),
  });
}

function warn(s: State, team: Team, task: TaskId, message: string): void {
  emit(s, { type: 'log', level: 'warn', message, job: team.job.id, task });
}

/** T12: the EXIT of this member is durable. */
export function exitedInTeam(s: State, team: Team, task: TaskId): void {
  team.exited.add(task);
  const waves = team.members.flatMap((m) => {
    const o = team.job.tasks.get(m)?.offer;
    return o?.stage === 'covered' ? [inTeam(team.job, o.manifest)!.wave] : [];
  });
  for (const wave of new Set(waves)) if (!team.committing) commitSet(s, team, wave);
}
