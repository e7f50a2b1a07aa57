/** The one door: every request and every message of a dashboard passes here, with its token and what access.ts asks of it. */
import type { FastifyRequest } from 'fastify';
import { MayflyError, type DashboardRequests } from '@mayfly/wire';
import { EVENTS, accessOf, needsToken, permit } from '../access.ts';
import type { Principal, Tokens } from '../tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where no token is needed. */
    principal: Principal | null;
  }
}

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
  readonly #tokens: Tokens;
  readonly #wrong: MinuteCounter;
  readonly #ownerOf: (job: string) => string | undefined;

  /** `ownerOf`: the name of the token that submitted a job, undefined when there is no such job. */
  constructor(tokens: Tokens, wrongPerMinute: number, ownerOf: (job: string) => string | undefined) {
    this.#tokens = tokens;
    this.#wrong = new MinuteCounter(wrongPerMinute);
    this.#ownerOf = ownerOf;
  }

  /** @throws MayflyError UNAUTHORIZED, TOO_MANY */
  async identify(token: string | undefined, address: string): Promise<Principal> {
    if (!this.#wrong.allows(address)) throw new MayflyError('TOO_MANY', 'Too many wrong tokens from this address; wait a minute.');
    if (token === undefined || token === '') throw new MayflyError('UNAUTHORIZED', 'This needs a token: send it as "Authorization: Bearer <token>".');
    const principal = await this.#tokens.find(token);
    if (principal) return principal;
    this.#wrong.add(address);
    throw new MayflyError('UNAUTHORIZED', 'That is no token of this server, or one that was revoked or is over.');
  }

  /** Fastify hook, of the whole server. */
  readonly onRequest = async (request: FastifyRequest): Promise<void> => {
    const { url, method } = request.routeOptions;
    if (request.is404 || url === undefined) return;
    const access = accessOf([method].flat()[0] ?? request.method, url);
    if (access === undefined) throw new MayflyError('INTERNAL', 'This route says not who may use it.');
    if (!needsToken(access)) return;
    const header = request.headers.authorization;
    request.principal = await this.identify(header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() : undefined, request.ip);
    const { id } = (request.params ?? {}) as { id?: string };
    permit(request.principal, access, access === 'own' && id !== undefined ? this.#ownerOf(id) : undefined);
  };

  /** A message of a dashboard. @throws MayflyError FORBIDDEN, BAD_REQUEST */
  permitEvent(principal: Principal, event: string): void {
    const role = Object.hasOwn(EVENTS, event) ? EVENTS[event as keyof DashboardRequests] : undefined;
    if (role === undefined) throw new MayflyError('BAD_REQUEST', 'There is no such message.');
    permit(principal, role);
  }
}
