/**
 * A server process that shares a storage: stands by, takes over, serves, is fenced. Decides by the same
 * {@link Takeover} as production; what storage/src/postgres does around it is done here in simulated time.
 *
 * Owns: this process's life, its clock, its connection to the database, and what it holds in memory.
 */
import { TAKEOVER_GRACE_MS, TAKEOVER_LOOK_MS, Takeover, type Sight } from '@mayfly/protocols';
import type { Agenda } from '../agenda.ts';
import type { Random } from '../random.ts';
import type { DatabaseRules, Row, SharedDatabase, Taken, Written } from './shared-database.ts';

/** Rules of a server that a planted bug undoes. */
export interface ServerRules {
  /** T2. */
  waitsForTheEnd: boolean;
  /** T3. */
  pausesProveNothing: boolean;
  /** T5. */
  doubtsYoungEnds: boolean;
  /** A batch is acknowledged when it is committed. */
  waitsForCommit: boolean;
  /** O3: who finds another epoch serves no more. */
  givesUp: boolean;
  /** W1: write-ahead files are read only in the folder that the database names. */
  ownFolder: boolean;
  /** W3: of the files counts what follows the records of the database. */
  numbers: boolean;
  /** W3: what is read there is stored before anything else happens. */
  storedFirst: boolean;
}

/** What the simulation hears of a server. */
export interface ServerEvents {
  /** It takes the lease, which the owner of that epoch has not given up. */
  takes(server: OwnerServer, from: number): void;
  acknowledged(item: number): void;
  /** It serves from now on. */
  serves(server: OwnerServer): void;
}

/** `behind`: an item counts as taken once it is in the write-ahead files. */
export interface OwnerOptions {
  leaseMs: number;
  behind: boolean;
}

/** On the disk of a server, which outlives its process. */
interface Folder {
  readonly name: string;
  records: readonly Row[];
}

/** Where the network gives a silent connection up. */
const CONNECTION_MS = 5000;
const BATCH_MS = 5;
/** With `namesFolder` undone. */
const NAMED_LATE_MS = 1500;

export class OwnerServer {
  readonly name: string;
  /** Sees the lease taken by nobody else, as far as it knows. */
  serving = false;
  up = false;
  frozen = false;
  cutOff = false;
  /** When something last kept it from running or from reaching the database. */
  heldUntil = 0;
  /** When it looked at the lease for the first time after a long pause. */
  blindUntil = 0;
  #saw = -Infinity;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #database: SharedDatabase;
  readonly #rules: ServerRules & DatabaseRules;
  readonly #events: ServerEvents;
  readonly #options: OwnerOptions;
  /** Its clock runs so much faster than the others'. */
  readonly #rate: number;
  #life = 0;
  #takeover: Takeover;
  #looked = 0;
  #epoch = 0;
  /** Records that the database has, as this process knows. */
  #stored = 0;
  #pending: Row[] = [];
  #writing: readonly Row[] = [];
  #folder: Folder | undefined;
  /** The newest renewal goes on, and no other. */
  #renewals = 0;
  readonly #thawed: (() => void)[] = [];

  constructor(
    name: string,
    agenda: Agenda,
    random: Random,
    database: SharedDatabase,
    options: OwnerOptions,
    rules: ServerRules & DatabaseRules,
    events: ServerEvents,
  ) {
    this.name = name;
    this.#agenda = agenda;
    this.#random = random;
    this.#database = database;
    this.#options = options;
    this.#rules = rules;
    this.#events = events;
    this.#rate = 0.95 + random.next() / 10;
    this.#takeover = this.#watch();
  }

  #watch(): Takeover {
    return new Takeover({
      graceMs: TAKEOVER_GRACE_MS,
      leaseMs: this.#rules.doubtsYoungEnds ? this.#options.leaseMs : 0,
    });
  }

  /** It took the lease of this epoch, and has not found another one since. */
  owns(epoch: number): boolean {
    return this.up && this.#epoch === epoch;
  }

  begin(): void {
    this.#life++;
    this.up = true;
    this.#standBy();
  }

  #standBy(): void {
    this.serving = false;
    this.#pending = [];
    this.#writing = [];
    this.#takeover = this.#watch();
    this.#looked = this.#clock();
    this.#look();
  }

  /** The process is killed; its connections break, at once or (the machine was lost) after long. */
  kill(atOnce: boolean): void {
    this.#life++;
    this.up = this.serving = this.frozen = false;
    this.heldUntil = this.#agenda.now;
    this.#thawed.length = 0;
    // W4: of a machine that lost its power any part is left.
    if (!atOnce && this.#folder) {
      const left = this.#random.between(0, this.#folder.records.length);
      this.#folder.records = this.#folder.records.slice(0, left);
    }
    const { epoch } = this.#database.lease;
    const mine = epoch === this.#epoch;
    this.#epoch = 0;
    if (!mine) return;
    this.#agenda.after(atOnce ? 20 : 30_000, () => {
      if (this.#database.lease.epoch === epoch) this.#database.locked = false;
    });
  }

  /** It is ended, and gives the lease up. */
  stop(): void {
    const epoch = this.#epoch;
    if (this.serving && !this.cutOff && this.#database.up) this.#database.release(epoch);
    this.kill(true);
  }

  freeze(): void {
    this.frozen = true;
  }

  thaw(): void {
    if (!this.frozen) return;
    this.frozen = false;
    this.heldUntil = this.#agenda.now;
    for (const f of this.#thawed.splice(0)) f();
  }

  cut(): void {
    this.cutOff = true;
  }

  heal(): void {
    this.cutOff = false;
    this.heldUntil = this.#agenda.now;
  }

  /** A client asks for an item to be logged. */
  accept(item: number): void {
    const row = { epoch: this.#epoch, n: this.#stored + this.#writing.length + this.#pending.length, item };
    this.#pending.push(row);
    if (this.#folder) this.#folder.records = [...this.#folder.records, row];
    this.#later(BATCH_MS, () => this.#flush());
  }

  /** It has the item, in memory. */
  has(item: number): boolean {
    return [...this.#writing, ...this.#pending].some((row) => row.item === item);
  }

  /** Of its write-ahead files; '': it has none. */
  get folder(): string {
    return this.#folder?.name ?? '';
  }

  /** Its files have the item, and it is the one that reads them next. */
  keeps(item: number): boolean {
    const folder = this.#folder;
    return folder?.name === this.#database.folder && folder.records.some((row) => row.item === item);
  }

  #clock(): number {
    return this.#agenda.now * this.#rate;
  }

  #run(f: () => void): () => void {
    const life = this.#life;
    const go = (): void => {
      if (life !== this.#life) return;
      if (this.frozen) this.#thawed.push(go);
      else f();
    };
    return go;
  }

  #later(ms: number, f: () => void): void {
    this.#agenda.after(ms / this.#rate, this.#run(f));
  }

  /**
   * Sends a statement; `done(undefined)`: the connection broke, and nobody knows whether it took effect. What the
   * network drops it sends again, until the connection is given up.
   */
  #ask<T>(statement: (answer: (value: T) => void) => void, done: (value: T | undefined) => void): void {
    const { crashes } = this.#database;
    let open = true;
    let outcome: T | undefined;
    const heard = this.#run(() => done(outcome));
    const settle = (value: T | undefined): void => {
      if (!open) return;
      open = false;
      outcome = value;
      heard();
    };
    const carry = (then: () => void): void =>
      this.#agenda.after(this.#random.between(1, 30), () => {
        if (!open) return;
        if (this.cutOff) carry(then);
        else if (!this.#database.up || this.#database.crashes !== crashes) settle(undefined);
        else then();
      });
    this.#agenda.after(CONNECTION_MS, () => settle(undefined));
    carry(() => statement((value) => carry(() => settle(value))));
  }

  #look(): void {
    this.#ask<Sight>(
      (answer) => {
        const { now } = this.#agenda;
        if (now - this.#saw > 2.2 * TAKEOVER_GRACE_MS) this.blindUntil = now;
        this.#saw = now;
        answer(this.#database.look());
      },
      (sight) => {
        if (sight && this.#mayTake(sight)) return this.#take(sight);
        this.#later(TAKEOVER_LOOK_MS, () => this.#look());
      },
    );
  }

  #mayTake(seen: Sight): boolean {
    const sight = this.#rules.waitsForTheEnd ? seen : { ...seen, alone: true };
    const now = this.#clock();
    // Undone: as if it had looked all the time.
    if (!this.#rules.pausesProveNothing)
      for (let t = this.#looked + TAKEOVER_GRACE_MS; t < now; t += TAKEOVER_GRACE_MS) this.#takeover.saw(sight, t);
    this.#looked = now;
    return this.#takeover.saw(sight, now);
  }

  #take(sight: Sight): void {
    this.#ask<Taken | 'changed'>(
      (answer) =>
        this.#database.take(
          sight,
          this.#options.leaseMs,
          this.#folder?.name,
          (from, released) => !released && this.#events.takes(this, from),
          (taken) => answer(taken ?? 'changed'),
        ),
      (taken) => {
        if (typeof taken === 'object') return this.#own(taken);
        this.#look();
      },
    );
  }

  #own({ epoch, folder }: Taken): void {
    this.#epoch = epoch;
    this.#renew(epoch);
    const read = (): void =>
      this.#ask<readonly Row[]>(
        (answer) => answer(this.#database.read(epoch)),
        (rows) => {
          if (this.#epoch !== epoch) return;
          if (!rows) return this.#later(TAKEOVER_LOOK_MS, read);
          this.#stored = rows.length;
          if (this.#options.behind) this.#readFolder(folder);
          else this.#serve();
        },
      );
    read();
  }

  #serve(): void {
    this.serving = true;
    this.#events.serves(this);
    this.#flush();
  }

  /** W1, W3. */
  #readFolder(name: string): void {
    const epoch = this.#epoch;
    if (this.#folder?.name !== name && (this.#rules.ownFolder || !this.#folder)) this.#folder = { name, records: [] };
    const folder = this.#folder!;
    const left: Row[] = [];
    for (const { n, item } of folder.records) {
      const next = this.#stored + left.length;
      if (n === next || !this.#rules.numbers) left.push({ epoch, n: next, item });
    }
    const begin = (): void => {
      this.#folder = { name, records: [] };
      if (!this.#rules.namesFolder) this.#later(NAMED_LATE_MS, () => (this.#database.folder = name));
      this.#serve();
    };
    if (this.#rules.storedFirst) return this.#write(left, epoch, begin);
    this.#pending = left;
    begin();
  }

  /** Its session has ended. */
  disconnected(): void {
    const epoch = this.#epoch;
    if (this.up && epoch !== 0 && !this.cutOff) this.#later(0, () => this.#renew(epoch));
  }

  #renew(epoch: number): void {
    if (this.#epoch !== epoch) return;
    const turn = ++this.#renewals;
    const again = (ms: number): void => this.#later(ms, () => turn === this.#renewals && this.#renew(epoch));
    this.#ask<boolean>(
      (answer) => this.#database.renew(epoch, this.#options.leaseMs, answer),
      (mine) => {
        if (turn !== this.#renewals) return;
        if (mine === false) return this.#passed(epoch);
        again(mine ? this.#options.leaseMs / 4 : TAKEOVER_LOOK_MS);
      },
    );
  }

  #passed(epoch: number): void {
    if (this.#epoch !== epoch || !this.#rules.givesUp) return;
    this.#epoch = 0;
    this.#standBy();
  }

  #flush(): void {
    if (!this.serving || this.#writing.length > 0 || this.#pending.length === 0) return;
    const rows = this.#pending.splice(0);
    if (!this.#rules.waitsForCommit) this.#acknowledge(rows);
    this.#write(rows, this.#epoch, () => {
      if (this.#rules.waitsForCommit) this.#acknowledge(rows);
      this.#flush();
    });
  }

  /** `stored`: this process still owns the storage, which has the rows. */
  #write(rows: readonly Row[], epoch: number, stored: () => void): void {
    if (this.#epoch !== epoch) return;
    const attempt = {};
    this.#writing = rows;
    const settled = (outcome: Written): void => {
      if (this.#epoch !== epoch) return;
      if (outcome === 'passed' && this.#rules.givesUp) return this.#passed(epoch);
      this.#writing = [];
      this.#stored += rows.length;
      if (this.#folder) this.#folder.records = this.#folder.records.filter((row) => row.n >= this.#stored);
      stored();
    };
    this.#ask<Written>(
      (answer) => this.#database.write(attempt, epoch, rows, this.#commitMs(), answer),
      (outcome) => {
        if (outcome) settled(outcome);
        else this.#inDoubt(attempt, epoch, settled, () => this.#write(rows, epoch, stored));
      },
    );
  }

  /** Now and then the database stalls. */
  #commitMs(): number {
    return this.#random.chance(0.05) ? this.#random.between(500, 4000) : this.#random.between(1, 60);
  }

  /** P4: it neither took effect nor failed before the database says which. */
  #inDoubt(attempt: object, epoch: number, settled: (w: Written) => void, again: () => void): void {
    if (this.#epoch !== epoch) return;
    this.#ask<Written | 'aborted' | 'open'>(
      (answer) => answer(this.#database.outcome(attempt)),
      (outcome) => {
        if (outcome === 'aborted') again();
        else if (outcome === undefined || outcome === 'open')
          this.#later(TAKEOVER_LOOK_MS, () => this.#inDoubt(attempt, epoch, settled, again));
        else settled(outcome);
      },
    );
  }

  #acknowledge(rows: readonly Row[]): void {
    for (const row of rows) this.#events.acknowledged(row.item);
  }
}
