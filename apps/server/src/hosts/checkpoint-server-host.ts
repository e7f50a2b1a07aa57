/**
 * Host of the Checkpoint Server core: image sockets, the page store, the questions to the Channel Memories.
 *
 * One image socket (`/data/image`) carries offers of the tasks of one comm worker, one image at a time. Pages are
 * decoded, checked against their hash by the store, and acknowledged to the core in the order of their arrival.
 *
 *  K1  `findPages` and `collect` never run at the same time (the core pins from `offer` on, but only what it knows of).
 *  K2  The core gets `stored` and `committed` only after the store's promise has resolved.
 *  K4  While storage is stopped (disk.ts) no image socket is read. Records of images that go are removed when it can be
 *      written again.
 *  K5  A socket is opened by the capability of a rank of a running job (`/data/image?cap=`): nothing is read, and no
 *      place is taken, without one. One that says nothing for IDLE_MS is closed.
 *  K6  A rank's capability keeps one socket open: a newer one takes its place. A network has a share of the places.
 *  K7  What all sockets have sent and is not yet dealt with is bounded; of messages that have not ended: unfinished.ts.
 *  K3  Pages of a socket are stored several at a time, and reported to the core in their order; a socket with too many
 *      of them under way is not read on.
 */
import { decodePage, unpackPage } from '@mayfly/checkpoint';
import { isOver, type CheckpointServer, type ImagesInput, type ImagesIo, type JobService } from '@mayfly/protocols';
import type { ImageStore, Registry } from '@mayfly/storage/ports';
import {
  ImageEnd,
  ImageOffer,
  MESSAGE_JSON,
  Manifest,
  MayflyError,
  parseJson,
  type ErrorBody,
  type ImageId,
  type JobId,
  type TaskId,
} from '@mayfly/wire';
import { Compile } from 'typebox/compile';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { Holder, Secrets } from '../secrets.ts';
import { messageCame } from './buffer-collector.ts';
import { CloseCode } from './data-link.ts';
import { LinkPlaces, type LinkLimits } from './link-places.ts';

const offerSchema = Compile(ImageOffer);
const endSchema = Compile(ImageEnd);
const manifestSchema = Compile(Manifest);

export interface CsListener {
  /** An image begins to come: for people only. */
  begun?(job: JobId, task: TaskId): void;
  complete(job: JobId, task: TaskId, image: ImageId, serial: number): void;
  /** Make its pages again from parity, and answer `rebuilt`. */
  rebuild(manifest: Manifest): void;
  /** A restart could not use parity. */
  fellBack(job: JobId, task: TaskId, reason: string): void;
}

/** One image socket, WebSocket or not. */
export interface ImageLink {
  /** Where it comes from, for limits. */
  readonly network: string;
  onMessage: (data: Uint8Array | string) => void;
  onClose: () => void;
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Stops and resumes reading, where the transport can (K3). */
  pause(): void;
  resume(): void;
}

/** An image socket with so many messages, or bytes, that are not yet dealt with is not read any more (K3). */
const QUEUE_MESSAGES = 64;
const QUEUE_BYTES = 8 << 20;
/** Long polling cannot be stopped: beyond this it is closed. */
const MOST_BYTES = 64 << 20;
/** Of all links together: then each is read on when what it sent is dealt with (K7). */
const ALL_BYTES = 128 << 20;
/** A link on which nothing comes for so long is closed; its comm worker opens another one for its next image. */
const IDLE_MS = 600_000;
/** Pages of a run that are read before they are asked for. */
const READ_AHEAD = 4;

let links = 0;

export class CheckpointServerHost {
  readonly #service: JobService;
  readonly #images: ImageStore;
  readonly #registry: Registry;
  readonly #disk: Disk;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #listener: CsListener;
  readonly #places: LinkPlaces;
  readonly #takesImages: (job: JobId) => boolean;
  readonly #links = new Map<string, ImageLink>();
  /** K6: the link that each rank's capability opened last. */
  readonly #ofTask = new Map<string, string>();
  /** K7: of all links. */
  #queuedBytes = 0;
  /** K1: page look-ups and collections, one after the other. */
  #store: Promise<unknown> = Promise.resolve();
  #commits: Promise<unknown> = Promise.resolve();

  constructor(deps: {
    images: ImageStore;
    disk: Disk;
    registry: Registry;
    secrets: Secrets;
    logger: Logger;
    listener: CsListener;
    /** What it is the host in. */
    service: JobService;
    limits: LinkLimits;
    /** False: the job is one without images (JobSpec.allowance). */
    takesImages: (job: JobId) => boolean;
  }) {
    this.#service = deps.service;
    this.#images = deps.images;
    this.#registry = deps.registry;
    this.#disk = deps.disk;
    this.#secrets = deps.secrets;
    this.#logger = deps.logger;
    this.#listener = deps.listener;
    this.#places = new LinkPlaces(deps.limits);
    this.#takesImages = deps.takesImages;
  }

  get core(): CheckpointServer {
    return this.#service.images;
  }

  step(event: ImagesInput): void {
    this.#service.image(event);
  }

  perform(e: ImagesIo): void {
    switch (e.type) {
      case 'findPages':
        return this.#inStore(async () => {
          // Not known is missing: it is sent once more, and refused or stored then.
          const has = await this.#has(e).catch((error: unknown) => {
            if (!this.#disk.failed(error, 'the page store')) throw error;
            return new Set();
          });
          this.step({ type: 'pagesFound', image: e.image, ask: e.ask, missing: e.pages.filter((h) => !has.has(h)) });
        }, e.image);
      case 'need':
        return this.#send(e.link, { type: 'need', image: e.image, pages: e.pages });
      case 'reply':
        return this.#send(e.link, { type: e.reply, image: e.image, ...(e.error ? { error: e.error } : {}) });
      case 'commit':
        this.#commits = this.#commits.then(async () => {
          try {
            for (const m of [e.manifest, ...(e.others ?? [])])
              await this.#images.putManifest(m.image, JSON.stringify(m));
            await this.#registry.commit(e.changes);
            this.step({ type: 'committed', image: e.image });
          } catch (error) {
            this.step({ type: 'commitFailed', image: e.image, error: this.#asBody(error) });
          }
        });
        return;
      case 'discard':
        this.#commits = this.#commits.then(async () => {
          for (;;)
            try {
              if (e.changes.length > 0) await this.#registry.commit(e.changes);
              for (const image of e.images) await this.#images.removeManifest(image);
              return;
            } catch (error) {
              this.#logger.warn({ err: error }, 'old images could not be removed');
              if (!this.#disk.failed(error, 'the record of an image')) return;
              await this.#disk.writable();
              if (this.#disk.closed) return;
            }
        });
        return;
      case 'collect':
        return this.#inStore(async () => {
          const gone = await this.#images.collect(e.pinned);
          if (gone.pages > 0) this.#logger.debug(gone, 'pages of old images removed');
        }, undefined);
      case 'complete':
        return this.#listener.complete(e.job, e.task, e.image, e.serial);
      case 'near':
        return this.#logger.debug({ job: e.job, task: e.task, savedBytes: e.savedBytes }, 'image protected by parity');
      case 'rebuild':
        return this.#listener.rebuild(e.manifest);
      case 'nearLost':
        return this.#listener.fellBack(e.job, e.task, e.reason);
      case 'check':
        void this.#check(e.image).then((sound) => this.step({ type: 'checked', image: e.image, sound }));
        return;
      case 'log':
        return this.#logger[e.level]({ job: e.job, task: e.task }, e.message);
      default:
        e satisfies never;
    }
  }

  /** C21: what the task need not send. */
  async #has(e: Extract<ImagesIo, { type: 'findPages' }>): Promise<Set<string>> {
    const own = await this.#images.ownPages(e.pages, e.own);
    const there = await this.#images.hasPages(e.sent);
    for (const [i, hash] of e.sent.entries()) if (there[i]) own.add(hash);
    return own;
  }

  #inStore(work: () => Promise<void>, image: ImageId | undefined): void {
    this.#store = this.#store.then(work).catch((error: unknown) => {
      this.#logger.error({ err: error, image }, 'the page store failed');
    });
  }

  #send(link: string, message: object): void {
    this.#links.get(link)?.send(JSON.stringify(message));
  }

  async #check(image: ImageId): Promise<boolean> {
    try {
      const m = await this.manifest(image);
      if (!m) return false;
      const pages = [...new Set(m.pages.filter((p) => p !== ''))];
      return (await this.#images.hasPages(pages)).every(Boolean);
    } catch (error) {
      this.#logger.warn({ err: error, image }, 'image cannot be read');
      return false;
    }
  }

  async manifest(image: ImageId): Promise<Manifest | undefined> {
    const json = await this.#images.getManifest(image);
    if (json === undefined) return undefined;
    const m: unknown = JSON.parse(json);
    return manifestSchema.Check(m) ? m : undefined;
  }

  /**
   * Pages one after the other, read ahead. @throws MayflyError NOT_FOUND in the middle of them, for one that is missing
   * or damaged
   */
  async *run(hashes: readonly string[]): AsyncGenerator<Uint8Array> {
    const ahead: Promise<Uint8Array | undefined>[] = [];
    let next = 0;
    try {
      for (const hash of hashes) {
        while (ahead.length < READ_AHEAD && next < hashes.length) ahead.push(this.#images.getPage(hashes[next++]!));
        const page = await ahead.shift();
        if (!page) throw new MayflyError('NOT_FOUND', `page ${hash}`);
        yield page;
      }
    } finally {
      // A node that has left does not wait for these.
      for (const p of ahead) p.catch(() => undefined);
    }
  }

  // Image sockets

  get links(): number {
    return this.#links.size;
  }

  /** K5. Who may open a link: the holder of the acting incarnation of a rank. Each offer is checked on its own. */
  admits(capability: string): Holder | undefined {
    const h = this.#secrets.holder(capability);
    const job = h && this.#service.dispatcher.core.jobs.get(h.job);
    if (!job || isOver(job.record.state)) return undefined;
    return h.incarnation < (job.tasks[h.task]?.incarnation ?? 0) ? undefined : h;
  }

  accept(link: ImageLink, { job, task }: Holder): void {
    const opener = `${job}/${task}`;
    this.#links.get(this.#ofTask.get(opener) ?? '')?.close(CloseCode.TOO_MANY, 'TOO_MANY: another link of this rank');
    const leave = this.#places.take(link.network);
    if (!leave) return link.close(CloseCode.TOO_MANY, 'TOO_MANY: too many image links');
    const id = `i${++links}`;
    this.#links.set(id, link);
    this.#ofTask.set(opener, id);
    let idle = setTimeout(() => undefined, 0);
    /** K5: a link that is of no use any more has an end. */
    const heard = (): void => {
      clearTimeout(idle);
      idle = setTimeout(() => link.close(CloseCode.GOING_AWAY, 'nothing came'), IDLE_MS).unref();
    };
    heard();
    if (this.#disk.stopped) link.pause();
    let offer: Manifest | undefined;
    /** Everything up to the last offer or end is dealt with; everything at all is. */
    let said: Promise<void> = Promise.resolve();
    let chain: Promise<void> = Promise.resolve();
    let queued = 0;
    let queuedBytes = 0;
    let paused = false;
    const refuse = (image: string, error: ErrorBody): void =>
      link.send(JSON.stringify({ type: 'refused', image, error }));
    const ordered = (data: string): void => {
      let m: unknown;
      try {
        m = parseJson(data, MESSAGE_JSON);
      } catch {
        m = undefined;
      }
      if (offerSchema.Check(m)) {
        const h = this.#secrets.holder(m.capability);
        if (!h || h.job !== m.manifest.job || h.task !== m.manifest.task || h.incarnation !== m.manifest.incarnation)
          return refuse(m.manifest.image, { code: 'FORBIDDEN', message: 'The capability does not cover this image.' });
        if (!this.#takesImages(h.job))
          return refuse(m.manifest.image, { code: 'FORBIDDEN', message: 'This job has no checkpoint images.' });
        offer = m.manifest;
        this.#listener.begun?.(h.job, h.task);
        this.step({
          type: 'offer',
          link: id,
          job: h.job,
          task: h.task,
          incarnation: h.incarnation,
          manifest: m.manifest,
          ...(m.near && { near: true }),
        });
      } else if (endSchema.Check(m)) this.step({ type: 'end', link: id, image: m.image });
      else link.close(CloseCode.BAD_FRAME, 'BAD_FRAME: neither an offer nor an end');
    };
    /**
     * Stores a page; what the core is to hear of it. Neither this nor what calls it keeps the message: a plain page is
     * in the store's file when this returns, and its buffer dies young.
     */
    const store = (data: Uint8Array): Promise<ImagesInput | undefined> => {
      const image = offer?.image;
      if (image === undefined) {
        link.close(CloseCode.BAD_FRAME, 'BAD_FRAME: a page before any offer');
        return Promise.resolve(undefined);
      }
      let index = 0;
      const failed = (error: unknown): ImagesInput => ({
        type: 'pageFailed',
        link: id,
        image,
        index,
        error: this.#asBody(error),
      });
      try {
        const page = unpackPage(data);
        index = page.index;
        // Of an offer that was refused meanwhile, or not asked for: dropped unseen.
        const hash = this.core.wanted(id, image, index);
        if (hash === undefined) return Promise.resolve(undefined);
        const bytes = page.rawLength;
        const raw = decodePage(page.codec, bytes, page.bytes);
        const stored =
          raw instanceof Promise ? raw.then((r) => this.#images.putPage(hash, r)) : this.#images.putPage(hash, raw);
        return stored.then(() => ({ type: 'pageStored', link: id, image, index, bytes }), failed);
      } catch (error) {
        return Promise.resolve(failed(error));
      }
    };
    const control = (data: string): Promise<void> => (said = chain.then(() => ordered(data)));
    const page = (data: Uint8Array): Promise<ImagesInput | undefined> => said.then(() => store(data));
    const inOrder = (stored: Promise<ImagesInput | undefined>): Promise<void> =>
      chain.then(async () => {
        const event = await stored;
        if (event) this.step(event);
      });
    const queue = (dealt: Promise<void>, length: number): void => {
      chain = dealt
        .catch((error: unknown) => {
          this.#logger.error({ err: error }, 'image socket failed');
          link.close(CloseCode.BROKEN, 'INTERNAL');
        })
        .finally(() => {
          queued--;
          queuedBytes -= length;
          this.#queuedBytes -= length;
          if (paused && !this.#disk.stopped && queued <= QUEUE_MESSAGES / 2 && queuedBytes <= QUEUE_BYTES / 2) {
            paused = false;
            link.resume();
          }
        });
    };
    link.onMessage = (data) => {
      messageCame(data.length);
      heard();
      queued++;
      queuedBytes += data.length;
      this.#queuedBytes += data.length;
      const full = queued >= QUEUE_MESSAGES || queuedBytes >= QUEUE_BYTES || this.#queuedBytes >= ALL_BYTES;
      if (!paused && full) {
        paused = true;
        link.pause();
      }
      // Of a link that cannot be paused. Its comm worker comes back, and is asked only for what is not stored by then.
      if (queuedBytes >= MOST_BYTES || this.#queuedBytes >= 2 * ALL_BYTES)
        return link.close(CloseCode.TOO_MANY, 'TOO_MANY: faster than the disk');
      queue(typeof data === 'string' ? control(data) : inOrder(page(data)), data.length);
    };
    link.onClose = () => {
      if (!this.#links.delete(id)) return;
      clearTimeout(idle);
      leave();
      if (this.#ofTask.get(opener) === id) this.#ofTask.delete(opener);
      // After what it sent before it closed.
      void chain.then(() => this.step({ type: 'linkClosed', link: id }));
    };
  }

  /** K4. A socket that was paused for its queue is read on as well, for at most MOST_BYTES. */
  hold(on: boolean): void {
    for (const link of this.#links.values())
      if (on) link.pause();
      else link.resume();
  }

  #asBody(error: unknown): ErrorBody {
    return asBody(this.#disk.failed(error, 'the image') ?? error);
  }

  /** Waits for commits under way; nothing is done afterwards. */
  async close(): Promise<void> {
    for (const l of this.#links.values()) l.close(CloseCode.GOING_AWAY, 'the server stops');
    await this.#commits;
    this.#service.end('images');
    await this.#store;
  }
}

function asBody(error: unknown): ErrorBody {
  if (error instanceof MayflyError) return { code: error.code, message: error.message };
  return { code: 'INTERNAL', message: 'The image could not be stored.' };
}
