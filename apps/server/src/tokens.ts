/**
 * Tokens with a name and a role. The one of the first start (secrets.ts) is the owner's; the owner makes the others.
 *
 * Owns the registry keys `token/<id>`. A token is `mf_<id>_<40 random characters>`: the id finds the record, the rest
 * is compared.
 *  T1  A token is stored as a hash only. It is drawn here (206 bits), so one SHA-256 is enough; nothing of it depends
 *      on the server's key, which a backup leaves out.
 *  T2  Names are unique among the tokens that stand: they name the owner of a job.
 *  T4  A login (login/) makes a token of its own, of a browser's session or for a terminal: with the name of the
 *      person, which may be that of others, and an end. The newest LOGINS of a name stand; those that are over go.
 *  T3  A token that is revoked or over admits no one from that moment on; `onEnd` is called, so that live connections
 *      end too.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Registry } from '@mayfly/storage/ports';
import {
  FIRST_TOKEN,
  RESERVED_NAMES,
  MayflyError,
  type LoginKind,
  type NewToken,
  type Role,
  type TokenCreated,
  type TokenView,
} from '@mayfly/wire';
import type { Logger } from './logger.ts';
import { randomId, type Secrets } from './secrets.ts';

/** Whose request it is. */
export interface Principal {
  /** Of the token; undefined: the token of the first start. */
  readonly id: string | undefined;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt?: number;
  /** T4; undefined: an owner made it. */
  readonly login?: LoginKind;
}

interface TokenRecord {
  name: string;
  role: Role;
  /** SHA-256 of the whole token, hexadecimal (T1). */
  hash: string;
  createdAt: number;
  expiresAt?: number;
  lastUsedAt?: number;
  /** T4 */
  login?: LoginKind;
}

/** Of one name, and of all together. */
const LOGINS = 20;
const MOST_LOGINS = 10_000;
const MOST = 1000;
/** `lastUsedAt` is written at most so often. */
const USED_MS = 60_000;
const PATTERN = /^mf_([0-9a-z]{10})_[0-9a-z]{40}$/;
const OWNER: Principal = { id: undefined, name: FIRST_TOKEN, role: 'owner' };
const keyOf = (id: string): string => `token/${id}`;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export class Tokens {
  readonly #registry: Registry;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #records: Map<string, TokenRecord>;
  readonly #now: () => number;
  #ownerUsedAt: number | undefined;
  /** Called with the id of every token that is revoked. */
  onEnd: (id: string) => void = () => undefined;

  private constructor(
    registry: Registry,
    secrets: Secrets,
    logger: Logger,
    records: Map<string, TokenRecord>,
    now: () => number,
  ) {
    this.#registry = registry;
    this.#secrets = secrets;
    this.#logger = logger;
    this.#records = records;
    this.#now = now;
  }

  static async open(
    registry: Registry,
    secrets: Secrets,
    logger: Logger,
    now: () => number = Date.now,
  ): Promise<Tokens> {
    const records = new Map<string, TokenRecord>();
    for (const [key, value] of await registry.entries('token/'))
      records.set(key.slice('token/'.length), value as TokenRecord);
    return new Tokens(registry, secrets, logger, records, now);
  }

  /** Whose token this is; undefined when it is none of ours, or is over. */
  async find(token: string): Promise<Principal | undefined> {
    const id = PATTERN.exec(token)?.[1];
    const record = id === undefined ? undefined : this.#records.get(id);
    if (id !== undefined && record !== undefined && timingSafeEqual(hashOf(token), Buffer.from(record.hash, 'hex'))) {
      if (record.expiresAt !== undefined && record.expiresAt <= this.#now()) return undefined;
      this.#used(id, record);
      return {
        id,
        name: record.name,
        role: record.role,
        ...(record.expiresAt === undefined ? {} : { expiresAt: record.expiresAt }),
        ...(record.login === undefined ? {} : { login: record.login }),
      };
    }
    if (!(await this.#secrets.isToken(token))) return undefined;
    this.#ownerUsedAt = this.#now();
    return OWNER;
  }

  /** @throws MayflyError CONFLICT (the name is taken), BAD_REQUEST, TOO_MANY */
  async create(wish: NewToken): Promise<TokenCreated> {
    const now = this.#now();
    const made = [...this.#records.values()].filter((r) => r.login === undefined);
    if (RESERVED_NAMES.includes(wish.name) || made.some((r) => r.name === wish.name))
      throw new MayflyError(
        'CONFLICT',
        `A token named “${wish.name}” already exists. Revoke it, or choose another name.`,
      );
    if (wish.expiresAt !== undefined && wish.expiresAt <= now)
      throw new MayflyError('BAD_REQUEST', 'The expiry time is in the past.');
    if (made.length >= MOST) throw new MayflyError('TOO_MANY', `There are ${MOST} tokens; revoke some first.`);
    return this.#add({
      name: wish.name,
      role: wish.role,
      createdAt: now,
      ...(wish.expiresAt === undefined ? {} : { expiresAt: wish.expiresAt }),
    });
  }

  /** T4. @throws MayflyError TOO_MANY, DISK_FULL, STORAGE_FAILED */
  async signIn(who: { name: string; role: Role }, login: LoginKind, ms: number): Promise<TokenCreated> {
    const now = this.#now();
    const logins = [...this.#records].filter(([, r]) => r.login !== undefined);
    const over = logins.filter(([, r]) => r.expiresAt! <= now);
    const own = logins.filter(([, r]) => r.expiresAt! > now && r.name === who.name);
    own.sort(([, a], [, b]) => b.createdAt - a.createdAt);
    if (logins.length - over.length >= MOST_LOGINS)
      throw new MayflyError('TOO_MANY', 'Too many people are signed in. Try again later.');
    for (const [id] of [...over, ...own.slice(LOGINS - 1)]) await this.revoke(id);
    return this.#add({ name: who.name, role: who.role, createdAt: now, expiresAt: now + ms, login });
  }

  async #add(about: Omit<TokenRecord, 'hash' | 'lastUsedAt'>): Promise<TokenCreated> {
    const id = randomId(10);
    const token = `mf_${id}_${randomId(40)}`;
    const record: TokenRecord = { ...about, hash: hashOf(token).toString('hex') };
    this.#records.set(id, record);
    try {
      await this.#registry.commit([[keyOf(id), record]]);
    } catch (error) {
      this.#records.delete(id);
      throw error;
    }
    return { ...about, id, token };
  }

  /**
   * T3. If the change cannot be stored, the token remains valid and the call throws. @throws MayflyError NOT_FOUND,
   * DISK_FULL, STORAGE_FAILED
   */
  async revoke(id: string): Promise<void> {
    const record = this.#records.get(id);
    if (!record) throw new MayflyError('NOT_FOUND', `There is no token with the id ${id}.`);
    this.#records.delete(id);
    try {
      await this.#registry.commit([[keyOf(id), undefined]]);
    } catch (error) {
      this.#records.set(id, record);
      throw error;
    }
    this.onEnd(id);
  }

  /** The owner's first, then the newest first. */
  list(): TokenView[] {
    const first: TokenView = {
      name: FIRST_TOKEN,
      role: 'owner',
      ...(this.#ownerUsedAt === undefined ? {} : { lastUsedAt: this.#ownerUsedAt }),
    };
    const rest = [...this.#records]
      .map(([id, { hash: _hash, ...r }]) => ({ id, ...r }))
      .sort((a, b) => b.createdAt - a.createdAt);
    return [first, ...rest];
  }

  #used(id: string, record: TokenRecord): void {
    const now = this.#now();
    if (record.lastUsedAt !== undefined && now - record.lastUsedAt < USED_MS) return;
    record.lastUsedAt = now;
    // Asked for before any deletion of the record is: the registry keeps that order.
    this.#registry
      .commit([[keyOf(id), record]])
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the last use of a token could not be written'));
  }
}
