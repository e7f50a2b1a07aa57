/**
 * Checkpoint Server: keeps the images of tasks and says when one is complete (MPICH-V §3.4; docs/pessimistic.md).
 *
 * Owns: offers under way, the list of complete images of every task, which incarnation may offer, what the logs may be
 * trimmed to. Does not own: pages and manifests (ImageStore, host), capabilities (host), logs (Channel Memories).
 * Messages: checkpoint-server-types.ts. An offer goes finding → receiving → covering → committing → complete.
 *
 * Invariants
 *  C1 An image is complete only when every page is durable, and every CM says that all sends and outputs before it and
 *     all arrivals that it consumed are durable there, and the determinants before it are durable without a gap over
 *     all CMs together.
 *  C2 It is used, announced and trimmed for only after manifest and record are durable.
 *  C3 The newest `keep` complete images of a task are kept; logs are trimmed to the oldest of them, and not at all
 *     before there are so many: until then the start of the program is the way back from a damaged image.
 *  C4 An offer of any but the acting incarnation is refused. A fence ends offers of lower ones, and an image is chosen
 *     only after a commit that was under way has ended.
 *  C5 Serials of complete images of a task rise.
 *  C6 The pages of an open offer are pinned from `offer` until it is complete or refused.
 *
 * Durable: ImageRecord and manifest (`commit`) before `complete`, `reply complete` and `trim`; the mark `trimmed`
 * before the first trim. Offers are losable: the node offers again.
 */
import { PAGE_BYTES, type ErrorBody, type ImageId, type Incarnation, type JobId, type TaskId } from '@mayfly/wire';
import { coversDeterminants } from './channel-memory/cover.ts';
import type { Range } from './channel-memory/types.ts';
import { checkManifest } from './checkpoint-server-checks.ts';
import type { Job, Offer, Task } from './checkpoint-server-state.ts';
import {
  defaultCheckpointSettings,
  imageKey,
  trimmedKey,
  type CheckpointServerEffect,
  type CheckpointServerEvent,
  type CheckpointServerSettings,
  type ImageRecord,
} from './checkpoint-server-types.ts';

export class CheckpointServer {
  readonly #settings: CheckpointServerSettings;
  readonly #jobs = new Map<JobId, Job>();
  readonly #offers = new Map<ImageId, Offer>();
  #effects: CheckpointServerEffect[] = [];
  #now = 0;
  #asks = 0;
  #garbage = true;
  #collected = 0;

  constructor(settings: Partial<CheckpointServerSettings> = {}) {
    this.#settings = { ...defaultCheckpointSettings, ...settings };
  }

  step(e: CheckpointServerEvent): CheckpointServerEffect[] {
    this.#now = e.now;
    this.#effects = [];
    this.#handle(e);
    return this.#effects;
  }

  /** Complete images of a task, oldest first. */
  imagesOf(job: JobId, task: TaskId): readonly ImageRecord[] {
    return this.#jobs.get(job)?.tasks.get(task)?.images ?? [];
  }

  /**
   * The image of a task that is on its way, for people: bytes of pages that are durable, and of all that its node had
   * to send.
   */
  comingOf(job: JobId, task: TaskId): { sentBytes: number; ofBytes: number } | undefined {
    const o = this.#jobs.get(job)?.tasks.get(task)?.offer;
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
    const o = this.#offers.get(image);
    return o?.link === link && o.waiting.has(index) ? o.manifest.pages[index] : undefined;
  }

  /** The newest complete image of every task: for the dispatcher's `recover`. */
  newest(): { job: JobId; task: TaskId; image: ImageId; serial: number }[] {
    const out = [];
    for (const j of this.#jobs.values())
      for (const t of j.tasks.values()) {
        const i = t.images.at(-1);
        if (i) out.push({ job: j.id, task: t.task, image: i.image, serial: i.serial });
      }
    return out;
  }

  #handle(e: CheckpointServerEvent): void {
    switch (e.type) {
      case 'openJob': {
        const job = this.#job(e.job);
        job.open = { size: e.size, channelMemories: e.channelMemories, program: e.program };
        for (const [task, incarnation] of e.acting) {
          const t = this.#task(job, task);
          if (t.acting === undefined || t.acting < incarnation) t.acting = incarnation;
        }
        for (const t of job.tasks.values()) if (t.trimmed) this.#trim(t);
        return;
      }
      case 'recover':
        return this.#recover(e.entries);
      case 'offer':
        return this.#offer(e);
      case 'pagesFound': {
        const o = this.#offers.get(e.image);
        if (o?.stage !== 'finding' || o.ask !== e.ask) return;
        const missing = new Set(e.missing);
        // Each hash once, at its first place in the manifest.
        o.manifest.pages.forEach((hash, i) => missing.delete(hash) && o.waiting.add(i));
        o.stage = 'receiving';
        if (o.link !== undefined) this.#emit({ type: 'need', link: o.link, image: e.image, pages: [...o.waiting] });
        return;
      }
      case 'pageStored': {
        const o = this.#offers.get(e.image);
        if (o?.link === e.link && o.waiting.delete(e.index)) o.sentBytes += e.bytes;
        return;
      }
      case 'pageFailed': {
        const o = this.#offers.get(e.image);
        if (o?.link === e.link && o.stage === 'receiving') this.#refuse(o, e.error);
        return;
      }
      case 'end': {
        const o = this.#offers.get(e.image);
        if (!o || o.link !== e.link) return;
        if (o.stage === 'finding' || (o.stage === 'receiving' && o.waiting.size > 0))
          this.#refuse(o, { code: 'BAD_REQUEST', message: `${o.waiting.size} pages of the image were not sent.` });
        else {
          this.#emit({ type: 'reply', link: e.link, reply: 'stored', image: e.image });
          if (o.stage === 'receiving') this.#cover(o);
        }
        return;
      }
      case 'linkClosed':
        for (const o of [...this.#offers.values()]) {
          if (o.link !== e.link) continue;
          o.link = undefined;
          // With all pages here, the image can still become complete without its node.
          if (o.stage === 'finding' || o.stage === 'receiving') this.#drop(o);
        }
        return;
      case 'covered':
        return this.#covered(e.image, e.cm, e.determinants);
      case 'committed':
        return this.#committed(e.image);
      case 'commitFailed': {
        const o = this.#offers.get(e.image);
        if (o?.stage !== 'committing') return;
        this.#refuse(o, e.error);
        if (o.unwanted) this.#discardAll(o.task);
        if (o.task.restart) this.#choose(o.task);
        return;
      }
      case 'restart':
        return this.#restart(e.job, e.task, e.incarnation);
      case 'checked': {
        const t = [...this.#jobs.values()]
          .flatMap((j) => [...j.tasks.values()])
          .find((x) => x.restart?.checking === e.image);
        if (!t?.restart) return;
        delete t.restart.checking;
        if (e.sound) this.#chosen(t, e.image);
        else {
          this.#discard(t, e.image);
          this.#choose(t);
        }
        return;
      }
      case 'damaged': {
        const t = this.#jobs.get(e.job)?.tasks.get(e.task);
        if (t) this.#discard(t, e.image);
        return;
      }
      case 'taskDone': {
        const t = this.#jobs.get(e.job)?.tasks.get(e.task);
        if (t) this.#end(t);
        return;
      }
      case 'forgetJob': {
        const job = this.#jobs.get(e.job);
        if (!job) return;
        for (const t of job.tasks.values()) this.#end(t);
        this.#jobs.delete(e.job);
        return;
      }
      case 'tick':
        return this.#tick();
    }
  }

  #offer(e: Extract<CheckpointServerEvent, { type: 'offer' }>): void {
    const { link, manifest } = e;
    const { image } = manifest;
    const refuse = (error: ErrorBody): void => this.#emit({ type: 'reply', link, reply: 'refused', image, error });
    const job = this.#jobs.get(e.job);
    if (!job?.open || e.task >= job.open.size)
      return refuse({ code: 'UNKNOWN_JOB', message: 'This job is not running.' });
    const task = this.#task(job, e.task);
    if (task.done) return refuse({ code: 'UNKNOWN_JOB', message: 'The task has ended.' });
    if (task.acting === undefined || e.incarnation !== task.acting)
      return refuse({
        code: 'FENCED',
        message: `Incarnation ${task.acting ?? 0} of task ${e.task} is running, not ${e.incarnation}.`,
      }); // C4
    if (task.images.some((i) => i.image === image))
      return this.#emit({ type: 'reply', link, reply: 'complete', image });
    const open = task.offer;
    if (open && (open.stage === 'covering' || open.stage === 'committing')) {
      if (open.manifest.image !== image)
        return refuse({ code: 'TOO_MANY', message: 'The image before this one is not complete yet.' });
      // The node lost the connection and asks again: everything is here already.
      open.link = link;
      return this.#emit({ type: 'need', link, image, pages: [] });
    }
    const { size, program } = job.open;
    const error = checkManifest(
      manifest,
      { ...e, size, program, images: task.images, trimmed: task.trimmed },
      this.#settings,
    );
    if (error) return refuse(error);
    if (open) {
      if (open.link !== link && open.manifest.image !== image)
        return refuse({ code: 'TOO_MANY', message: 'The image before this one is not complete yet.' });
      this.#refuse(open, { code: 'CONFLICT', message: 'The node offered the image again.' });
    }
    const offer: Offer = {
      task,
      manifest,
      stage: 'finding',
      link,
      ask: ++this.#asks,
      waiting: new Set(),
      covered: new Map(),
      askedAt: 0,
      since: this.#now,
      sentBytes: 0,
    };
    task.offer = offer;
    this.#offers.set(image, offer); // pinned from here on (C6)
    this.#emit({
      type: 'findPages',
      image,
      ask: offer.ask,
      pages: [...new Set(manifest.pages)].filter((h) => h !== ''),
    });
  }

  #cover(o: Offer): void {
    o.stage = 'covering';
    o.since = this.#now;
    this.#ask(o);
  }

  #ask(o: Offer): void {
    o.askedAt = this.#now;
    const { job, task, incarnation, image, replay } = o.manifest;
    for (let cm = 0; cm < o.task.job.open!.channelMemories; cm++)
      if (!o.covered.has(cm)) this.#emit({ type: 'cover', job, task, incarnation, image, cm, line: replay.image });
  }

  /**
   * C1. Determinants before the oldest kept image were durable when it became complete, and may have been trimmed
   * since.
   */
  #covered(image: ImageId, cm: number, determinants: readonly Range[]): void {
    const o = this.#offers.get(image);
    const cms = o?.task.job.open?.channelMemories ?? 0;
    if (o?.stage !== 'covering' || cm >= cms) return;
    o.covered.set(cm, determinants);
    if (o.covered.size < cms) return;
    const from = o.task.images[0]?.replay.image.determinants ?? 0;
    if (coversDeterminants(o.covered.values(), from, o.manifest.replay.image.determinants)) this.#commit(o);
  }

  #commit(o: Offer): void {
    const { manifest: m, task: t } = o;
    this.#uncover(o); // every CM has answered: a question left there would be asked again at each sync, for ever
    o.stage = 'committing';
    o.record = {
      image: m.image,
      serial: m.serial,
      incarnation: m.incarnation,
      replay: m.replay,
      bytes: m.bytes,
      sentBytes: o.sentBytes,
      at: this.#now,
      count: (t.images.at(-1)?.count ?? 0) + 1,
    };
    const changes: (readonly [string, unknown])[] = [[imageKey(m.job, m.task, m.serial), o.record]];
    for (const old of this.#surplus(t)) changes.push([imageKey(m.job, m.task, old.serial), undefined]);
    if (!t.trimmed && t.images.length + 1 >= this.#settings.keep) changes.push([trimmedKey(m.job, m.task), true]);
    this.#emit({ type: 'commit', job: m.job, task: m.task, image: m.image, manifest: m, changes });
  }

  /** Those that one more image makes superfluous. */
  #surplus(t: Task): ImageRecord[] {
    return t.images.slice(0, Math.max(0, t.images.length + 1 - this.#settings.keep));
  }

  #committed(image: ImageId): void {
    const o = this.#offers.get(image);
    if (o?.stage !== 'committing' || !o.record) return;
    const { task: t, record } = o;
    const { id } = t.job;
    const surplus = this.#surplus(t);
    t.images = [...t.images.slice(surplus.length), record];
    this.#drop(o);
    if (o.unwanted) {
      // The commit took the records of the surplus away: who ends now must not leave their manifests, which nobody
      // would find again.
      this.#remove(surplus);
      this.#discardAll(t);
      return;
    }
    if (o.link !== undefined) this.#emit({ type: 'reply', link: o.link, reply: 'complete', image });
    this.#emit({
      type: 'complete',
      job: id,
      task: t.task,
      image,
      serial: record.serial,
      bytes: record.bytes,
      sentBytes: record.sentBytes,
    });
    this.#remove(surplus);
    if (t.images.length >= this.#settings.keep) {
      t.trimmed = true;
      this.#trim(t); // C3
    }
    if (t.restart) this.#choose(t);
  }

  /** Manifests whose records are gone. */
  #remove(images: readonly ImageRecord[]): void {
    if (images.length === 0) return;
    this.#garbage = true;
    this.#emit({ type: 'discard', images: images.map((i) => i.image), changes: [] });
  }

  /** C3. With fewer images than are to be kept (one was damaged) the logs stay as they are until the next one. */
  #trim(t: Task): void {
    const oldest = t.images[0]?.replay;
    if (!oldest || t.images.length < this.#settings.keep || !t.job.open) return;
    const held = [...new Set(t.images.flatMap((i) => i.replay.held))].sort((a, b) => a - b);
    const to = { ...oldest, held };
    for (let cm = 0; cm < t.job.open.channelMemories; cm++)
      this.#emit({ type: 'trim', job: t.job.id, task: t.task, cm, to });
  }

  #restart(id: JobId, task: TaskId, incarnation: Incarnation): void {
    const t = this.#task(this.#job(id), task);
    if (t.acting !== undefined && incarnation < t.acting) return;
    t.acting = incarnation;
    const checking = t.restart?.checking;
    t.restart = checking === undefined ? { incarnation } : { incarnation, checking };
    const o = t.offer;
    if (o && o.stage !== 'committing' && o.manifest.incarnation < incarnation)
      this.#refuse(o, { code: 'FENCED', message: `Incarnation ${incarnation} of task ${task} acts.` });
    if (t.offer?.stage !== 'committing' && checking === undefined) this.#choose(t); // C4
  }

  /** The newest image that is sound; a damaged one costs time and no answer. */
  #choose(t: Task): void {
    if (!t.restart || t.restart.checking !== undefined) return;
    const newest = t.images.at(-1);
    if (newest) {
      t.restart.checking = newest.image;
      this.#emit({ type: 'check', image: newest.image });
    } else if (t.trimmed) {
      const { incarnation } = t.restart;
      delete t.restart;
      this.#emit({
        type: 'lost',
        job: t.job.id,
        task: t.task,
        incarnation,
        error: {
          code: 'LOST_LOG',
          message:
            `All images of rank ${t.task} are damaged, and the logs before them are already trimmed, so the ` +
            'rank cannot restart.',
        },
      });
    } else this.#chosen(t, undefined);
  }

  #chosen(t: Task, image: ImageId | undefined): void {
    const { incarnation } = t.restart!;
    delete t.restart;
    const chosen = { type: 'chosen' as const, job: t.job.id, task: t.task, incarnation };
    const record = t.images.find((i) => i.image === image);
    this.#emit(record === undefined ? chosen : { ...chosen, image: record.image, replay: record.replay });
  }

  /** One image is damaged. */
  #discard(t: Task, image: ImageId): void {
    const i = t.images.findIndex((x) => x.image === image);
    if (i < 0) return;
    const [gone] = t.images.splice(i, 1);
    this.#garbage = true;
    this.#emit({ type: 'discard', images: [image], changes: [[imageKey(t.job.id, t.task, gone!.serial), undefined]] });
    this.#emit({
      type: 'log',
      level: 'warn',
      message: `image ${image} is damaged and was removed`,
      job: t.job.id,
      task: t.task,
    });
  }

  #discardAll(t: Task): void {
    if (t.images.length === 0 && !t.trimmed) return;
    const changes: (readonly [string, unknown])[] = t.images.map((i) => [
      imageKey(t.job.id, t.task, i.serial),
      undefined,
    ]);
    if (t.trimmed) changes.push([trimmedKey(t.job.id, t.task), undefined]);
    this.#emit({ type: 'discard', images: t.images.map((i) => i.image), changes });
    this.#garbage = true;
    t.images = [];
    t.trimmed = false;
  }

  #end(t: Task): void {
    t.done = true;
    delete t.restart;
    if (t.offer?.stage === 'committing') t.offer.unwanted = true;
    else {
      if (t.offer) this.#refuse(t.offer, { code: 'UNKNOWN_JOB', message: 'The task has ended.' });
      this.#discardAll(t);
    }
  }

  #refuse(o: Offer, error: ErrorBody): void {
    if (o.link !== undefined)
      this.#emit({ type: 'reply', link: o.link, reply: 'refused', image: o.manifest.image, error });
    this.#drop(o);
  }

  #drop(o: Offer): void {
    if (o.stage !== 'committing') this.#garbage = true;
    if (o.stage === 'covering') this.#uncover(o);
    if (this.#offers.get(o.manifest.image) === o) this.#offers.delete(o.manifest.image);
    if (o.task.offer === o) delete o.task.offer;
  }

  #uncover(o: Offer): void {
    const { job, task, image } = o.manifest;
    for (let cm = 0; cm < (o.task.job.open?.channelMemories ?? 0); cm++)
      this.#emit({ type: 'uncover', job, task, image, cm });
  }

  #tick(): void {
    const { offerMs, coverMs, collectMs } = this.#settings;
    for (const o of [...this.#offers.values()]) {
      const age = this.#now - o.since;
      if (o.stage === 'covering') {
        if (age > coverMs)
          this.#refuse(o, {
            code: 'CONFLICT',
            message: 'The log entries that the image depends on were not durable in time.',
          });
        else if (this.#now - o.askedAt >= this.#settings.askAgainMs) this.#ask(o);
      } else if (o.stage !== 'committing' && age > offerMs)
        this.#refuse(o, { code: 'CONFLICT', message: 'The pages of the image did not arrive in time.' });
    }
    if (!this.#garbage || this.#now - this.#collected < collectMs) return;
    this.#garbage = false;
    this.#collected = this.#now;
    const pinned = new Set<string>();
    for (const o of this.#offers.values()) for (const h of o.manifest.pages) if (h !== '') pinned.add(h);
    this.#emit({ type: 'collect', pinned });
  }

  #recover(entries: readonly (readonly [key: string, value: unknown])[]): void {
    for (const [key, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [kind, job, task] = key.split('/') as [string, JobId, string];
      const t = this.#task(this.#job(job), Number(task) as TaskId);
      if (kind === 'image') t.images.push(value as ImageRecord);
      else if (kind === 'trimmed') t.trimmed = true;
    }
  }

  #job(id: JobId): Job {
    let job = this.#jobs.get(id);
    if (!job) this.#jobs.set(id, (job = { id, tasks: new Map() }));
    return job;
  }

  #task(job: Job, task: TaskId): Task {
    let t = job.tasks.get(task);
    if (!t) job.tasks.set(task, (t = { job, task, acting: undefined, images: [], trimmed: false, done: false }));
    return t;
  }

  #emit(effect: CheckpointServerEffect): void {
    this.#effects.push(effect);
  }
}
