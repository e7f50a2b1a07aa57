/**
 * What a rank needs of the server and gives to it besides messages: its program, the image that it begins with, the
 * files that it reads, and the images that it takes.
 *
 * Owns: downloads, uploads, and the way to the pages that the daemon keeps. Does not own: when a rank runs, and what
 * becomes of it when something is missing (host.ts).
 */
import { cutImage, packPages, type CutImage } from '@mayfly/checkpoint';
import { ImageCost } from '@mayfly/protocols';
import { MayflyError, type ImageId, type Manifest, type TaskId } from '@mayfly/wire';
import type { ImageHead } from '../local-frames.ts';
import type { CommToDaemon, DaemonToComm } from '../messages.ts';
import type { Channel } from '../thread-ports.ts';
import { readStatus } from '../status.ts';
import { Fetcher } from './fetcher.ts';
import { ImageUploads } from './image-uploads.ts';
import { LocalPages } from './local-pages.ts';
import { imageBufferFor, manifestOf, setWith, staysNear, type Rank } from './rank.ts';
import type { CommSeams } from './seams.ts';

/** An image that stays here or goes to the server. */
interface Unsure {
  readonly manifest: Manifest;
  readonly cut: CutImage;
  readonly capability: string;
  /** Images of these tasks go the same way (C19). */
  readonly set: readonly TaskId[];
  /** Parity protects it; undefined: the daemon has not said so yet. */
  holds: boolean | undefined;
}

export class Supplies {
  private readonly fetcher: Fetcher;
  private readonly uploads: ImageUploads;
  private readonly pages: LocalPages;
  /** Of a job with parity, by task. */
  private readonly unsure = new Map<TaskId, Unsure>();

  constructor(
    server: string,
    private readonly seams: CommSeams,
    private readonly daemon: Channel<CommToDaemon, DaemonToComm>,
    private readonly ranks: ReadonlyMap<TaskId, Rank>,
    /** The image that the rank handed over last is complete at the server, or refused. */
    imageOver: (rank: Rank) => void,
  ) {
    const note = (text: string): void => this.daemon.post({ type: 'note', text });
    this.pages = new LocalPages(seams, (hash) => daemon.post({ type: 'page', hash }));
    this.fetcher = new Fetcher(server, seams, note);
    this.uploads = new ImageUploads(`${server}/data/image`, seams, {
      onComplete: (m, near) => {
        const rank = ranks.get(m.task);
        if (rank?.assignment.incarnation === m.incarnation) {
          rank.sinceWhole = near ? rank.sinceWhole + 1 : 0;
          if (!near) rank.wholeNext = false;
        }
        const last = rank !== undefined && rank.serial === m.serial && readStatus(rank.link.side.words).parked;
        daemon.post({ type: 'complete', task: m.task, image: m.image, bytes: m.bytes, last });
      },
      onRefused: (m, e) => note(`image ${m.image} was refused: ${e.code}: ${e.message}`),
      onIdle: (task) => {
        const rank = ranks.get(task);
        if (!rank) return;
        this.measured(rank);
        rank.link.imageDone();
        imageOver(rank);
      },
    });
  }

  /** What was on its way is stored, refused, or cut off. */
  private measured(rank: Rank): void {
    if (rank.imageSince === undefined) return;
    rank.imageCost ??= new ImageCost();
    rank.imageCost.took(this.seams.now() - rank.imageSince);
    rank.imageSince = undefined;
    rank.link.side.spacing = rank.imageCost.spaced(0);
  }

  private alive(rank: Rank): boolean {
    return this.ranks.get(rank.assignment.task) === rank;
  }

  /**
   * Gives the rank its program and its image. `local`: the daemon may have pages of it. @throws MayflyError when they
   * cannot be had, or the program is not for this node
   */
  async load(rank: Rank, local: boolean): Promise<void> {
    const a = rank.assignment;
    const alive = (): boolean => this.alive(rank);
    const [program, image] = await Promise.all([
      this.fetcher.program(a, alive),
      a.manifest
        ? this.fetcher.image(a, a.manifest, local ? (hash) => this.pages.get(hash) : undefined, alive)
        : undefined,
    ]);
    // By what it is: a script under the name of a module would have been cached as one, or come from a server that
    // lies.
    if (typeof program === 'string' && !rank.runs.includes('typescript'))
      throw new MayflyError(
        'PROGRAM_REFUSED',
        'the program is a script, and this volunteer runs WebAssembly programs only',
      );
    rank.program = program;
    if (typeof program !== 'string') rank.link.imageBuffer = imageBufferFor(program, a);
    rank.image = image;
    rank.imageReady = true;
  }

  /** A page that the daemon was asked for. */
  page(hash: string, bytes: Uint8Array | undefined): void {
    this.pages.answer(hash, bytes);
  }

  /** Answers a rank that reads a file. */
  async read(rank: Rank, path: string): Promise<void> {
    let bytes: Uint8Array | undefined;
    let why: string | undefined;
    try {
      bytes = await this.fetcher.file(rank.assignment, path, () => this.alive(rank));
    } catch (e) {
      why = e instanceof Error ? e.message : String(e);
    }
    if (this.alive(rank)) rank.link.content(bytes, why);
  }

  /** Keeps an image that the rank has taken, and uploads it. */
  async image(rank: Rank, head: ImageHead, sections: Map<string, Uint8Array>): Promise<void> {
    const a = rank.assignment;
    rank.serial = head.serial;
    rank.imageSince ??= this.seams.now();
    const cut = await cutImage(
      [...sections].map(([name, bytes]) => ({ name, bytes })),
      () => new Promise((resolve) => this.seams.soon(resolve)),
    );
    if (!this.alive(rank)) return;
    const manifest = manifestOf(a, head, cut);
    const fresh = packPages(new Map([...cut.data].filter(([hash]) => !rank.kept.has(hash))));
    rank.kept = new Set(cut.data.keys());
    const { wholeEvery } = a;
    const near = wholeEvery !== undefined && staysNear(rank, manifest, wholeEvery);
    const parity = wholeEvery === undefined ? undefined : near ? 'waits' : 'whole';
    this.daemon.post({ type: 'keep', manifest, fresh, ...(parity && { parity }) }, [fresh.bytes.buffer]);
    const { capability } = a;
    if (!parity) return this.uploads.add(manifest, cut, capability);
    const set = setWith(rank, manifest);
    this.unsure.set(a.task, { manifest, cut, capability, set, holds: near ? undefined : false });
    this.goes(set);
  }

  /** All images of a set stay, or all go to the server, once it is known of each whether it may stay. */
  private goes(set: readonly TaskId[]): void {
    const all = set.flatMap((t) => this.unsure.get(t) ?? []);
    if (all.length < set.length || all.some((u) => u.holds === undefined)) return;
    const near = all.every((u) => u.holds);
    for (const { manifest, cut, capability } of all) {
      this.unsure.delete(manifest.task);
      this.uploads.add(manifest, cut, capability, near);
    }
  }

  /** What the daemon says of an image: it stays with the nodes, or goes to the server whole. */
  protectedBy(task: TaskId, image: ImageId, holds: boolean): void {
    const u = this.unsure.get(task);
    if (u?.manifest.image !== image) return;
    u.holds = holds;
    this.goes(u.set);
  }

  /** The task has left: nothing more of it is uploaded. */
  forget(task: TaskId): void {
    this.unsure.delete(task);
    this.uploads.forget(task);
  }
}
