/**
 * Parity of images at a node (docs/codes.md): the ranks here as members of parity groups, and the checksums that it
 * holds for others. Hosts `ParityMember` and `ParityHolder` (packages/checkpoint/src/parity); all bytes pass here.
 *
 * Owns: the groups of this connection, the checksums, and which images wait for the answer whether they are protected.
 * Does not own: images of the ranks here (LocalImages), when a rank takes one (comm worker).
 *
 *  E1 An image that the comm worker asks about is answered once: protected by all holders, or not (no group, no time, a
 *     lost connection). Then it goes to the server whole.
 *  E2 An image is in the local store before its change leaves (Z3), and stays there as long as a holder may need it
 *     ({@link Parity.pinned}), also when its rank has ended.
 *  E3 Holders apply a change after the server has its image as complete: what level 1 can make again is always an image
 *     from which a rank may restart.
 *  E4 All groups end with the connection: what was on its way is not known (Z8).
 *  E5 Checksums live in this thread's memory, {@link MOST_BYTES} of them: whoever closes or reloads it is lost as a
 *     holder.
 */
import {
  ChecksumPages,
  ParityHolder,
  ParityMember,
  changedPages,
  sumOf,
  type HolderEffect,
  type MemberEffect,
} from '@mayfly/checkpoint/parity';
import { cauchy } from '@mayfly/checkpoint/codes';
import type { LocalImages } from '@mayfly/checkpoint';
import {
  PAGE_BYTES,
  PARITY_PAGES,
  type ImageId,
  type JobId,
  type Manifest,
  type ParityHave,
  type ParityOrder,
  type ParityPart,
  type ParityRead,
  type TaskId,
} from '@mayfly/wire';

/** An image that not all holders have prepared by then goes to the server whole. */
const PREPARE_MS = 15_000;
/** Of checksums and prepared changes. */
const MOST_BYTES = 512 * 1024 * 1024;

export interface ParityParts {
  readonly images: Pick<LocalImages, 'page' | 'forget'>;
  after(ms: number, run: () => void): () => void;
  /** To the other end, through the server; false: it did not arrive. */
  send(part: ParityPart, pages: Uint8Array | undefined): Promise<boolean>;
  /** E1. */
  answer(job: JobId, task: TaskId, image: ImageId, isProtected: boolean): void;
  note(job: JobId, text: string): void;
}

interface Member {
  readonly order: Extract<ParityOrder, { kind: 'member' }>;
  readonly core: ParityMember;
  readonly coefficients: readonly number[];
  readonly manifests: Map<number, Manifest>;
  /** All holders have prepared it. */
  reported: number;
  /** Its rank has finished: its images go when the group ends. */
  over: boolean;
  /** Effects, one after the other. */
  work: Promise<void>;
  cancel: (() => void) | undefined;
}
interface Holder {
  readonly order: Extract<ParityOrder, { kind: 'holder' }>;
  readonly core: ParityHolder;
  readonly bytes: ChecksumPages;
  /** Of changes that have not come whole, by member. */
  readonly coming: Map<number, { version: number; pages: Map<number, Uint8Array> }>;
}
/** The newest image of a rank here. */
interface Newest {
  readonly manifest: Manifest;
  complete: boolean;
  /** E1: nobody has been answered yet. */
  waits: boolean;
}

const keyOf = (job: JobId, task: TaskId): string => `${job}/${task}`;

export class Parity {
  readonly #parts: ParityParts;
  readonly #members = new Map<string, Member>();
  readonly #holders = new Map<string, Holder>();
  readonly #newest = new Map<string, Newest>();

  constructor(parts: ParityParts) {
    this.#parts = parts;
  }

  // ── what the ranks here do ─────────────────────────────────────────────────────────────────────────────────────────

  /** E2: images that the local store has to keep. */
  pinned(job: JobId, task: TaskId): Set<ImageId> {
    return new Set([...this.#seats(job, task)].flatMap((m) => [...m.manifests.values()].map((x) => x.image)));
  }

  /** A rank has taken an image, which is in the local store. `waits`: the comm worker does (E1). */
  kept(manifest: Manifest, waits: boolean): void {
    const { job, task } = manifest;
    this.#newest.set(keyOf(job, task), { manifest, complete: false, waits });
    const seat = this.#seatOf(manifest);
    if (!seat) return this.#answer(manifest, false);
    this.#take(seat, manifest);
  }

  /** It could not be kept in the local store. */
  unkept(manifest: Manifest): void {
    this.#newest.set(keyOf(manifest.job, manifest.task), { manifest, complete: false, waits: true });
    this.#answer(manifest, false);
  }

  /** The server has the image, or knows that level 1 does (E3). */
  complete(job: JobId, task: TaskId, image: ImageId): void {
    const newest = this.#newest.get(keyOf(job, task));
    if (newest?.manifest.image !== image) return;
    newest.complete = true;
    const { manifest } = newest;
    const seat = this.#seatOf(manifest);
    if (seat?.reported === manifest.serial) this.#step(seat, { kind: 'decided', version: manifest.serial });
  }

  /**
   * The rank is not here any more. `finished`: its program has ended. @returns whether its images have to stay until
   * its group ends (E2)
   */
  left(job: JobId, task: TaskId, finished: boolean): boolean {
    this.#newest.delete(keyOf(job, task));
    if (!finished) return true;
    let stays = false;
    for (const m of this.#seats(job, task)) stays = m.over = true;
    return stays;
  }

  *#seats(job: JobId, task: TaskId): Generator<Member, void> {
    for (const m of this.#members.values()) if (m.order.job === job && m.order.task === task) yield m;
  }

  #seatOf(m: Manifest): Member | undefined {
    return [...this.#seats(m.job, m.task)].find(({ order }) => order.incarnation === m.incarnation);
  }

  #take(seat: Member, manifest: Manifest): void {
    const { serial } = manifest;
    // One whose completion was never heard of makes room; one that holders apply already stays.
    for (const pending of seat.core.images.slice(1)) this.#step(seat, { kind: 'dropped', version: pending });
    seat.manifests.set(serial, manifest);
    this.#step(seat, { kind: 'image', version: serial });
    seat.cancel?.();
    seat.cancel = this.#parts.after(PREPARE_MS, () => {
      if (seat.reported === serial || this.#members.get(seat.order.group) !== seat) return;
      this.#parts.note(seat.order.job, `image ${manifest.image} could not be protected by parity in time`);
      this.#giveUp(seat, serial);
    });
  }

  #isComplete(seat: Member, version: number): boolean {
    const newest = this.#newest.get(keyOf(seat.order.job, seat.order.task));
    return newest?.manifest.serial === version && newest.complete;
  }

  /** Holders do not apply this image. */
  #giveUp(seat: Member, version: number): void {
    const manifest = seat.manifests.get(version);
    if (seat.reported !== version) this.#step(seat, { kind: 'dropped', version });
    if (manifest) this.#answer(manifest, false);
  }

  /** E1. */
  #answer({ job, task, image }: Manifest, isProtected: boolean): void {
    const newest = this.#newest.get(keyOf(job, task));
    if (newest?.manifest.image !== image || !newest.waits) return;
    newest.waits = false;
    this.#parts.answer(job, task, image, isProtected);
  }

  #step(seat: Member, event: Parameters<ParityMember['step']>[0]): void {
    const effects = seat.core.step(event);
    if (effects.length === 0) return;
    seat.work = seat.work.then(async () => {
      for (const e of effects) if (this.#members.get(seat.order.group) === seat) await this.#perform(seat, e);
    });
  }

  async #perform(seat: Member, e: MemberEffect): Promise<void> {
    const { group, member } = seat.order;
    const part = (kind: ParityPart['kind'], holder: number, version: number): ParityPart => ({
      group,
      member,
      holder,
      kind,
      version,
    });
    switch (e.kind) {
      case 'send-change':
        if (!(await this.#sendChange(seat, e.holder, e.base, e.version))) this.#giveUp(seat, e.version);
        return;
      case 'send-apply':
        await this.#parts.send(part('apply', e.holder, e.version), undefined);
        return;
      case 'send-drop':
        await this.#parts.send(part('drop', e.holder, e.version), undefined);
        return;
      case 'report-prepared': {
        seat.reported = e.version;
        const manifest = seat.manifests.get(e.version);
        if (this.#isComplete(seat, e.version)) this.#step(seat, { kind: 'decided', version: e.version });
        else if (manifest) this.#answer(manifest, true);
        return;
      }
      case 'forget':
        seat.manifests.delete(e.version);
    }
  }

  /** @returns whether the holder has it, and it is still wanted */
  async #sendChange(seat: Member, holder: number, base: number, version: number): Promise<boolean> {
    const { manifests, order } = seat;
    const [before, after] = [manifests.get(base), manifests.get(version)];
    if (!after || (base > 0 && !before)) return false;
    const head = { group: order.group, member: order.member, holder, version };
    const changed = changedPages(before?.pages, after.pages);
    const coefficient = seat.coefficients[holder]!;
    for (let i = 0; i < changed.length; i += PARITY_PAGES) {
      const pages = changed.slice(i, i + PARITY_PAGES);
      const bytes = new Uint8Array(pages.length * PAGE_BYTES);
      for (const [k, index] of pages.entries()) {
        const sides = [await this.#page(before, index), await this.#page(after, index)];
        if (sides.includes('missing')) return false;
        bytes.set(sumOf(sides.map((page) => ({ coefficient, page: page as Uint8Array | undefined }))), k * PAGE_BYTES);
      }
      if (this.#members.get(order.group) !== seat || !seat.manifests.has(version)) return false;
      if (!(await this.#parts.send({ ...head, kind: 'page', pages }, bytes))) return false;
    }
    return this.#parts.send({ ...head, kind: 'change', base }, undefined);
  }

  /** Undefined: a page of zeros. */
  async #page(of: Manifest | undefined, index: number): Promise<Uint8Array | 'missing' | undefined> {
    const name = of?.pages[index] ?? '';
    return name === '' ? undefined : ((await this.#parts.images.page(name)) ?? 'missing');
  }

  // ── what the server and other nodes want ───────────────────────────────────────────────────────────────────────────

  order(o: ParityOrder): void {
    if (o.kind === 'end') return this.#end(o.group);
    if (o.kind === 'holder') {
      const none = Array.from({ length: o.members }, () => undefined);
      const core = new ParityHolder({ applied: none.map(() => 0), prepared: none });
      this.#holders.set(o.group, { order: o, core, bytes: new ChecksumPages(), coming: new Map() });
      return;
    }
    const holders = Array.from({ length: o.checksums }, (_, h) => h);
    const seat: Member = {
      order: o,
      core: new ParityMember({ holders, stable: 0, decides: 'wave' }),
      coefficients: cauchy(o.checksums, o.members).map((row) => row[o.member]!),
      manifests: new Map(),
      reported: 0,
      over: false,
      work: Promise.resolve(),
      cancel: undefined,
    };
    this.#members.set(o.group, seat);
    // What it had before the group began.
    const newest = this.#newest.get(keyOf(o.job, o.task));
    if (newest?.manifest.incarnation === o.incarnation) this.#take(seat, newest.manifest);
  }

  /** E4. */
  disconnected(): void {
    for (const group of [...this.#members.keys(), ...this.#holders.keys()]) this.#end(group);
  }

  #end(group: string): void {
    this.#holders.delete(group);
    const seat = this.#members.get(group);
    if (!seat) return;
    this.#members.delete(group);
    seat.cancel?.();
    const { job, task } = seat.order;
    for (const manifest of seat.manifests.values()) this.#answer(manifest, false);
    if (seat.over && this.pinned(job, task).size === 0)
      void this.#parts.images.forget(job, task).catch(() => undefined);
  }

  /** From another node. @returns whether it was taken */
  part(p: ParityPart, pages: Uint8Array | undefined): boolean {
    if (p.kind === 'prepared' || p.kind === 'applied') {
      const seat = this.#members.get(p.group);
      if (seat) this.#step(seat, { kind: p.kind, holder: p.holder, version: p.version });
      return seat !== undefined;
    }
    const h = this.#holders.get(p.group);
    if (!h) return false;
    const { member, version } = p;
    if (p.kind === 'page') return this.#takePage(h, p, pages);
    if (p.kind === 'change') {
      const change = h.coming.get(member);
      h.coming.delete(member);
      const held = change?.version === version ? change.pages : new Map<number, Uint8Array>();
      this.#hold(h, h.core.step({ kind: 'change', member, base: p.base ?? 0, version }), held);
    } else this.#hold(h, h.core.step({ kind: p.kind, member, version }), new Map());
    return true;
  }

  #takePage(h: Holder, { member, version, pages = [] }: ParityPart, bytes: Uint8Array | undefined): boolean {
    if (bytes?.length !== pages.length * PAGE_BYTES || this.#bytes() + bytes.length > MOST_BYTES) return false;
    let change = h.coming.get(member);
    if (change?.version !== version) h.coming.set(member, (change = { version, pages: new Map() }));
    for (const [k, index] of pages.entries())
      change.pages.set(index, bytes.slice(k * PAGE_BYTES, (k + 1) * PAGE_BYTES));
    return true;
  }

  #bytes(): number {
    let n = 0;
    for (const h of this.#holders.values()) {
      n += h.bytes.bytes;
      for (const c of h.coming.values()) n += c.pages.size * PAGE_BYTES;
    }
    return n;
  }

  #hold(h: Holder, effects: readonly HolderEffect[], change: ReadonlyMap<number, Uint8Array>): void {
    const { group, holder, job } = h.order;
    for (const e of effects)
      switch (e.kind) {
        case 'store':
          h.bytes.store(e.member, change);
          break;
        case 'fold':
          h.bytes.fold(e.member);
          break;
        case 'discard':
          h.bytes.discard(e.member);
          break;
        case 'send-prepared':
        case 'send-applied': {
          const kind = e.kind === 'send-prepared' ? 'prepared' : 'applied';
          void this.#parts.send({ group, holder, member: e.member, kind, version: e.version }, undefined);
          break;
        }
        case 'report-broken':
          this.#parts.note(job, `a change of member ${e.member} of parity group ${group} does not fit its checksum`);
      }
  }

  /** Z8. */
  have(group: string): ParityHave {
    const holder = this.#holders.get(group)?.core.have;
    if (holder)
      return { applied: holder.applied.map((v) => v ?? null), prepared: holder.prepared.map((v) => v ?? null) };
    const member = this.#members.get(group)?.core;
    return member ? { images: [...member.images] } : {};
  }

  /** Pages of images here. */
  async #own(names: readonly string[]): Promise<Uint8Array | undefined> {
    const out = new Uint8Array(names.length * PAGE_BYTES);
    for (const [k, name] of names.entries()) {
      const page = await this.#parts.images.page(name);
      if (!page) return undefined;
      out.set(page, k * PAGE_BYTES);
    }
    return out;
  }

  /** The sum of these terms for each page; undefined: it does not have them. */
  async read({ group, terms, pages, names }: ParityRead): Promise<Uint8Array | undefined> {
    if (names) return this.#own(names);
    const out = new Uint8Array(pages.length * PAGE_BYTES);
    const member = this.#members.get(group);
    const holder = this.#holders.get(group);
    for (const [k, index] of pages.entries()) {
      const parts: { coefficient: number; page: Uint8Array | undefined }[] = [];
      for (const { coefficient, of } of terms) {
        let page: Uint8Array | 'missing' | undefined;
        if (of.kind === 'image') {
          if (!member || (of.version > 0 && !member.manifests.has(of.version))) return undefined;
          page = await this.#page(member.manifests.get(of.version), index);
        } else if (!holder) return undefined;
        else page = of.kind === 'checksum' ? holder.bytes.page(index) : holder.bytes.prepared(of.member, index);
        if (page === 'missing') return undefined;
        parts.push({ coefficient, page });
      }
      out.set(sumOf(parts), k * PAGE_BYTES);
    }
    return out;
  }
}
