/**
 * A simulated node's images: taken when they are due, cut into pages, offered to the Checkpoint Server over a link of
 * their own.
 */
import { isWhole } from '@mayfly/protocols';
import type { TeamPart } from './team-memory.ts';
import { IMAGE_FORMAT, imageIdOf, type ImageId, type Manifest, type Position, type TaskId } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import type { CsHost } from './cs-host.ts';
import type { Link, LinkEnds } from './link.ts';
import type { ImageDown, ImageUp } from './messages.ts';
import type { SimImage } from './rank-host.ts';
import type { Simulation } from './simulation.ts';

/** A node that uploads images. */
export interface UploadingNode {
  /** It runs, and so does the server. */
  readonly here: boolean;
  readonly held: ReadonlyMap<TaskId, Held>;
  readonly world: Simulation & {
    readonly server: { readonly cs: Pick<CsHost, 'accept'> };
    pageHash(text: string): string;
  };
  link<U, D>(ends: LinkEnds<U, D>): Link<U, D>;
  /** `f`, held back while the node is frozen and dropped when it is dead. */
  live(f: () => void): () => void;
  after(ms: number, f: () => void): void;
  /** An image of the rank stands in its ring; undefined: nobody waits for it. */
  image(task: TaskId, position: Position): Position | undefined;
}

/**
 * Characters of an image's text on one page: small, so that images share pages and a flipped bit hits one of several.
 */
const PAGE_CHARS = 160;

/** Offered, and not answered yet. `again`: over a new connection, too. */
interface Offered {
  readonly manifest: Manifest;
  readonly image: SimImage;
  readonly again: boolean;
  /** Its pages stay with the nodes. */
  readonly near?: boolean;
  /** It was answered, or the connection is gone. */
  readonly over?: (() => void) | undefined;
}

const AGAIN_MS = 300;

export class Uploads {
  private link: Link<ImageUp, ImageDown> | undefined;
  private readonly open = new Map<ImageId, Offered>();

  constructor(private readonly node: UploadingNode) {}

  private connected(): Link<ImageUp, ImageDown> | undefined {
    if (this.link?.alive) return this.link;
    if (!this.node.here) return undefined;
    const link = this.node.world.server.cs.accept((ends) =>
      this.node.link<ImageUp, ImageDown>({
        up: ends.up,
        upClosed: ends.closed,
        down: (m) => this.node.live(() => this.received(m))(),
        downClosed: this.node.live(() => {
          if (this.link === link) this.link = undefined;
          const again = [...this.open.values()].filter((o) => o.again);
          const lost = [...this.open.values()].filter((o) => !o.again);
          this.open.clear();
          for (const o of again) this.offerAgain(o);
          for (const o of lost) o.over?.();
        }),
      }),
    );
    return (this.link = link);
  }

  /** At a place where an image can be taken: takes one if it is due. */
  checkpoint(h: Held, take: () => SimImage): void {
    const { world } = this.node;
    // no task would ever restart from it
    if (!world.protocol.recovery.restarts) return;
    const { endpoint, checkpointCalls } = h.rank!;
    const line = JSON.stringify(endpoint.position([]));
    const isLast = h.last && (h.lastCall === undefined || h.lastCall === checkpointCalls);
    if (endpoint.choosesImages) {
      if (world.agenda.now < h.nextCheckpoint && !isLast) return;
      if (line === h.lastLine && !isLast) return; // nothing has happened since the last one
    } else if (!h.asked) return;
    const link = this.connected();
    if (!link && endpoint.choosesImages) return;
    h.nextCheckpoint = world.agenda.now + world.setup.checkpointMs;
    h.asked = false;
    const image = take();
    h.lastLine = line;
    const position = this.node.image(h.task, endpoint.position(image.held));
    if (!position) return;
    const manifest = this.manifest(h, image, position);
    if (isLast) h.parked = { image: manifest.image, complete: false };
    if (image.channels) this.witness(manifest, image);
    const offered = {
      manifest,
      image,
      again: !endpoint.choosesImages,
      near: !isLast && this.staysNear(position, manifest.serial),
    };
    if (link) this.offer(link, offered);
    else this.offerAgain(offered);
  }

  /** Parity protects it, most of the time. */
  private staysNear(position: Position, serial: number): boolean {
    const { protocol, setup, random } = this.node.world;
    if (setup.wholeEvery === undefined) return false;
    // Of lone tasks one of so many images is whole, of a team one of so many waves.
    const team = protocol.images.setOf?.(position)?.wave;
    const number = protocol.images.waveOf?.(position) ?? team ?? serial;
    // A set of both levels is one that an honest node does not offer.
    return !isWhole(number, setup.wholeEvery) && random.chance(team === undefined ? 0.8 : 0.95);
  }

  /** An image of a team. `over`: it is complete, refused, or lost on its way. */
  give(h: Held, image: SimImage, position: Position, last: boolean, over: () => void): void {
    const link = this.connected();
    if (!link) return over();
    const manifest = this.manifest(h, image, position);
    if (last) h.parked = { image: manifest.image, complete: false };
    this.witness(manifest, image);
    this.offer(link, { manifest, image, again: false, over, near: !last && this.staysNear(position, manifest.serial) });
  }

  private witness({ image: id }: Manifest, image: SimImage): void {
    this.node.world.checkers.teamImage(id, {
      wave: image.wave ?? 0,
      received: new Map(image.received),
      sent: new Map(image.sent),
      channels: lying(image),
    });
  }

  private manifest(h: Held, image: SimImage, position: Position): Manifest {
    const { world } = this.node;
    const serial = ++h.serial;
    const text = JSON.stringify(image);
    const pages: string[] = [];
    for (let i = 0; i < text.length; i += PAGE_CHARS) pages.push(world.pageHash(text.slice(i, i + PAGE_CHARS)));
    const id = imageIdOf(world.setup.job, h.task, h.incarnation, serial);
    world.checkers.kit.waves?.imageTaken(h.task, h.incarnation, id, image.held);
    return {
      format: IMAGE_FORMAT,
      image: id,
      job: world.setup.job,
      task: h.task,
      incarnation: h.incarnation,
      program: world.setup.program,
      serial,
      position,
      sections: [{ name: 'sim', bytes: text.length }],
      pages,
      bytes: text.length,
    };
  }

  private offer(link: Link<ImageUp, ImageDown>, o: Offered): void {
    const { manifest, image, near = false } = o;
    this.open.set(manifest.image, o);
    link.up({ type: 'offer', task: manifest.task, incarnation: manifest.incarnation, manifest, image, near });
  }

  /** What a wave waits for is offered until it is answered. */
  private offerAgain(o: Offered): void {
    this.node.after(AGAIN_MS, () => {
      const link = this.connected();
      if (link) this.offer(link, o);
      else this.offerAgain(o);
    });
  }

  private received(m: ImageDown): void {
    if (m.type === 'need') {
      this.link?.up({ type: 'pages', image: m.image, pages: m.pages });
      this.link?.up({ type: 'end', image: m.image });
    } else if (m.reply !== 'stored') {
      if (m.reply === 'complete')
        for (const { parked } of this.node.held.values()) if (parked?.image === m.image) parked.complete = true;
      const o = this.open.get(m.image);
      this.open.delete(m.image);
      o?.over?.();
    }
  }

  hold(until: number, hit: () => void): void {
    this.link?.hold(until, hit);
  }

  double(until: number, hit: () => void): void {
    this.link?.double(until, hit);
  }

  break(tellServer: number | undefined, tellMe: number | undefined): void {
    this.link?.break(tellServer, tellMe);
  }
}

/** Messages that an image has of each sender and that were not consumed. */
function lying({ channels = [], carried = [] }: TeamPart): Map<number, number> {
  const lie = new Map<number, number>();
  for (const of of [channels, ...carried.map((b) => b.channels)])
    for (const [src, messages] of of) lie.set(src, (lie.get(src) ?? 0) + messages.length);
  return lie;
}
