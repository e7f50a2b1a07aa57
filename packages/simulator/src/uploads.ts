/**
 * A simulated node's images: taken when they are due, cut into pages, offered to the Checkpoint Server over a link of
 * their own.
 */
import { IMAGE_FORMAT, imageIdOf, type ImageId, type Manifest } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import type { CsHost } from './cs-host.ts';
import type { Link, LinkEnds } from './link.ts';
import type { ImageDown, ImageUp } from './messages.ts';
import type { SimImage } from './rank.ts';
import type { Simulation } from './simulation.ts';

/** A node that uploads images. */
export interface UploadingNode {
  /** It runs, and so does the server. */
  readonly here: boolean;
  readonly world: Simulation & {
    readonly server: { readonly cs: Pick<CsHost, 'accept'> };
    pageHash(text: string): string;
  };
  link<U, D>(ends: LinkEnds<U, D>): Link<U, D>;
  /** `f`, held back while the node is frozen and dropped when it is dead. */
  live(f: () => void): () => void;
}

/**
 * Characters of an image's text on one page: small, so that images share pages and a flipped bit hits one of several.
 */
const PAGE_CHARS = 160;

export class Uploads {
  private link: Link<ImageUp, ImageDown> | undefined;
  private readonly open = new Map<ImageId, Manifest>();

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
          this.open.clear();
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
    if (world.agenda.now < h.nextCheckpoint) return;
    const { endpoint } = h.rank!;
    const line = JSON.stringify(endpoint.position([]));
    if (line === h.lastLine) return; // nothing has happened since the last one
    const link = this.connected();
    if (!link) return;
    h.nextCheckpoint = world.agenda.now + world.setup.checkpointMs;
    const image = take();
    h.lastLine = line;
    const serial = ++h.serial;
    const text = JSON.stringify(image);
    const pages: string[] = [];
    for (let i = 0; i < text.length; i += PAGE_CHARS) pages.push(world.pageHash(text.slice(i, i + PAGE_CHARS)));
    const id = imageIdOf(world.setup.job, h.task, h.incarnation, serial);
    const manifest: Manifest = {
      format: IMAGE_FORMAT,
      image: id,
      job: world.setup.job,
      task: h.task,
      incarnation: h.incarnation,
      program: world.setup.program,
      serial,
      position: endpoint.position(image.held),
      sections: [{ name: 'sim', bytes: text.length }],
      pages,
      bytes: text.length,
    };
    this.open.set(id, manifest);
    link.up({ type: 'offer', task: h.task, incarnation: h.incarnation, manifest, image });
  }

  private received(m: ImageDown): void {
    if (m.type === 'need') {
      this.link?.up({ type: 'pages', image: m.image, pages: m.pages });
      this.link?.up({ type: 'end', image: m.image });
    } else if (m.reply !== 'stored') this.open.delete(m.image);
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
