/**
 * Checkpoint Server: keeps the images of tasks and decides when one is complete (MPICH-V §3.4; docs/pessimistic.md).
 *
 * Owns: offers under way, the list of complete images of every task, which incarnation may offer, what the logs may be
 * trimmed to. Does not own: pages and manifests (ImageStore, host), capabilities (host), logs (Channel Memories).
 * Messages: events.ts. An offer goes finding → receiving (offers.ts) → covering → committing → complete (complete.ts).
 *
 * Invariants
 *  C1 An image is complete only when every page is durable, every CM reports that all sends and outputs before it and
 *     all arrivals that it consumed are durable there, and the job's V-protocol finds its line covered by their answers
 *     together (`pessimistic`: the determinants before it are durable without a gap).
 *  C2 It is used, announced and trimmed for only after manifest and record are durable.
 *  C3 The newest `keep` complete images of a task are kept; logs are trimmed to the oldest of them, and not at all
 *     before there are so many: until then the start of the program is the way back from a damaged image.
 *  C4 An offer of any but the acting incarnation is refused. A fence ends offers of lower ones, and an image is chosen
 *     only after a commit that was under way has ended.
 *  C5 Serials of complete images of a task rise.
 *  C6 The pages of an open offer are pinned from `offer` until it is complete or refused.
 *  C7, C8 Images of coordinated checkpointing: waves.ts. C9–C11 Images of teams: teams.ts. C12–C14 Images that are
 *  protected by parity between nodes: near.ts. C15–C17 Those of waves: near-waves.ts. C18 Teams that were dissolved:
 *  dissolve.ts. C19, C20 Those of teams that are protected by parity: team-sets.ts, near-teams.ts.
 *  C21 A page is left out of an upload only if this task has shown that it has it: it sent the page, or one of its
 *     complete images names it. That the store has the page of somebody else proves nothing, and is not to be noticed:
 *     hashes can be guessed, and what an image of the task names can be read with the task's capability.
 *
 * Durable: ImageRecord and manifest (`commit`) before `complete`, `reply complete` and `trim`; the mark `trimmed`
 * before the first trim. Offers are losable: the node offers again.
 */
import { PAGE_BYTES, type ImageId, type JobId, type Manifest, type TaskId } from '@mayfly/wire';
import { ask, commitAlone, committedAlone, cover, covered, recordOf } from './complete.ts';
import { discard, discardAll, trim } from './retention.ts';
import { dissolveTeams } from './dissolve.ts';
import { drop, offer, refuse } from './offers.ts';
import type { ImageTable } from './policy.ts';
import { choose, chosen, damagedOnLine, end, restart } from './restart.ts';
import {
  checkedInTeam,
  coveredInTeam,
  damagedInTeam,
  exitedInTeam,
  formTeams,
  restartInTeam,
  setCommitted,
  setFailed,
} from './teams.ts';
import { nearCovered, waits } from './near.ts';
import { rebuilt } from './rebuilt.ts';
import { TeamSets } from './team-sets.ts';
import { begin, check, checked, forget, goBack, over } from './waves.ts';
import { emit, jobOf, newState, taskOf, waveOf, type Offer, type State, type Task, type Team } from './state.ts';
import { protocols } from '../table.ts';
import {
  defaultCheckpointSettings,
  type CheckpointServerEffect,
  type CheckpointServerEvent,
  type CheckpointServerSettings,
  type ImageRecord,
} from './events.ts';

export class CheckpointServer {
  readonly #state: State;

  /** `table`: what each V-protocol decides; `Sets`: the rule of teams. Others only in tests. */
  constructor(settings: Partial<CheckpointServerSettings> = {}, table: ImageTable = protocols, Sets = TeamSets) {
    this.#state = newState({ ...defaultCheckpointSettings, ...settings }, table, Sets);
  }

  step(e: CheckpointServerEvent): CheckpointServerEffect[] {
    const s = this.#state;
    s.now = e.now;
    s.out = [];
    handle(s, e);
    return s.out;
  }

  /** Complete images of a task, oldest first. */
  imagesOf(job: JobId, task: TaskId): readonly ImageRecord[] {
    return this.#state.jobs.get(job)?.tasks.get(task)?.images ?? [];
  }

  /**
   * For people, since the server began: images of level 1, bytes that they saved, bytes of pages that came here; and
   * the newest one from which the task could restart.
   */
  nearOf(
    job: JobId,
    task: TaskId,
  ): { images: number; savedBytes: number; sentBytes: number; image: ImageId | undefined } {
    const t = this.#state.jobs.get(job)?.tasks.get(task);
    const { nearImages = 0, savedBytes = 0, sentBytes = 0 } = t ?? {};
    return { images: nearImages, savedBytes, sentBytes, image: t?.near?.image };
  }

  /** Images of level 1 of this wave, which all holders have prepared. */
  nearIn(job: JobId, wave: number): Manifest[] {
    const { jobs, offers } = this.#state;
    const j = jobs.get(job);
    return [...offers.values()].flatMap((o) =>
      j && o.task.job === j && o.near && o.stage === 'covered' && waveOf(j, o.manifest) === wave ? [o.manifest] : [],
    );
  }

  /**
   * The image of a task that is on its way, for people: bytes of pages that are durable, and of all that its node had
   * to send.
   */
  comingOf(job: JobId, task: TaskId): { sentBytes: number; ofBytes: number } | undefined {
    const o = this.#state.jobs.get(job)?.tasks.get(task)?.offer;
    if (!o) return undefined;
    const { pages, bytes } = o.manifest;
    let missing = 0;
    for (const i of o.waiting) missing += i === pages.length - 1 ? bytes - i * PAGE_BYTES : PAGE_BYTES;
    return { sentBytes: o.sentBytes, ofBytes: o.sentBytes + missing };
  }

  /**
   * Hash of a page that was asked for on this link and is still missing; undefined: the host refuses the page unseen.
   */
  wanted(link: string, image: ImageId, index: number): string | undefined {
    const o = this.#state.offers.get(image);
    return o?.link === link && o.waiting.has(index) ? o.manifest.pages[index] : undefined;
  }

  /** The newest complete image of every task: for the dispatcher's `recover`. */
  newest(): { job: JobId; task: TaskId; image: ImageId; serial: number }[] {
    const out = [];
    for (const j of this.#state.jobs.values())
      for (const t of j.tasks.values()) {
        const i = t.images.at(-1);
        if (i) out.push({ job: j.id, task: t.task, image: i.image, serial: i.serial });
      }
    return out;
  }
}

function handle(s: State, e: CheckpointServerEvent): void {
  switch (e.type) {
    case 'openJob': {
      const job = jobOf(s, e.job);
      const { size, channelMemories, programs, wholeEvery } = e;
      job.open = { size, channelMemories, programs, wholeEvery, policy: s.table[e.protocol].images };
      for (const [task, incarnation] of e.acting) {
        const t = taskOf(job, task);
        if (t.acting === undefined || t.acting < incarnation) t.acting = incarnation;
      }
      dissolveTeams(s, e.job);
      formTeams(s, e.job, []);
      for (const t of job.tasks.values()) if (t.trimmed) trim(s, t);
      return;
    }
    case 'recover':
      return recover(s, e.entries);
    case 'offer':
      return offer(s, e);
    case 'pagesFound': {
      const o = s.offers.get(e.image);
      if (o?.stage !== 'finding' || o.ask !== e.ask) return;
      const missing = new Set(e.missing);
      if (o.near) waits(o, missing);
      // Each hash once, at its first place in the manifest.
      else o.manifest.pages.forEach((hash, i) => missing.delete(hash) && o.waiting.add(i));
      o.stage = 'receiving';
      if (o.link !== undefined) emit(s, { type: 'need', link: o.link, image: e.image, pages: [...o.waiting] });
      return;
    }
    case 'pageStored': {
      const o = s.offers.get(e.image);
      if (o?.link !== e.link || !o.waiting.delete(e.index)) return;
      o.sentBytes += e.bytes;
      o.task.sent.add(o.manifest.pages[e.index]!); // C21
      return;
    }
    case 'pageFailed': {
      const o = s.offers.get(e.image);
      if (o?.link === e.link && o.stage === 'receiving') refuse(s, o, e.error);
      return;
    }
    case 'end': {
      const o = s.offers.get(e.image);
      if (s.unanswered.get(e.image)?.link === e.link)
        return emit(s, { type: 'reply', link: e.link, reply: 'stored', image: e.image });
      if (!o || o.link !== e.link) return;
      if (o.stage === 'finding' || (o.stage === 'receiving' && o.waiting.size > 0))
        refuse(s, o, { code: 'BAD_REQUEST', message: `${o.waiting.size} pages of the image were not sent.` });
      else {
        emit(s, { type: 'reply', link: e.link, reply: 'stored', image: e.image });
        if (o.stage === 'receiving') cover(s, o);
      }
      return;
    }
    case 'linkClosed':
      for (const u of s.unanswered.values()) if (u.link === e.link) u.link = undefined;
      for (const o of [...s.offers.values()]) {
        if (o.link !== e.link) continue;
        o.link = undefined;
        // With all pages here, the image can still become complete without its node.
        if (o.stage === 'finding' || o.stage === 'receiving') drop(s, o);
      }
      return;
    case 'covered': {
      const o = covered(s, e.image, e.cm, e.determinants);
      if (!o) return;
      const team = teamOf(o.task);
      if (team) coveredInTeam(s, team, o, recordOf(s, o));
      else if (o.near) nearCovered(s, o);
      else commitAlone(s, o);
      return;
    }
    case 'rebuilt':
      return rebuilt(s, e.image, e.error);
    case 'committed':
    case 'commitFailed': {
      const o = s.offers.get(e.image);
      if (o?.stage !== 'committing') return;
      const team = teamOf(o.task);
      const together = o.together ?? [];
      if (e.type === 'commitFailed')
        for (const x of together) {
          refuse(s, x, e.error);
          if (x.again) checked(s, x.task.job, x.manifest.image, false, e.error.message);
          if (x.unwanted) discardAll(s, x.task);
          if (x.task.restart) choose(s, x.task);
        }
      if (!team && e.type === 'committed') {
        committedAlone(s, o);
        if (o.again) checked(s, o.task.job, e.image, true);
        return;
      }
      if (!team) return;
      if (e.type === 'commitFailed') return setFailed(s, team);
      for (const x of together) drop(s, x);
      return setCommitted(s, team, together);
    }
    case 'teams':
      dissolveTeams(s, e.job, e.dissolved);
      return formTeams(s, e.job, e.teams);
    case 'exitedInTeam': {
      const team = s.jobs.get(e.job)?.teams.get(e.task);
      if (team) exitedInTeam(s, team, e.task);
      return;
    }
    case 'restart': {
      restart(s, e.job, e.task, e.incarnation);
      const team = teamOf(taskOf(jobOf(s, e.job), e.task));
      if (team) restartInTeam(s, team);
      return;
    }
    case 'checked': {
      for (const job of s.jobs.values())
        for (const team of new Set(job.teams.values())) checkedInTeam(s, team, e.image, e.sound);
      for (const job of s.jobs.values()) checked(s, job, e.image, e.sound);
      const t = [...s.jobs.values()].flatMap((j) => [...j.tasks.values()]).find((x) => x.restart?.checking === e.image);
      if (!t?.restart) return;
      delete t.restart.checking;
      if (e.sound) chosen(s, t, e.image);
      else if (t.job.open?.policy.waveOf) damagedOnLine(s, t);
      else {
        discard(s, t, e.image);
        choose(s, t);
      }
      return;
    }
    case 'damaged': {
      const t = s.jobs.get(e.job)?.tasks.get(e.task);
      const team = t && teamOf(t);
      if (team) damagedInTeam(s, team, e.task, e.image);
      else if (t) discard(s, t, e.image);
      return;
    }
    case 'taskDone': {
      const t = s.jobs.get(e.job)?.tasks.get(e.task);
      if (t) end(s, t);
      return;
    }
    case 'wave':
    case 'waveOver':
    case 'forgetWave':
    case 'checkWave':
    case 'goBack': {
      const job = jobOf(s, e.job);
      if (e.type === 'wave') begin(job, e.wave, e.tasks);
      else if (e.type === 'waveOver') over(s, job, e.wave, e.committed, e.tasks);
      else if (e.type === 'forgetWave') forget(s, job, e.wave, e.tasks);
      else if (e.type === 'checkWave') check(s, job, e.wave, e.images);
      else goBack(s, job, e);
      return;
    }
    case 'forgetJob': {
      const job = s.jobs.get(e.job);
      if (!job) return;
      for (const t of job.tasks.values()) end(s, t);
      s.jobs.delete(e.job);
      return;
    }
    case 'tick':
      return tick(s);
  }
}

const teamOf = (t: Task): Team | undefined => t.job.teams.get(t.task);

/** It needs something of its node, or of its teammates. A wave has a limit of its own. */
const isComing = ({ stage, task }: Offer): boolean =>
  stage === 'finding' || stage === 'receiving' || (stage === 'covered' && teamOf(task) !== undefined);

function tick(s: State): void {
  const { offerMs, coverMs, collectMs } = s.settings;
  for (const o of [...s.offers.values()]) {
    const age = s.now - o.since;
    if (o.stage === 'covering') {
      if (age > coverMs)
        refuse(s, o, {
          code: 'CONFLICT',
          message: 'The log entries that the image depends on were not durable in time.',
        });
      else if (s.now - o.askedAt >= s.settings.askAgainMs) ask(s, o);
    } else if (isComing(o) && age > offerMs) {
      const whose = o.stage === 'covered' ? 'The images of its teammates' : 'The pages of the image';
      refuse(s, o, { code: 'CONFLICT', message: `${whose} did not arrive in time.` });
    }
  }
  if (!s.garbage || s.now - s.collected < collectMs) return;
  s.garbage = false;
  s.collected = s.now;
  const pinned = new Set<string>();
  for (const o of s.offers.values()) for (const h of o.manifest.pages) if (h !== '') pinned.add(h);
  // C21: what is not pinned may go now, and come back from somebody else.
  for (const job of s.jobs.values()) for (const t of job.tasks.values()) if (!t.offer) t.sent.clear();
  emit(s, { type: 'collect', pinned });
}

function recover(s: State, entries: readonly (readonly [key: string, value: unknown])[]): void {
  for (const [key, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [kind, job, task] = key.split('/') as [string, JobId, string];
    const t = taskOf(jobOf(s, job), Number(task) as TaskId);
    if (kind === 'image') t.images.push(value as ImageRecord);
    else if (kind === 'trimmed') t.trimmed = true;
    else if (kind === 'near') t.near = value as Manifest; // C17
  }
}
