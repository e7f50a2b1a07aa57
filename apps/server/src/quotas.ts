/**
 * Quotas: what each owner may use at once. Checked here when a job is submitted (jobs, bytes), and by the dispatcher
 * when it gives slots away (slots).
 *
 * Owns the registry keys `quota/<owner>`: what was set for an owner. Does not own: the limits of all owners (options),
 * what is in use (the runtime).
 *  Q1  An owner without a record has the limits of all; the owner of the first token, who can set them, has none then.
 *  Q2  Submissions that are under way count as jobs, with their bytes, from their check on: two at once cannot both
 *      take what is left.
 *      So do bytes of standard input that are typed into a job.
 *  Q3  A limit that is lowered, or reached by a running job, ends nothing: the next submission is refused.
 */
import { isOver, ownerOf, slotsByOwner, type SlotQuotas } from '@mayfly/protocols';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError, RESERVED_NAMES, type Limits, type QuotaView, type QuotaWish } from '@mayfly/wire';
import type { Runtime } from './runtime.ts';

type Used = QuotaView['used'];

const MOST = 10_000;
const keyOf = (owner: string): string => `quota/${owner}`;
const KINDS = ['slots', 'jobs', 'bytes'] as const;

/** A submission under way. */
export interface Admitted {
  brings(more: number): void;
  done(): void;
}

export class Quotas {
  readonly #registry: Registry;
  readonly #each: Limits;
  readonly #own: Map<string, QuotaWish>;
  /** Q2 */
  readonly #coming = new Map<string, { jobs: number; bytes: number }>();
  /** Called when slots that somebody may use have changed. */
  onChange: () => void = () => undefined;

  private constructor(registry: Registry, each: Limits, own: Map<string, QuotaWish>) {
    this.#registry = registry;
    this.#each = each;
    this.#own = own;
  }

  /** `each`: the limits of all owners. */
  static async open(registry: Registry, each: Limits): Promise<Quotas> {
    const own = new Map<string, QuotaWish>();
    for (const [key, value] of await registry.entries('quota/'))
      own.set(key.slice('quota/'.length), value as QuotaWish);
    return new Quotas(registry, each, own);
  }

  /** Q1. */
  limitsOf(owner: string): Limits {
    const own = this.#own.get(owner) ?? {};
    const each = RESERVED_NAMES.includes(owner) ? {} : this.#each;
    const limits: Limits = {};
    for (const kind of KINDS) {
      const limit = own[kind] === undefined ? each[kind] : (own[kind] ?? undefined);
      if (limit !== undefined) limits[kind] = limit;
    }
    return limits;
  }

  /** For the dispatcher. */
  slots(): SlotQuotas {
    const named = new Set([...RESERVED_NAMES, ...this.#own.keys()]);
    return { each: this.#each.slots, of: new Map([...named].map((o) => [o, this.limitsOf(o).slots])) };
  }

  /** `wish` undefined: the limits of all from now on. @throws MayflyError TOO_MANY, DISK_FULL, STORAGE_FAILED */
  async set(owner: string, wish: QuotaWish | undefined): Promise<void> {
    const before = this.#own.get(owner);
    if (wish && !before && this.#own.size >= MOST)
      throw new MayflyError('TOO_MANY', `There are ${MOST} owners with a quota of their own; clear some first.`);
    const put = (value: QuotaWish | undefined): void =>
      void (value ? this.#own.set(owner, value) : this.#own.delete(owner));
    put(wish);
    try {
      await this.#registry.commit([[keyOf(owner), wish]]);
    } catch (error) {
      put(before);
      throw error;
    }
    this.onChange();
  }

  /**
   * Q2: a job of so many ranks that brings so many bytes. Until `done` is called, with the job there or not, it counts.
   * `brings` has more of them that the job turns out to bring: its programs, when they are compiled.
   *
   * @throws MayflyError QUOTA_EXCEEDED, as `brings` does
   */
  admit(owner: string, job: { size: number; bytes: number }, runtime: Runtime): Admitted {
    const { slots, jobs, bytes } = this.limitsOf(owner);
    const use = (): Used => useOf(runtime).get(owner) ?? nothing();
    if (slots !== undefined && job.size > slots)
      throw exceeded(
        `The job has ${job.size} ranks; the quota of ${owner} is ${slots} slot${slots === 1 ? '' : 's'} at once.`,
      );
    const coming = this.#coming.get(owner) ?? { jobs: 0, bytes: 0 };
    const used = jobs === undefined && bytes === undefined ? nothing() : use();
    if (jobs !== undefined && used.jobs + coming.jobs >= jobs)
      throw exceeded(
        `${owner} has ${used.jobs + coming.jobs} jobs that wait or run; the quota is ${jobs}. ` +
          'Cancel one, or wait until one has ended.',
      );
    /** Of which `more` come now. */
    const needRoom = (brought: number, more: number, now: () => Used): void => {
      const { bytes } = this.limitsOf(owner);
      if (bytes === undefined) return;
      const held = now().bytes + coming.bytes - (brought - more);
      if (held + brought > bytes || held >= bytes)
        throw exceeded(
          `The jobs of ${owner} hold ${size(held)}, and this one brings ${size(brought)}; the quota is ${size(bytes)}. ` +
            'Delete jobs that have ended: all that is stored of them goes, too.',
        );
    };
    needRoom(job.bytes, job.bytes, () => used);
    let brought = job.bytes;
    coming.jobs++;
    coming.bytes += job.bytes;
    this.#coming.set(owner, coming);
    let over = false;
    return {
      brings: (more) => {
        needRoom(brought + more, more, use);
        brought += more;
        coming.bytes += more;
      },
      done: () => {
        if (over) return;
        over = true;
        coming.jobs--;
        coming.bytes -= brought;
        this.#left(owner, coming);
      },
    };
  }

  /**
   * Q2: a job that is there already gets so many bytes more. They count until what this returns is called.
   * @throws MayflyError QUOTA_EXCEEDED
   */
  grows(owner: string, more: number, runtime: Runtime): () => void {
    const { bytes } = this.limitsOf(owner);
    const coming = this.#coming.get(owner) ?? { jobs: 0, bytes: 0 };
    if (bytes !== undefined) {
      const held = (useOf(runtime).get(owner) ?? nothing()).bytes + coming.bytes;
      if (held + more > bytes)
        throw exceeded(
          `The jobs of ${owner} hold ${size(held)}, and this would add ${size(more)}; the quota is ${size(bytes)}. ` +
            'Delete jobs that have ended: all that is stored of them goes, too.',
        );
    }
    coming.bytes += more;
    this.#coming.set(owner, coming);
    return () => {
      coming.bytes -= more;
      this.#left(owner, coming);
    };
  }

  #left(owner: string, coming: { jobs: number; bytes: number }): void {
    if (coming.jobs === 0 && coming.bytes === 0) this.#coming.delete(owner);
  }

  viewOf(owner: string, runtime: Runtime, use = useOf(runtime)): QuotaView {
    const own = this.#own.get(owner);
    return { owner, used: use.get(owner) ?? nothing(), limits: this.limitsOf(owner), ...(own && { own }) };
  }

  /** All owners that have jobs or a quota, and `also` those; the ones with the most slots in use first. */
  list(runtime: Runtime, also: Iterable<string>): QuotaView[] {
    const use = useOf(runtime);
    return [...new Set([...use.keys(), ...this.#own.keys(), ...also])]
      .map((owner) => this.viewOf(owner, runtime, use))
      .sort((a, b) => b.used.slots - a.used.slots || b.used.jobs - a.used.jobs || (a.owner < b.owner ? -1 : 1));
  }
}

const nothing = (): Used => ({ slots: 0, jobs: 0, bytes: 0 });
const exceeded = (message: string): MayflyError => new MayflyError('QUOTA_EXCEEDED', message);
const size = (bytes: number): string =>
  bytes < 1e6
    ? `${Math.ceil(bytes / 1e3)} kB`
    : bytes < 1e9
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${(bytes / 1e9).toFixed(2)} GB`;

/** What the jobs of each owner use. */
function useOf(runtime: Runtime): Map<string, Used> {
  const out = new Map<string, Used>();
  const slots = slotsByOwner(runtime.dispatcher.core);
  for (const [id, { record }] of runtime.dispatcher.core.core.jobs) {
    const owner = ownerOf(record.spec);
    const used = out.get(owner) ?? { ...nothing(), slots: slots.get(owner) ?? 0 };
    if (!isOver(record.state)) used.jobs++;
    used.bytes += runtime.intake.bytesOf(id);
    out.set(owner, used);
  }
  return out;
}
