/**
 * The one door: every request and every message of a dashboard passes here, with its token and what access.ts asks of
 * it.
 */
import type { FastifyRequest } from 'fastify';
import { MayflyError, type DashboardRequests } from '@mayfly/wire';
import { SESSION, readCookie } from '../login/cookies.ts';
import { EVENTS, needsToken, permit, routeOf } from '../access.ts';
import type { Principal, Tokens } from '../tokens.ts';
import type { WrongGuesses } from './guesses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where no token is needed. */
    principal: Principal | null;
  }
}

export class Guard {
  readonly #tokens: Tokens;
  readonly #wrong: WrongGuesses;
  readonly #ownerOf: (job: string) => string | undefined;

  /** `ownerOf`: the name of the token that submitted a job, undefined when there is no such job. */
  constructor(tokens: Tokens, wrong: WrongGuesses, ownerOf: (job: string) => string | undefined) {
    this.#tokens = tokens;
    this.#wrong = wrong;
    this.#ownerOf = ownerOf;
  }

  /**
   * A valid token passes, however many wrong ones came from the same address. @throws MayflyError UNAUTHORIZED,
   * TOO_MANY
   */
  async identify(token: string | undefined, address: string): Promise<Principal> {
    if (token === undefined || token === '')
      throw new MayflyError('UNAUTHORIZED', 'This requires a token: send it as "Authorization: Bearer <token>".');
    const principal = await this.#tokens.find(token);
    if (principal) return principal;
    if (this.#wrong.add(address)) throw new MayflyError('UNAUTHORIZED', 'Invalid, revoked or expired token.');
    throw new MayflyError(
      'TOO_MANY',
      `Invalid token, and too many invalid tokens arrived within a minute (${this.#wrong.perMinute} from one ` +
        'address). The server accepts a valid token at any time.',
    );
  }

  /** Fastify hook, of the whole server. */
  readonly onRequest = async (request: FastifyRequest): Promise<void> => {
    const { url, method } = request.routeOptions;
    if (request.is404 || url === undefined) return;
    const access = routeOf([method].flat()[0] ?? request.method, url)?.access;
    if (access === undefined) throw new MayflyError('INTERNAL', 'This route has no access rule.');
    if (!needsToken(access)) return;
    const header = request.headers.authorization;
    request.principal = await this.identify(
      header !== undefined && /^bearer /i.test(header)
        ? header.slice(7).trim()
        : readCookie(request.headers.cookie, SESSION),
      request.ip,
    );
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
