/**
 * The host of the simulated Checkpoint Server: the core over a store of pages by hash and of manifests, which outlive
 * the process.
 *
 * Owns pages, manifests and the content of images. A page is durable when the core gets `pageStored`. Manifest and
 * record are written together, some time before the core gets `committed`: the process may die in between.
 */
import { beginsAt, CheckpointServer, type ImageRecord, type ImagesInput, type ImagesIo } from '@mayfly/protocols';
import {
  imageIdOf,
  taskId,
  type ImageId,
  type Incarnation,
  type Manifest,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import type { Link } from './link.ts';
import { setsWithout } from './planted-sets.ts';
import type { ImageDown, ImageUp } from './messages.ts';
import type { SimImage } from './rank-host.ts';
import type { Registry } from './registry.ts';
import type { Simulation } from './simulation.ts';

/** Longest time until a page is durable, ms. */
const MAX_STORE_MS = 20;
/** Planted: how long after `pageStored` a page becomes durable. */
const LATE_MS = 1500;

type ImageLink = Link<ImageUp, ImageDown>;

/** What the Checkpoint Server asks of the run that it is part of. */
export interface ImageSimulation extends Simulation {
  readonly server: {
    readonly up: boolean;
    readonly service: { image(event: ImagesInput): void };
    readonly registry: Pick<Registry, 'entries' | 'change' | 'acting' | 'record'>;
    later(ms: number, f: () => void): void;
    whenWritable(f: () => void): void;
  };
}

interface KeptImage {
  readonly image: ImageId;
  readonly position: Position;
  readonly record: { readonly serial: number; readonly incarnation: Incarnation };
}
interface Stored {
  readonly manifest: Manifest;
  readonly image: SimImage;
}

export class CsHost {
  /**
   * Durable. A flipped bit lies in one stripe of a page, which its parity mends when it is read; a lost one is gone.
   */
  private readonly pages = new Map<string, { flipped: boolean; lost: boolean }>();
  private readonly manifests = new Map<string, Stored>();
  private readonly links = new Map<string, ImageLink>();
  private readonly offered = new Map<string, Stored>();
  /** Images of level 1: their pages are with the nodes, and outlive the server. */
  private readonly withNodes = new Map<string, Stored>();
  /** Planted: images of older incarnations get the name of the acting one. */
  private readonly aliases = new Map<string, ImageId>();
  private connections = 0;
  full = false;

  constructor(private readonly world: ImageSimulation) {}

  newCore(): CheckpointServer {
    const { undone } = this.world;
    const keep = undone === 'one-image-kept' ? { keep: 1 } : {};
    return new CheckpointServer({ collectMs: 2000, ...keep }, undefined, setsWithout(undone));
  }

  kill(): void {
    for (const l of this.links.values()) l.break(undefined, this.world.random.between(1, 60));
    this.links.clear();
    this.offered.clear();
    this.aliases.clear();
  }

  private step(e: ImagesInput): void {
    this.world.server.service.image(e);
  }

  /** Complete images of a task that a restart may choose, oldest first, from the registry. */
  kept(task: TaskId): KeptImage[] {
    return this.world.server.registry
      .entries((k) => k.startsWith(`image/${this.world.setup.job}/${task}/`))
      .map(([, v]) => v as ImageRecord)
      .map((r) => ({ image: r.image, position: r.position, record: { serial: r.serial, incarnation: r.incarnation } }));
  }

  stored(image: string): Stored | undefined {
    return this.manifests.get(image);
  }

  /** Where a task begins that gets this image, or none. */
  positionFor(image: string | undefined, team: readonly TaskId[] | undefined): Position {
    const { images, recovery } = this.world.protocol;
    const found = image === undefined ? undefined : this.stored(image);
    const { dissolved } = this.world.server.registry.record() ?? {};
    return found ? beginsAt(images, found.manifest, team, dissolved) : recovery.start;
  }

  /** No page of it is lost. */
  private whole(image: string): boolean {
    const s = this.manifests.get(image);
    return s !== undefined && s.manifest.pages.every((p) => this.pages.get(p)?.lost === false);
  }

  /** Reads every page: what one stripe's parity mends is written again. */
  private read(image: string): boolean {
    const { world } = this;
    for (const hash of this.manifests.get(image)?.manifest.pages ?? []) {
      const page = this.pages.get(hash);
      if (!page?.flipped) continue;
      page.flipped = false;
      if (world.undone === 'parity-ignored') page.lost = true;
      else world.count('mended page');
    }
    return this.whole(image);
  }

  /**
   * A bit flips in any page of an image of this task that is still as it was stored, even if other images share the
   * page. Returns the image.
   */
  flip(task: TaskId, which: number): string | undefined {
    const kept = this.kept(task);
    const victim = kept[Math.floor(which * kept.length)];
    const intact = (this.manifests.get(victim?.image ?? '')?.manifest.pages ?? [])
      .map((p) => this.pages.get(p))
      .filter((p) => p && !p.flipped && !p.lost);
    const page = intact[Math.floor(which * 7919) % intact.length];
    if (!victim || !page) return undefined;
    page.flipped = true;
    return victim.image;
  }

  /**
   * A page of an image of this task is gone: of one that another whole image, or the start of the program, can stand in
   * for. Returns its name.
   */
  lose(task: TaskId, which: number): string | undefined {
    const kept = this.kept(task).filter((k) => this.whole(k.image));
    const trimmed =
      this.world.server.registry.entries((k) => k === `trimmed/${this.world.setup.job}/${task}`).length > 0;
    if (kept.length === 0 || (kept.length === 1 && trimmed)) return undefined;
    // T6: it spoils the set of its team, and so may the page of a teammate that is gone already
    const { setup } = this.world;
    const all = Array.from({ length: setup.spec.size }, (_, t) => this.kept(taskId(t))).flat();
    if (setup.team > 1 && !all.every((k) => this.whole(k.image))) return undefined;
    const victim = kept[Math.floor(which * kept.length)]!;
    // shared pages belong to another image as well, also of another task, which must stay whole; or to one that is
    // being made of them
    const others = new Set(
      [...this.manifests].flatMap(([image, m]) => (image === victim.image ? [] : m.manifest.pages)),
    );
    for (const [id, o] of this.offered) if (id !== victim.image) for (const p of o.manifest.pages) others.add(p);
    const own = this.manifests.get(victim.image)!.manifest.pages.filter((p) => !others.has(p));
    if (own.length === 0) return undefined;
    this.pages.get(own[Math.floor(which * 7919) % own.length]!)!.lost = true;
    return victim.image;
  }

  // ---- connections ----

  accept(make: (ends: { up: (m: ImageUp) => void; closed: () => void }) => ImageLink): ImageLink {
    const id = `i${this.connections++}`;
    const link = make({
      up: (m) => this.world.server.up && this.links.has(id) && this.received(id, m),
      closed: () => this.world.server.up && this.links.delete(id) && this.step({ type: 'linkClosed', link: id }),
    });
    this.links.set(id, link);
    return link;
  }

  private received(link: string, m: ImageUp): void {
    const { server, undone, setup } = this.world;
    switch (m.type) {
      case 'offer': {
        let { manifest } = m;
        let n = m.incarnation;
        const acting = server.registry.acting().find(([t]) => t === m.task)?.[1];
        if (undone === 'no-fence-at-cs' && acting !== undefined && acting > n) {
          n = acting;
          const image = imageIdOf(setup.job, m.task, n, manifest.serial);
          this.aliases.set(manifest.image, image);
          manifest = { ...manifest, incarnation: n, image };
        }
        this.world.trace?.(`  → cs  OFFER ${m.manifest.image}`);
        this.offered.set(manifest.image, { manifest, image: m.image });
        const near = m.near ?? false;
        if (near) this.withNodes.set(manifest.image, { manifest, image: m.image });
        return this.step({ type: 'offer', link, job: setup.job, task: m.task, incarnation: n, manifest, near });
      }
      case 'pages':
        for (const index of m.pages) this.store(link, this.aliases.get(m.image) ?? m.image, index);
        return;
      case 'end':
        // after the pages that came before it are stored, as the real host's queue per socket has it
        return server.later(MAX_STORE_MS + 1, () =>
          this.step({ type: 'end', link, image: this.aliases.get(m.image) ?? m.image }),
        );
    }
  }

  private store(link: string, image: ImageId, index: number): void {
    const { server, undone, random } = this.world;
    server.later(random.between(1, MAX_STORE_MS), () => {
      const o = this.offered.get(image);
      if (!o) return;
      const { manifest } = o;
      if (this.full)
        return this.step({
          type: 'pageFailed',
          link,
          image,
          index,
          error: { code: 'DISK_FULL', message: 'no space is left' },
        });
      const put = (): void => void this.pages.set(manifest.pages[index]!, { flipped: false, lost: false });
      if (undone === 'image-without-pages') server.later(LATE_MS, put);
      else put();
      this.step({ type: 'pageStored', link, image, index, bytes: manifest.bytes });
    });
  }

  /** C21: the store has the page, and the task has shown that it has it. */
  #has({ own, sent }: Extract<ImagesIo, { type: 'findPages' }>, page: string): boolean {
    if (this.pages.get(page)?.lost !== false) return false;
    return sent.includes(page) || own.some((i) => this.manifests.get(i)?.manifest.pages.includes(page));
  }

  // ---- effects ----

  perform(e: ImagesIo): void {
    const { world } = this;
    const { server } = world;
    switch (e.type) {
      case 'findPages':
        return server.later(1, () =>
          this.step({
            type: 'pagesFound',
            image: e.image,
            ask: e.ask,
            missing: e.pages.filter((p) => !this.#has(e, p)),
          }),
        );
      case 'need':
        this.links.get(e.link)?.down({ type: 'need', image: this.known(e.image), pages: e.pages });
        return;
      case 'reply':
        if (e.error) world.note(`CS refuses ${e.image}: ${e.error.code} ${e.error.message}`);
        this.links.get(e.link)?.down({ type: 'reply', image: this.known(e.image), reply: e.reply });
        return;
      case 'commit': {
        // a team's images count together
        const all = [e.manifest, ...(e.others ?? [])].map((manifest) => ({
          manifest,
          offered: this.offered.get(manifest.image),
        }));
        return server.later(world.random.between(1, 10), () => {
          if (this.full)
            return this.step({
              type: 'commitFailed',
              image: e.image,
              error: { code: 'DISK_FULL', message: 'no space is left' },
            });
          for (const { manifest, offered } of all) {
            if (!offered) throw new Error(`commit of ${manifest.image} that was never offered`);
            world.checkers.imageComplete({
              image: manifest.image,
              task: manifest.task,
              incarnation: offered.image.incarnation,
              position: offered.manifest.position,
              whole: manifest.pages.every((p) => this.pages.has(p)),
            });
            this.manifests.set(manifest.image, { manifest, image: offered.image });
          }
          server.registry.change(e.changes);
          server.later(world.random.between(0, 5), () => this.step({ type: 'committed', image: e.image }));
        });
      }
      case 'discard':
        return server.whenWritable(() => {
          server.registry.change(e.changes);
          for (const i of e.images) this.manifests.delete(i);
        });
      case 'complete':
        world.count('image');
        world.trace?.(`cs: image ${e.image} is complete`);
        return;
      case 'check':
        return server.later(1, () => {
          const sound = this.read(e.image);
          world.trace?.(`cs checks ${e.image}: ${sound ? 'sound' : 'damaged'}`);
          if (!sound) world.count('damaged image');
          this.step({ type: 'checked', image: e.image, sound });
        });
      case 'collect': {
        const named = new Set(world.undone === 'pages-not-pinned' ? [] : e.pinned);
        for (const s of this.manifests.values()) for (const p of s.manifest.pages) named.add(p);
        for (const p of this.pages.keys()) if (!named.has(p)) this.pages.delete(p);
        return;
      }
      case 'near':
        return world.count('image with the nodes');
      case 'rebuild':
        return server.later(world.random.between(1, 200), () => this.rebuild(e.image));
      case 'nearLost':
        return world.count('image lost with the nodes');
      case 'log':
        world.trace?.(`cs: ${e.message}`);
    }
  }

  /** Of parity groups there is only this: now and then too many nodes are lost. */
  private rebuild(image: ImageId): void {
    const { world } = this;
    const stored = this.withNodes.get(image);
    const { manifest } = stored ?? {};
    if (!stored || !manifest || world.random.chance(0.25)) {
      const error = world.undone === 'set-without-one' ? {} : { error: 'too many nodes are lost' };
      return this.step({ type: 'rebuilt', image, ...error });
    }
    for (const page of manifest.pages) this.pages.set(page, { flipped: false, lost: false });
    if (!this.offered.has(image)) world.count('image made again after a restart');
    this.offered.set(image, stored);
    world.count('image made again');
    this.step({ type: 'rebuilt', image });
  }

  /** The name under which its node knows an image. */
  private known(image: ImageId): ImageId {
    for (const [theirs, ours] of this.aliases) if (ours === image) return theirs as ImageId;
    return image;
  }
}
