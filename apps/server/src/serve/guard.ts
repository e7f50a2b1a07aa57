/** Submitters' token on REST and dashboard, with a limit on wrong ones per address. */
import type { FastifyRequest } from 'fastify';
import { MayflyError } from '@mayfly/wire';
import type { Secrets } from '../secrets.ts';

const MINUTE = 60_000;

/** Counts per key and minute; a coarse window is enough against guessing. */
export class MinuteCounter {
  readonly #max: number;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }
  /** True while the key is below its limit. */
  allows(key: string, now = Date.now()): boolean {
    this.#roll(now);
    return (this.#counts.get(key) ?? 0) < this.#max;
  }
  add(key: string, now = Date.now()): void {
    this.#roll(now);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }
  #roll(now: number): void {
    const w = Math.floor(now / MINUTE);
    if (w !== this.#window) {
      this.#window = w;
      this.#counts.clear();
    }
  }
}

export class Guard {
  readonly #secrets: Secrets;
  readonly #wrong: MinuteCounter;

  constructor(secrets: Secrets, wrongPerMinute: number) {
    this.#secrets = secrets;
    this.#wrong = new MinuteCounter(wrongPerMinute);
  }

  /** @throws MayflyError UNAUTHORIZED, TOO_MANY */
  async check(token: string | undefined, address: string): Promise<void> {
    if (!this.#wrong.allows(address)) throw new MayflyError('TOO_MANY', 'Too many wrong tokens from this address; wait a minute.');
    if (token === undefined || token === '') throw new MayflyError('UNAUTHORIZED', 'This needs the submitters’ token: send it as "Authorization: Bearer <token>".');
    if (await this.#secrets.isToken(token)) return;
    this.#wrong.add(address);
    throw new MayflyError('UNAUTHORIZED', 'That is not the submitters’ token of this server.');
  }

  /** Fastify hook. */
  readonly onRequest = async (request: FastifyRequest): Promise<void> => {
    const header = request.headers.authorization;
    const token = header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() : undefined;
    await this.check(token, request.ip);
  };
}
