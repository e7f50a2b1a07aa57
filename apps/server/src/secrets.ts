/**
 * Who may do what: the submitters' token, the capabilities of incarnations, the secrets of nodes.
 *
 * Owns the registry keys `secret/server` (random key), `secret/token` (salted scrypt hash).
 *  S1  No secret is stored in plain, except the server's own key.
 *  S2  A capability names exactly one incarnation of one task; it is checked by HMAC, so nothing is stored per
 *      incarnation.
 *  S3  Comparisons take the same time for every wrong answer, but for one byte of a salted hash: the salt never leaves
 *      the server, so its time reveals nothing.
 *  S5  The secret of a node is a MAC of its id: nodes come and go in any number, and nothing is stored of them.
 *  S4  A wrong token costs no scrypt, but one in 256: wrong ones in any number do not keep a right one waiting.
 */
import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Registry } from '@mayfly/storage/ports';
import {
  MayflyError,
  incarnation,
  jobId,
  taskId,
  type Incarnation,
  type JobId,
  type NodeId,
  type TaskId,
} from '@mayfly/wire';

const scryptAsync = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>;

interface TokenRecord {
  salt: string;
  hash: string;
  /**
   * First byte of SHA-256(salt ‖ token), hexadecimal (S4). A thief of the data directory has to try 256 times fewer
   * tokens by scrypt, none fewer by SHA-256.
   */
  check: string;
}

export interface Holder {
  job: JobId;
  task: TaskId;
  incarnation: Incarnation;
}

/** Tokens that wait for scrypt at most: some 60 ms each. */
const MOST_WAITING = 1000;
const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Uniform base-36 string. */
export function randomId(length: number): string {
  let out = '';
  while (out.length < length)
    for (const b of randomBytes(length)) if (b < 252 && out.length < length) out += BASE36[b % 36];
  return out;
}

const sha256 = (s: string): Buffer => createHash('sha256').update(s).digest();

/** S2. Other servers of a shared storage check capabilities, too (memories/). */
export class Capabilities {
  constructor(readonly key: Buffer) {}

  /** `<job>.<task>.<incarnation>.<hmac>` (S2). */
  capability(h: Holder): string {
    const text = `${h.job}.${h.task}.${h.incarnation}`;
    return `${text}.${this.mac(text)}`;
  }

  /** What the capability covers, or undefined when it is none of ours. */
  holder(capability: string): Holder | undefined {
    const m = /^([0-9a-z]{12})\.(\d{1,10})\.(\d{1,10})\.([0-9a-f]{64})$/.exec(capability);
    if (!m) return undefined;
    const [, job, task, inc, mac] = m as unknown as [string, string, string, string, string];
    if (!timingSafeEqual(Buffer.from(mac, 'hex'), Buffer.from(this.mac(`${job}.${task}.${inc}`), 'hex')))
      return undefined;
    return { job: jobId(job), task: taskId(Number(task)), incarnation: incarnation(Number(inc)) };
  }

  /** What it covers, if that is of this job. */
  authorise(job: JobId, capability: string): Pick<Holder, 'task' | 'incarnation'> | undefined {
    const h = this.holder(capability);
    return h?.job === job ? { task: h.task, incarnation: h.incarnation } : undefined;
  }

  protected mac(text: string): string {
    return createHmac('sha256', this.key).update(text).digest('hex');
  }
}

export class Secrets extends Capabilities {
  /** In plain where it is known: set by option, or drawn now. */
  readonly token: string | undefined;
  readonly tokenIsNew: boolean;
  readonly #registry: Registry;
  #record: TokenRecord;
  /** SHA-256 of the right token once a request has shown it: scrypt is for the disk, not for every request. */
  #known: Buffer | undefined;

  /** Tokens that scrypt looks at, one after the other. */
  #slow: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** How many it has looked at. */
  slowlyHashed = 0;

  private constructor(registry: Registry, key: Buffer, record: TokenRecord, token: string | undefined, isNew: boolean) {
    super(key);
    this.#registry = registry;
    this.#record = record;
    this.token = token;
    this.tokenIsNew = isNew;
    if (token !== undefined) this.#known = sha256(token);
  }

  static async open(registry: Registry, given: string | undefined): Promise<Secrets> {
    const stored = (await registry.get('secret/server')) as { key: string } | undefined;
    const key = stored ? Buffer.from(stored.key, 'hex') : randomBytes(32);
    const old = (await registry.get('secret/token')) as TokenRecord | undefined;
    let token = given;
    let isNew = false;
    let record = old;
    if (token !== undefined) {
      if (!old || !(await matches(token, old))) record = await hashToken(token);
    } else if (!old) {
      token = randomBytes(24).toString('hex');
      isNew = true;
      record = await hashToken(token);
    }
    const changes: [string, unknown][] = [];
    if (!stored) changes.push(['secret/server', { key: key.toString('hex') }]);
    if (record !== old) changes.push(['secret/token', record]);
    if (changes.length > 0) await registry.commit(changes);
    return new Secrets(registry, key, record!, token, isNew);
  }

  /** @throws MayflyError TOO_MANY: too many tokens wait for the slow hash (S4) */
  async isToken(given: string): Promise<boolean> {
    if (given.length > 256) return false;
    const digest = sha256(given);
    if (this.#known) return timingSafeEqual(digest, this.#known);
    const { check, salt } = this.#record;
    if (checkOf(salt, given) !== check) return false;
    if (this.#waiting >= MOST_WAITING)
      throw new MayflyError('TOO_MANY', 'The server is checking many tokens right now. Try again.');
    this.#waiting++;
    this.slowlyHashed++;
    const right = this.#slow.then(() =>
      this.#known ? timingSafeEqual(digest, this.#known) : matches(given, this.#record),
    );
    this.#slow = right.catch(() => undefined).finally(() => this.#waiting--);
    if (!(await right)) return false;
    this.#known = digest;
    return true;
  }

  /** S5. */
  nodeSecret(node: NodeId): string {
    return this.mac(`node ${node}`).slice(0, 48);
  }

  isNodeSecret(node: NodeId, secret: string): boolean {
    return sameText(secret, this.nodeSecret(node));
  }
}

async function hashToken(token: string): Promise<TokenRecord> {
  const salt = randomBytes(16);
  return {
    salt: salt.toString('hex'),
    check: checkOf(salt.toString('hex'), token),
    hash: (await scryptAsync(token, salt, 32)).toString('hex'),
  };
}

const checkOf = (salt: string, token: string): string =>
  sha256(salt + token)
    .subarray(0, 1)
    .toString('hex');

async function matches(token: string, r: TokenRecord): Promise<boolean> {
  return timingSafeEqual(await scryptAsync(token, Buffer.from(r.salt, 'hex'), 32), Buffer.from(r.hash, 'hex'));
}

/** Same-time comparison of two short strings (room codes). */
export const sameText = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));
