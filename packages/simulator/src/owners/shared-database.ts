/**
 * A storage that several servers share, as far as leases and epochs go: what the statements of
 * storage/src/postgres/{ownership,database}.ts do in PostgreSQL, with the locks that they wait for.
 *
 * Owns: the lease, the epoch that writes must have, the rows, the transactions under way, whose session holds the lock.
 *
 *  B1  A write holds the epoch from its begin to its end; who takes the lease waits for it.
 *  B2  A crash forgets transactions and sessions, never what was committed.
 */
import type { Sight } from '@mayfly/protocols';
import type { Agenda } from '../agenda.ts';
import { Violation } from '../violation.ts';

export interface Row {
  readonly epoch: number;
  /** Place in the log, which its owner gave it. */
  readonly n: number;
  readonly item: number;
}

export type Written = 'committed' | 'passed';

/** Rules of the database that a planted bug undoes. */
export interface DatabaseRules {
  /** P2: a write expects its epoch. */
  epochs: boolean;
  /** O2: who takes the lease fences the writes of the owner before, and waits for them. */
  fence: boolean;
  /** T4. */
  compares: boolean;
  /** W1: who takes the lease names its folder in the same transaction. */
  namesFolder: boolean;
}

/** What an owner has of the storage: its epoch, and the folder of write-ahead files that is of use to it. */
export interface Taken {
  readonly epoch: number;
  readonly folder: string;
}

export class SharedDatabase {
  up = true;
  upSince = 0;
  crashes = 0;
  /** Its clock minus the time of the run, ms. */
  clockAhead = 0;
  readonly rows: Row[] = [];
  /** `until` −Infinity: its owner gave it up. */
  lease = { epoch: 0, until: -Infinity };
  /** What writes must have. */
  epoch = 0;
  /** Of write-ahead files, of the last owner. */
  folder = '';
  /** The greatest epoch whose owner has read the rows. */
  readBy = 0;
  /** The session of the owner holds the advisory lock. */
  locked = false;
  readonly #agenda: Agenda;
  readonly #rules: DatabaseRules;
  /** Transactions that write. */
  readonly #open = new Set<object>();
  /** Takes the lease as soon as none is open (B1). */
  #taking: (() => void) | undefined;
  /** What waits for the lock of who takes it. */
  readonly #behind: (() => void)[] = [];
  readonly #items = new Set<number>();
  readonly #outcomes = new Map<object, Written>();

  constructor(agenda: Agenda, rules: DatabaseRules) {
    this.#agenda = agenda;
    this.#rules = rules;
  }

  get #clock(): number {
    return this.#agenda.now + this.clockAhead;
  }

  look(): Sight {
    const { epoch, until } = this.lease;
    return {
      epoch: String(epoch),
      until: String(until),
      released: until === -Infinity,
      ended: until < this.#clock,
      alone: !this.locked,
    };
  }

  /**
   * `answer(undefined)`: the lease has changed since. `granted`: nothing can change it any more. `held`: folder of
   * write-ahead files that the taker has.
   */
  take(
    seen: Sight,
    leaseMs: number,
    held: string | undefined,
    granted: (from: number, released: boolean) => void,
    answer: (taken: Taken | undefined) => void,
  ): void {
    this.#behindTaking(() => {
      const { epoch, until } = this.lease;
      if (this.#rules.compares && (String(epoch) !== seen.epoch || String(until) !== seen.until))
        return answer(undefined);
      granted(epoch, until === -Infinity);
      const own = (): void => {
        this.#taking = undefined;
        this.epoch = epoch + 1;
        this.lease = { epoch: this.epoch, until: this.#clock + leaseMs };
        this.locked = false; // its session is ended
        const folder = held !== undefined && held === this.folder ? held : `folder ${this.epoch}`;
        if (this.#rules.namesFolder) this.folder = folder;
        answer({ epoch: this.epoch, folder });
        for (const f of this.#behind.splice(0)) f();
      };
      if (this.#rules.fence && this.#open.size > 0) this.#taking = own;
      else own();
    });
  }

  /** `answer(false)`: another one has taken it. */
  renew(epoch: number, leaseMs: number, answer: (mine: boolean) => void): void {
    this.#behindTaking(() => {
      if (this.lease.epoch !== epoch) return answer(false);
      this.locked = true;
      this.lease = { epoch, until: this.#clock + leaseMs };
      answer(true);
    });
  }

  #behindTaking(f: () => void): void {
    if (this.#taking) this.#behind.push(f);
    else f();
  }

  release(epoch: number): void {
    if (this.lease.epoch === epoch) this.lease = { ...this.lease, until: -Infinity };
  }

  read(epoch: number): readonly Row[] {
    this.readBy = Math.max(this.readBy, epoch);
    return [...this.rows];
  }

  has(item: number): boolean {
    return this.#items.has(item);
  }

  /** A transaction that takes `ms`. @param attempt names it */
  write(attempt: object, epoch: number, rows: readonly Row[], ms: number, answer: (w: Written) => void): void {
    this.#behindTaking(() => {
      if (this.#rules.epochs && epoch !== this.epoch) {
        this.#outcomes.set(attempt, 'passed');
        return answer('passed');
      }
      this.#open.add(attempt);
      this.#agenda.after(ms, () => {
        if (!this.#open.delete(attempt)) return; // B2
        this.#commit(rows);
        this.#outcomes.set(attempt, 'committed');
        answer('committed');
        if (this.#open.size === 0) this.#taking?.();
      });
    });
  }

  #commit(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row.epoch < this.readBy)
        throw new Violation(
          `O1: item ${row.item} of epoch ${row.epoch} was committed after epoch ${this.readBy} had read`,
        );
      if (row.n !== this.rows.length)
        throw new Violation(
          `O2: item ${row.item} of epoch ${row.epoch} has place ${row.n}, but the log has ${this.rows.length}`,
        );
      if (this.#items.has(row.item)) throw new Violation(`O2: item ${row.item} is logged twice`);
      this.#items.add(row.item);
      this.rows.push(row);
    }
  }

  /** What became of a transaction; one that never began counts as aborted. */
  outcome(attempt: object): Written | 'aborted' | 'open' {
    return this.#open.has(attempt) ? 'open' : (this.#outcomes.get(attempt) ?? 'aborted');
  }

  crash(): void {
    this.up = false;
    this.crashes++;
    this.locked = false;
    this.#open.clear();
    this.#taking = undefined;
    this.#behind.length = 0;
  }

  restart(): void {
    this.up = true;
    this.upSince = this.#agenda.now;
  }
}
