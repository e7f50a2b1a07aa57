/**
 * Parity of images between nodes, at the server (docs/codes.md): forms the groups of each job that asks for it, relays
 * between their nodes, and makes lost images again.
 *
 * Hosts `JobGroups` and `decodePlan` (packages/checkpoint/src/parity). Owns: the groups, all of them losable. Does not
 * own: which images count (Checkpoint Server core), the connections (node-sockets.ts).
 *
 *  G1 A node is its connection here: one that comes back is another one, and so is the server that starts again.
 *  G2 Every `rebuild` is answered, whatever the nodes do.
 *  G3 What a node sends of a page counts only if the sum of all has the hash of the manifest: `putPage` checks it.
 *  G4 An image whose node is there comes from that node (a rollback of all ranks wants the images of all).
 *  G5 After a restart of the server there are no groups, and an image is fetched from a node that has it in its own
 *     store; one may take the time in which nodes come back.
 *
 * The sums are formed here and not from node to node: as all bytes pass the server anyway, each goes up once and none
 * down.
 */
import { JobGroups, decodePlan, type GroupOrder, type HolderState, type JobGroup } from '@mayfly/checkpoint/parity';
import { isOver, type JobService, type JobSpec } from '@mayfly/protocols';
import type { ImageStore } from '@mayfly/storage/ports';
import {
  MAX_MEMBERS,
  PAGE_BYTES,
  PARITY_PAGES,
  wholeEveryOf,
  type Incarnation,
  type JobId,
  type Manifest,
  type ParityHave,
  type ParityOrder,
  type ParityPart,
  type ParityRead,
  type ParityTerm,
  type ParityView,
  type TaskId,
} from '@mayfly/wire';
import { clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { randomId } from '../secrets.ts';

/** What is needed of the connections of nodes. */
export interface ParitySockets {
  /** Open, welcome, and of a node that knows of parity. */
  takesParity(connection: string): boolean;
  order(connection: string, order: ParityOrder): void;
  relay(connection: string, part: ParityPart, pages: Uint8Array | undefined): Promise<boolean>;
  /** Undefined: no answer, or not a valid one. */
  have(connection: string, group: string): Promise<ParityHave | undefined>;
  read(connection: string, read: ParityRead): Promise<Uint8Array | undefined>;
}

interface Parity {
  readonly groups: JobGroups<string>;
  readonly checksums: number;
  readonly wholeEvery: number;
  rebuilt: number;
  fellBack: number;
  reason: string | undefined;
  /** As last shown. */
  shown: string;
}

/** Groups follow the ranks so often. */
const TICK_MS = 250;

export class ParityHost {
  readonly #service: JobService;
  readonly #sockets: ParitySockets;
  readonly #images: Pick<ImageStore, 'getPage' | 'ownPages' | 'putPage'>;
  readonly #logger: Logger;
  /** What is shown of the job's parity has changed. */
  onChange: (job: JobId) => void = () => undefined;
  readonly #jobs = new Map<JobId, Parity>();
  /** Of this start of the server. */
  readonly #era = randomId(6);
  #since = clock();

  constructor(parts: {
    service: JobService;
    sockets: ParitySockets;
    images: Pick<ImageStore, 'getPage' | 'ownPages' | 'putPage'>;
    logger: Logger;
  }) {
    this.#service = parts.service;
    this.#sockets = parts.sockets;
    this.#images = parts.images;
    this.#logger = parts.logger;
  }

  start(): NodeJS.Timeout {
    this.#since = clock();
    return setInterval(() => this.#tick(), TICK_MS);
  }

  /** Looks at all jobs: who runs where, and which nodes may hold checksums. */
  #tick(): void {
    const { core } = this.#service.dispatcher;
    for (const { record } of core.jobs.values())
      if (record.spec.parity && !isOver(record.state)) this.#observe(record.spec);
    for (const job of this.#jobs.keys()) {
      const record = core.jobs.get(job)?.record;
      if (!record || isOver(record.state)) this.#over(job);
    }
  }

  #observe(spec: JobSpec): void {
    const { core } = this.#service.dispatcher;
    const { id, parity } = spec;
    const job = core.jobs.get(id);
    if (!job || !parity) return;
    let p = this.#jobs.get(id);
    if (!p) {
      const groups = new JobGroups<string>(`${id}-${this.#era}`, parity.checksums, MAX_MEMBERS);
      const { checksums } = parity;
      const wholeEvery = wholeEveryOf(parity);
      p = { groups, checksums, wholeEvery, rebuilt: 0, fellBack: 0, reason: undefined, shown: '' };
      this.#jobs.set(id, p);
    }
    const nodes = [...core.nodes.values()]
      .filter((n) => n.room === spec.room && n.connection !== undefined && !n.presence.left)
      // Those with the fewest ranks hold first.
      .sort((a, b) => a.tasks.size - b.tasks.size || a.since - b.since)
      .flatMap((n) => (this.#sockets.takesParity(n.connection!) ? [n.connection!] : []));
    const tasks = job.tasks.map((t) => {
      const active = t.phase !== 'done' && t.phase !== 'exiting' && t.phase !== 'ended';
      const at = t.phase === 'running' || !active ? t.node : undefined;
      const connection = at === undefined ? undefined : core.nodes.get(at)?.connection;
      // Under waves, one that has ended goes back as well.
      const needed = active || this.#service.images.nearOf(id, t.task).image !== undefined;
      return { task: t.task, incarnation: t.incarnation ?? 0, node: connection, active, needed };
    });
    this.#send(id, p, p.groups.observe(tasks, nodes));
    const shown = JSON.stringify(this.view(id));
    if (shown === p.shown) return;
    p.shown = shown;
    this.onChange(id);
  }

  #send(job: JobId, { checksums }: Parity, orders: readonly GroupOrder<string>[]): void {
    for (const { node, ...o } of orders)
      if (o.kind === 'end') this.#sockets.order(node, o);
      else if (o.kind === 'holder') this.#sockets.order(node, { ...o, job, checksums });
      else
        this.#sockets.order(node, {
          ...o,
          job,
          checksums,
          task: o.task as TaskId,
          incarnation: o.incarnation as Incarnation,
        });
  }

  #over(job: JobId): void {
    const p = this.#jobs.get(job)!;
    this.#jobs.delete(job);
    const nodes = p.groups.groups.flatMap((g) => [...g.members.map((m) => m.node), ...g.holders]);
    this.#send(job, p, p.groups.end(nodes));
  }

  /** From a node to another one of its group. @returns whether that one has taken it */
  async part(connection: string, part: ParityPart, pages: Uint8Array | undefined): Promise<boolean> {
    for (const { groups } of this.#jobs.values()) {
      const to = groups.relay(connection, part);
      if (to !== undefined) return this.#sockets.relay(to, part, pages);
    }
    return false;
  }

  view(job: JobId): ParityView | undefined {
    const p = this.#jobs.get(job);
    if (!p) return undefined;
    const { checksums, wholeEvery, rebuilt, fellBack, reason } = p;
    let [images, savedBytes, sentBytes] = [0, 0, 0];
    for (const t of this.#service.dispatcher.core.jobs.get(job)?.tasks ?? []) {
      const near = this.#service.images.nearOf(job, t.task);
      images += near.images;
      savedBytes += near.savedBytes;
      sentBytes += near.sentBytes;
    }
    return {
      checksums,
      wholeEvery,
      ...p.groups.protection(),
      images,
      savedBytes,
      sentBytes,
      rebuilt,
      fellBack,
      ...(reason === undefined ? {} : { reason }),
    };
  }

  // ── recovery ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** G2. @returns whether it was made of those of other nodes */
  async rebuild(manifest: Manifest): Promise<boolean> {
    const { job, task, image } = manifest;
    let error: string | undefined;
    let decoded = false;
    try {
      ({ error, decoded = false } = await this.#rebuild(manifest));
    } catch (e) {
      this.#logger.warn({ err: e, job, task }, 'an image could not be made again from parity');
      error = e instanceof Error ? e.message : String(e);
    }
    const p = this.#jobs.get(job);
    if (p && decoded) p.rebuilt++;
    const what = decoded ? 'image made again from parity' : 'image fetched from its node';
    this.#logger.info({ job, task, image, error }, error === undefined ? what : 'no parity');
    this.#service.image({ type: 'rebuilt', image, ...(error === undefined ? {} : { error }) });
    return decoded;
  }

  /** A restart went back to level 2. */
  fellBack(job: JobId, reason: string): void {
    const p = this.#jobs.get(job);
    if (!p) return;
    p.fellBack++;
    p.reason = reason;
  }

  async #rebuild(manifest: Manifest): Promise<Outcome> {
    const p = this.#jobs.get(manifest.job);
    const group = p?.groups.freeze(manifest.task);
    if (!p || !group) return this.#fetch(manifest);
    const gone = new Set<string>();
    for (;;) {
      const outcome = await this.#attempt(manifest, group, p.checksums, gone);
      // A node did not answer: without it, if that is possible.
      if (!('silent' in outcome)) return outcome;
      gone.add(outcome.silent);
    }
  }

  async #attempt(
    manifest: Manifest,
    group: JobGroup<string>,
    checksums: number,
    gone: ReadonlySet<string>,
  ): Promise<Outcome | { silent: string }> {
    const target = group.members.findIndex((m) => m.task === manifest.task);
    const ask = (node: string): Promise<ParityHave | undefined> =>
      gone.has(node) ? Promise.resolve(undefined) : this.#sockets.have(node, group.id);
    const [members, holders] = await Promise.all([
      Promise.all(group.members.map((m) => ask(m.node))),
      Promise.all(group.holders.map(ask)),
    ]);
    const there = members[target]?.images?.includes(manifest.serial) ?? false;
    const images = members.map((h, j) => (j === target ? undefined : h?.images));
    const states = holders.map((h) => stateOf(h, group.members.length));
    const versions = group.members.map((_, j) => (j === target ? manifest.serial : undefined));
    const plan = there
      ? undefined
      : decodePlan({ members: group.members.length, checksums, holders: states, images, versions });
    if (!plan && !there) return { error: whyNot(images, states, target, manifest) };
    const sum = plan?.lost.findIndex((l) => l.member === target);
    const itself = { node: group.members[target]!.node, terms: [imageOf(manifest.serial)] };
    const stations = !plan
      ? [itself] // G4
      : plan.stations.flatMap(({ at, terms }) => {
          const mine = terms.flatMap(({ sum: of, ...term }): ParityTerm[] => (of === sum ? [term] : []));
          const node = at.kind === 'member' ? group.members[at.index]!.node : group.holders[at.index]!;
          return mine.length === 0 ? [] : [{ node, terms: mine }];
        });
    const wanted = await this.#wanted(manifest);
    for (let i = 0; i < wanted.length; i += PARITY_PAGES) {
      const some = wanted.slice(i, i + PARITY_PAGES);
      const pages = some.map((w) => w.index);
      const all = await Promise.all(
        stations.map(async ({ node, terms }) => ({
          node,
          sums: await this.#sockets.read(node, { group: group.id, terms, pages }),
        })),
      );
      const out = new Uint8Array(pages.length * PAGE_BYTES);
      for (const { node, sums } of all) {
        if (sums?.length !== out.length) return { silent: node };
        add(out, sums);
      }
      await this.#put(manifest, some, out);
    }
    return { decoded: !there };
  }

  /**
   * What complete images of the task name and can be read need not be made again; what is damaged must. A page of
   * somebody else is not enough: the manifest would name what its node never had (C21).
   */
  async #wanted({ job, task, pages }: Manifest): Promise<Wanted[]> {
    const names = [...new Set(pages)].filter((name) => name !== '');
    const complete = this.#service.images.imagesOf(job, task).map((i) => i.image);
    const own = await this.#images.ownPages(names, complete).catch(() => new Set<string>());
    const wanted: Wanted[] = [];
    for (const name of names) {
      // Read in any case: the store forgets a damaged copy then, and takes the page that is made again.
      const page = await this.#images.getPage(name).catch(() => undefined);
      if (!page || !own.has(name)) wanted.push({ name, index: pages.indexOf(name) });
    }
    return wanted;
  }

  /** G3. */
  async #put({ bytes }: Manifest, some: readonly Wanted[], sums: Uint8Array): Promise<void> {
    for (const [k, { name, index }] of some.entries()) {
      const length = Math.min(PAGE_BYTES, bytes - index * PAGE_BYTES);
      await this.#images.putPage(name, sums.slice(k * PAGE_BYTES, k * PAGE_BYTES + length));
    }
  }

  // ── after a restart of the server ──────────────────────────────────────────────────────────────────────────────────

  /** G5. */
  async #fetch(manifest: Manifest): Promise<Outcome> {
    const { job, task, image } = manifest;
    const { core } = this.#service.dispatcher;
    const room = core.jobs.get(job)?.record.spec.room;
    const t = core.find(job, task);
    const asked = new Set<string>();
    const until = this.#since + core.settings.restartGraceMs;
    for (;;) {
      for (const n of core.nodes.values()) {
        const at = n.connection;
        if (at === undefined || n.room !== room || asked.has(at) || !(t && n.images.get(t)?.includes(image))) continue;
        if (!this.#sockets.takesParity(at)) continue;
        asked.add(at);
        if (await this.#copy(manifest, at)) return {};
      }
      if (clock() >= until) break;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS).unref());
    }
    const error =
      asked.size > 0
        ? 'the node that has the image did not give all its pages'
        : 'the rank is in no parity group any more, and no node that is connected has its image';
    return { error };
  }

  /** @returns whether the node had all pages that are not here */
  async #copy(manifest: Manifest, node: string): Promise<boolean> {
    const wanted = await this.#wanted(manifest);
    for (let i = 0; i < wanted.length; i += PARITY_PAGES) {
      const some = wanted.slice(i, i + PARITY_PAGES);
      const [pages, names] = [some.map((w) => w.index), some.map((w) => w.name)];
      const sums = await this.#sockets.read(node, { group: '', terms: [], pages, names });
      if (sums?.length !== some.length * PAGE_BYTES) return false;
      await this.#put(manifest, some, sums);
    }
    return true;
  }
}

/** A page that is not here, by its place in the manifest. */
interface Wanted {
  readonly name: string;
  readonly index: number;
}

/** `decoded`: of the images and checksums of other nodes. */
interface Outcome {
  readonly error?: string;
  readonly decoded?: boolean;
}

const imageOf = (version: number): ParityTerm => ({ coefficient: 1, of: { kind: 'image', version } });

/** to ⊕= from. */
function add(to: Uint8Array, from: Uint8Array): void {
  for (let i = 0; i < to.length; i++) to[i] = to[i]! ^ from[i]!;
}

function stateOf(have: ParityHave | undefined, members: number): HolderState | undefined {
  const { applied, prepared } = have ?? {};
  if (applied?.length !== members || prepared?.length !== members) return undefined;
  return { applied: applied.map((v) => v ?? undefined), prepared: prepared.map((v) => v ?? undefined) };
}

function whyNot(
  images: readonly (readonly number[] | undefined)[],
  holders: readonly (HolderState | undefined)[],
  target: number,
  { serial }: Manifest,
): string {
  const lost = images.filter((have) => have === undefined).length;
  const left = holders.filter((h) => h !== undefined).length;
  if (lost > left)
    return `${lost} of the ${images.length} ranks of its parity group are lost and ${left} of ${holders.length} checksums left`;
  const shown = holders.flatMap((h) => (h ? [h.applied[target], h.prepared[target]] : []));
  return shown.includes(serial)
    ? 'too few checksums contain its image'
    : `no checksum contains its image ${serial} as its parity group began again`;
}
