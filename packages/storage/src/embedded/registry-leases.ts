/**
 * Leases of the registry (ports/registry.ts). One process has the data directory, so the holder of a lease, and its
 * end, are in memory; the epoch is a record, `lease/<name>` = {epoch}.
 *
 * Owns: the leases that are held. Does not own: the records, which the registry keeps.
 *
 *  E1  A lease is held by one at a time: the name is taken before its record is written, and is free again when its
 *      time has passed, when it is closed, or with the process.
 *  E2  The record of an epoch is durable before its holder hears of it, so an epoch never comes twice.
 */
import { MayflyError } from '@mayfly/wire';
import { LONGEST_LEASE_MS, type Expectation, type Lease, type Registry } from '../ports/index.ts';

export interface LeaseClock {
  /** Milliseconds, never backwards. */
  now(): number;
  /** Calls `ring` once, so many ms from now. @returns how to take that back */
  after(ms: number, ring: () => void): () => void;
}

export const systemClock: LeaseClock = {
  now: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms).unref();
    return () => clearTimeout(timer);
  },
};

export class Leases {
  readonly #records: Pick<Registry, 'get' | 'commit'>;
  readonly #clock: LeaseClock;
  /** By name; `'taken'`: its record is being written. */
  readonly #held = new Map<string, HeldLease | 'taken'>();
  #closed = false;

  constructor(records: Pick<Registry, 'get' | 'commit'>, clock: LeaseClock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** @throws MayflyError CONFLICT, BAD_REQUEST, or as the registry does */
  async take(name: string, ttlMs: number): Promise<Lease> {
    if (name === '') throw new MayflyError('BAD_REQUEST', 'a lease without a name');
    if (!(ttlMs >= 1 && ttlMs <= LONGEST_LEASE_MS))
      throw new MayflyError('BAD_REQUEST', `a lease of ${ttlMs} ms; it may last 1 to ${LONGEST_LEASE_MS} ms`);
    const holder = this.#held.get(name);
    if (holder === 'taken' || holder?.stillHeld())
      throw new MayflyError('CONFLICT', `the lease ${name} is held`, { lease: name });
    // E1
    this.#held.set(name, 'taken');
    try {
      const key = `lease/${name}`;
      const before = await this.#records.get(key);
      const record = { epoch: epochOf(key, before) + 1 };
      await this.#records.commit([[key, record]], { expect: [[key, before]] });
      if (this.#closed) throw new MayflyError('CONFLICT', 'the registry is closed');
      const lease = new HeldLease(name, record.epoch, [key, record], ttlMs, this.#clock, () => this.#held.delete(name));
      this.#held.set(name, lease);
      return lease;
    } catch (error) {
      this.#held.delete(name);
      throw error;
    }
  }

  /** The registry closes. */
  close(): void {
    this.#closed = true;
    for (const lease of this.#held.values()) if (lease !== 'taken') lease.end('the registry was closed');
  }
}

/** @throws MayflyError DAMAGED_DATA */
function epochOf(key: string, record: unknown): number {
  if (record === undefined) return 0;
  const { epoch } = (record ?? {}) as { epoch?: unknown };
  if (!Number.isSafeInteger(epoch) || (epoch as number) < 1)
    throw new MayflyError('DAMAGED_DATA', `the record ${key} of the registry has no epoch`);
  return epoch as number;
}

class HeldLease implements Lease {
  readonly #lost = new AbortController();
  readonly #ttlMs: number;
  readonly #clock: LeaseClock;
  readonly #free: () => void;
  #until = 0;
  #cancel = (): void => undefined;

  constructor(
    readonly name: string,
    readonly epoch: number,
    readonly fence: Expectation,
    ttlMs: number,
    clock: LeaseClock,
    free: () => void,
  ) {
    this.#ttlMs = ttlMs;
    this.#clock = clock;
    this.#free = free;
    this.#extend();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  #extend(): void {
    this.#cancel();
    this.#until = this.#clock.now() + this.#ttlMs;
    this.#cancel = this.#clock.after(this.#ttlMs, () => this.stillHeld());
  }

  /** Its timer may be late. */
  stillHeld(): boolean {
    if (!this.#lost.signal.aborted && this.#clock.now() >= this.#until) this.end('its time has passed');
    return !this.#lost.signal.aborted;
  }

  async renew(): Promise<void> {
    if (!this.stillHeld()) throw this.#lost.signal.reason;
    this.#extend();
  }

  async close(): Promise<void> {
    this.end('it was closed');
  }

  end(why: string): void {
    if (this.#lost.signal.aborted) return;
    this.#cancel();
    this.#free();
    this.#lost.abort(new MayflyError('CONFLICT', `the lease ${this.name} is lost: ${why}`, { lease: this.name }));
  }
}
