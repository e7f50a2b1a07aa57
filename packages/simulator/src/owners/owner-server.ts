/**
 * A server process that shares a storage: stands by, takes over, serves, is fenced. Decides by the same
 * {@link Takeover} as production; what storage/src/postgres does around it is done here in simulated time.
 *
 * Owns: this process's life, its clock, its connection to the database, and what it holds in memory.
 */
import { TAKEOVER_GRACE_MS, TAKEOVER_LOOK_MS, Takeover, type Sight } from '@mayfly/protocols';
import type { Agenda } from '../agenda.ts';
import type { Random } from '../random.ts';
import type { Row, SharedDatabase, Written } from './shared-database.ts';

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
}

/** What the simulation hears of a server. */
export interface ServerEvents {
  /** It takes the lease, which the owner of that epoch has not given up. */
  takes(server: OwnerServer, from: number): void;
  acknowledged(item: number): void;
}

/** Where the network gives a silent connection up. */
const CONNECTION_MS = 5000;
const BATCH_MS = 5;

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
  readonly #rules: ServerRules;
  readonly #events: ServerEvents;
  readonly #leaseMs: number;
  /** Its clock runs so much faster than the others'. */
  readonly #rate: number;
  #life = 0;
  #takeover: Takeover;
  #looked = 0;
  #epoch = 0;
  #rows: Row[] = [];
  #items: number[] = [];
  #writing = false;
  /** The newest renewal goes on, and no other. */
  #renewals = 0;
  readonly #thawed: (() => void)[] = [];

  constructor(
    name: string,
    agenda: Agenda,
    random: Random,
    database: SharedDatabase,
    leaseMs: number,
    rules: ServerRules,
    events: ServerEvents,
  ) {
    this.name = name;
    this.#agenda = agenda;
    this.#random = random;
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#rules = rules;
    this.#events = events;
    this.#rate = 0.95 + random.next() / 10;
    this.#takeover = this.#watch();
  }

  #watch(): Takeover {
    return new Takeover({
      graceMs: TAKEOVER_GRACE_MS,
      leaseMs: this.#rules.doubtsYoungEnds ? this.#leaseMs : 0,
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
    this.#items = [];
    this.#writing = false;
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
    this.#items.push(item);
    this.#later(BATCH_MS, () => this.#flush());
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
    this.#ask<number | 'changed'>(
      (answer) =>
        this.#database.take(
          sight,
          this.#leaseMs,
          (from, released) => !released && this.#events.takes(this, from),
          (epoch) => answer(epoch ?? 'changed'),
        ),
      (epoch) => {
        if (typeof epoch === 'number') return this.#own(epoch);
        this.#look();
      },
    );
  }

  #own(epoch: number): void {
    this.#epoch = epoch;
    this.#renew(epoch);
    const read = (): void =>
      this.#ask<readonly Row[]>(
        (answer) => answer(this.#database.read(epoch)),
        (rows) => {
          if (this.#epoch !== epoch) return;
          if (!rows) return this.#later(TAKEOVER_LOOK_MS, read);
          this.#rows = [...rows];
          this.serving = true;
        },
      );
    read();
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
      (answer) => this.#database.renew(epoch, this.#leaseMs, answer),
      (mine) => {
        if (turn !== this.#renewals) return;
        if (mine === false) return this.#passed(epoch);
        again(mine ? this.#leaseMs / 4 : TAKEOVER_LOOK_MS);
      },
    );
  }

  #passed(epoch: number): void {
    if (this.#epoch !== epoch || !this.#rules.givesUp) return;
    this.#epoch = 0;
    this.#standBy();
  }

  #flush(): void {
    if (!this.serving || this.#writing || this.#items.length === 0) return;
    const epoch = this.#epoch;
    const rows = this.#items.splice(0).map((item, i): Row => ({ epoch, n: this.#rows.length + i, item }));
    if (!this.#rules.waitsForCommit) this.#acknowledge(rows);
    this.#writing = true;
    this.#write(rows, epoch);
  }

  #write(rows: readonly Row[], epoch: number): void {
    const attempt = {};
    const settled = (outcome: Written): void => {
      if (this.#epoch !== epoch) return;
      if (outcome === 'passed' && this.#rules.givesUp) return this.#passed(epoch);
      this.#writing = false;
      this.#rows.push(...rows);
      if (this.#rules.waitsForCommit) this.#acknowledge(rows);
      this.#flush();
    };
    this.#ask<Written>(
      (answer) => this.#database.write(attempt, epoch, rows, this.#commitMs(), answer),
      (outcome) => {
        if (outcome) settled(outcome);
        else this.#inDoubt(attempt, rows, epoch, settled);
      },
    );
  }

  /** Now and then the database stalls. */
  #commitMs(): number {
    return this.#random.chance(0.05) ? this.#random.between(500, 4000) : this.#random.between(1, 60);
  }

  /** P4: it neither took effect nor failed before the database says which. */
  #inDoubt(attempt: object, rows: readonly Row[], epoch: number, settled: (w: Written) => void): void {
    if (this.#epoch !== epoch) return;
    this.#ask<Written | 'aborted' | 'open'>(
      (answer) => answer(this.#database.outcome(attempt)),
      (outcome) => {
        if (outcome === 'aborted') this.#write(rows, epoch);
        else if (outcome === undefined || outcome === 'open')
          this.#later(TAKEOVER_LOOK_MS, () => this.#inDoubt(attempt, rows, epoch, settled));
        else settled(outcome);
      },
    );
  }

  #acknowledge(rows: readonly Row[]): void {
    for (const row of rows) this.#events.acknowledged(row.item);
  }
}
