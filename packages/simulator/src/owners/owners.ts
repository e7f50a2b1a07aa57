/**
 * Servers that share a database, in simulated time: processes killed, stopped, frozen and thawed, cut off from the
 * database, which crashes itself, and whose clock is set; every process has a clock of its own speed. Clients log items
 * at whatever server takes itself for the owner.
 *
 *  O1  What a new owner has read is all that owners before it have written.
 *  O2  The log has no gap and nothing twice.
 *  O3  An item that was acknowledged is in the log, for ever.
 *  O4  A server takes no lease of an owner that runs and reaches the database: neither of one that has done so for a
 *      while, nor right after the taker itself could not look.
 *  O5  When nothing disturbs any more, one server serves, and items are logged.
 *  O6  In `behind`, what a server has taken is in its files or in the log until another one serves: a process that is
 *      killed loses nothing that the next one in its data directory does not find.
 *
 * Half of the runs are in `behind`. There clients send again what the log lacks, once somebody serves.
 */
import { TAKEOVER_GRACE_MS, TAKEOVER_LOOK_MS } from '@mayfly/protocols';
import { Agenda } from '../agenda.ts';
import { Random } from '../random.ts';
import { Violation } from '../violation.ts';
import { OwnerServer, type ServerRules } from './owner-server.ts';
import { SharedDatabase, type DatabaseRules } from './shared-database.ts';

export type OwnerRule = keyof DatabaseRules | keyof ServerRules;

/** What a planted bug undoes, and the checker that finds it. */
export const OWNER_RULES: readonly { rule: OwnerRule; says: string; by: RegExp }[] = [
  { rule: 'epochs', says: 'P2 of database.ts: a write expects its epoch', by: /^O[12]/ },
  { rule: 'fence', says: 'O2 of ownership.ts: who takes the lease waits for writes of the owner before', by: /^O[12]/ },
  { rule: 'compares', says: 'T4: the storage refuses when the lease has changed since it was seen', by: /^O4/ },
  { rule: 'waitsForTheEnd', says: 'T2: the lease must have ended, or the session be gone', by: /^O4/ },
  { rule: 'pausesProveNothing', says: 'T3: a pause between two looks proves nothing', by: /^O4/ },
  { rule: 'doubtsYoungEnds', says: 'T5: an end counts only of a lease that was not renewed for long', by: /^O4/ },
  { rule: 'waitsForCommit', says: 'a batch is acknowledged when it is committed', by: /^O3/ },
  { rule: 'givesUp', says: 'O3 of ownership.ts: an owner that finds another epoch serves no more', by: /^O3/ },
  {
    rule: 'ownFolder',
    says: 'W1 of write-ahead.ts: files are read only in the folder that the database names',
    by: /^O2/,
  },
  { rule: 'namesFolder', says: 'W1: the folder is named in the transaction that takes the lease', by: /^O[26]/ },
  { rule: 'numbers', says: 'W3: of the files counts what follows the records of the database', by: /^O2/ },
  { rule: 'storedFirst', says: 'W3: what is read in the files is stored before anything else', by: /^O6/ },
];

const FAULTS = [
  'kill',
  'lose machine',
  'stop',
  'freeze',
  'cut off',
  'crash of the database',
  'clock',
  'suspend',
] as const;
export type OwnerFault = (typeof FAULTS)[number];

export interface OwnersReport {
  seed: number;
  violation?: string;
  faults: Partial<Record<OwnerFault, number>>;
  takeovers: number;
  items: number;
}

const FAULTS_END_MS = 60_000;
const RECOVERED_MS = FAULTS_END_MS + 40_000;
const ENDS_MS = RECOVERED_MS + 10_000;
/** Clients find out after it, and then again and again. */
const RESEND_MS = 500;
/** An owner that was held up begins to renew after it. */
const SOON_MS = 2 * TAKEOVER_LOOK_MS + 500;

class Run {
  readonly #agenda = new Agenda();
  readonly #random: Random;
  readonly #database: SharedDatabase;
  readonly #servers: OwnerServer[] = [];
  readonly #acknowledged = new Set<number>();
  readonly #rules: Readonly<Record<OwnerRule, boolean>>;
  readonly #leaseMs: number;
  readonly #behind: boolean;
  /** What a server has taken, by the folder of its files; undefined: its machine was lost since. */
  readonly #taken = new Map<number, string | undefined>();
  readonly report: OwnersReport;
  #items = 0;
  /** Rows that the log had when everybody had had time to recover. */
  #recovered = Infinity;

  constructor(seed: number, undone: OwnerRule | undefined) {
    this.report = { seed, faults: {}, takeovers: 0, items: 0 };
    this.#random = Random.named(seed, 'owners');
    this.#rules = Object.fromEntries(OWNER_RULES.map(({ rule }) => [rule, rule !== undone])) as Record<
      OwnerRule,
      boolean
    >;
    this.#leaseMs = this.#random.pick([3000, 5000, 10_000]);
    this.#behind = Random.named(seed, 'durability').chance(0.5);
    this.#database = new SharedDatabase(this.#agenda, this.#rules);
    const size = this.#random.between(2, 4);
    for (let i = 0; i < size; i++)
      this.#servers.push(
        new OwnerServer(
          `server ${i}`,
          this.#agenda,
          Random.named(seed, `server ${i}`),
          this.#database,
          { leaseMs: this.#leaseMs, behind: this.#behind },
          this.#rules,
          {
            takes: (server, from) => this.#takes(server, from),
            acknowledged: (item) => this.#acknowledge(item),
            serves: (server) => this.#serves(server),
          },
        ),
      );
  }

  run(): void {
    for (const s of this.#servers) this.#agenda.after(this.#random.between(0, 500), () => s.begin());
    this.#next();
    this.#submit();
    this.#agenda.after(RECOVERED_MS, () => (this.#recovered = this.#database.rows.length));
    while (this.#agenda.now < ENDS_MS && this.#agenda.step());
    this.#check();
  }

  #submit(): void {
    const { now } = this.#agenda;
    if (now > ENDS_MS) return;
    // A client knows a server, and not whether another one has taken over.
    const server = this.#random.pick(this.#servers);
    if (server.serving) this.#give(server, this.#items++);
    this.#agenda.after(this.#random.between(5, 60), () => this.#submit());
  }

  #give(server: OwnerServer, item: number): void {
    server.accept(item);
    if (this.#behind) this.#taken.set(item, server.folder);
  }

  #serves(server: OwnerServer): void {
    // O6, if it is the owner still.
    if (server.folder === this.#database.folder)
      for (const [item, folder] of this.#taken)
        if (folder === server.folder && !this.#database.has(item) && !server.keeps(item))
          throw new Violation(
            `O6: item ${item}, which ${server.name} had taken, is neither in its files nor in the log`,
          );
    this.#resend(server);
  }

  /** Clients give what is lost to the server that serves. */
  #resend(server: OwnerServer): void {
    if (!server.serving || !server.owns(this.#database.lease.epoch)) return;
    const lost = [...this.#taken.keys()].filter((item) => !this.#database.has(item) && !server.has(item));
    if (!server.frozen) for (const item of lost) if (this.#random.chance(0.3)) this.#give(server, item);
    this.#agenda.after(RESEND_MS, () => this.#resend(server));
  }

  #next(): void {
    this.#agenda.after(this.#random.between(100, 3000), () => {
      if (this.#agenda.now > FAULTS_END_MS) return;
      this.#strike(this.#random.pick(FAULTS));
      this.#next();
    });
  }

  #strike(fault: OwnerFault): void {
    const random = this.#random;
    const up = this.#servers.filter((s) => s.up && !s.frozen);
    const server = up.length === 0 ? undefined : (up.find((s) => s.serving && random.chance(0.5)) ?? random.pick(up));
    if (!server) return;
    this.report.faults[fault] = (this.report.faults[fault] ?? 0) + 1;
    const later = (most: number, f: () => void): void =>
      this.#agenda.after(random.chance(0.4) ? random.between(50, 2000) : random.between(50, most), f);
    switch (fault) {
      case 'kill':
      case 'lose machine':
        server.kill(fault === 'kill');
        if (fault === 'lose machine')
          for (const [item, folder] of this.#taken) if (folder === server.folder) this.#taken.set(item, undefined);
        return later(8000, () => server.begin());
      case 'stop':
        server.stop();
        return later(8000, () => server.begin());
      case 'freeze':
        server.freeze();
        return later(2.5 * this.#leaseMs, () => server.thaw());
      case 'cut off': {
        // Servers of one machine, or all of them.
        const some = this.#servers.filter((s) => s === server || random.chance(0.4));
        for (const s of some) s.cut();
        return later(2.5 * this.#leaseMs, () => {
          for (const s of some) s.heal();
        });
      }
      case 'crash of the database':
        if (!this.#database.up) return;
        this.#database.crash();
        for (const s of this.#servers) s.disconnected();
        return later(2 * this.#leaseMs, () => this.#database.restart());
      case 'clock':
        this.#database.clockAhead += random.between(-20_000, 20_000);
        return;
      case 'suspend':
        // The machine of all servers, but not of the database.
        for (const s of up) s.freeze();
        return later(2.5 * this.#leaseMs, () => {
          for (const s of up) s.thaw();
        });
    }
  }

  /** O4. */
  #takes(taker: OwnerServer, from: number): void {
    this.report.takeovers++;
    const { now } = this.#agenda;
    const owner = this.#servers.find((s) => s.owns(from));
    if (!owner || owner === taker || owner.frozen || owner.cutOff) return;
    const since = Math.max(owner.heldUntil, this.#database.upSince);
    if (now - since > SOON_MS) throw new Violation(`O4: ${taker.name} takes the lease of ${owner.name}, which is well`);
    if (now - taker.blindUntil < 0.85 * TAKEOVER_GRACE_MS)
      throw new Violation(`O4: ${taker.name} takes the lease of ${owner.name} soon after it could not look itself`);
  }

  #acknowledge(item: number): void {
    this.#acknowledged.add(item);
    if (!this.#database.rows.findLast((r) => r.item === item))
      throw new Violation(`O3: item ${item} was acknowledged, and is not in the log`);
  }

  #check(): void {
    const logged = new Set(this.#database.rows.map((r) => r.item));
    this.report.items = logged.size;
    for (const item of this.#acknowledged)
      if (!logged.has(item)) throw new Violation(`O3: item ${item} was acknowledged, and is not in the log`);
    const serving = this.#servers.filter((s) => s.owns(this.#database.lease.epoch) && s.serving);
    if (serving.length !== 1) throw new Violation(`O5: ${serving.length} servers serve at the end`);
    if (this.#database.rows.length <= this.#recovered) throw new Violation('O5: nothing is logged at the end');
  }
}

/** One run of a seed; with `undone`, without that rule. */
export function runOwners(seed: number, undone?: OwnerRule): OwnersReport {
  const run = new Run(seed, undone);
  try {
    run.run();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    run.report.violation = error.message;
  }
  return run.report;
}

/** Seeds of which one finds each planted bug. */
const WITHIN = 100;

/** The first seed that finds a planted bug. */
export function huntOwners(rule: OwnerRule): OwnersReport | undefined {
  for (let seed = 1; seed <= WITHIN; seed++) {
    const report = runOwners(seed, rule);
    if (report.violation !== undefined) return report;
  }
  return undefined;
}
