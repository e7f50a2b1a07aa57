/**
 * Login through an OpenID Connect issuer: authorization code flow with PKCE (openid-client).
 *
 * Owns: what is known of the issuer, and the logins that have begun. Does not own: sessions (tokens.ts), cookies
 * (rest/login.ts).
 *  L3  An issuer that does not answer does not keep the server from starting. It is asked again after RETRY_MS, then
 *      after twice the pause each time, and whenever somebody wants to sign in.
 *  L4  A login ends where it began: the browser brings the id of its cookie, and the answer the state that belongs to
 *      it. It counts once, for TEN_MINUTES.
 *  L5  Nothing that the issuer answers is logged but the code of its error and the name.
 */
import type { Configuration } from 'openid-client';
import type { Logger } from '../logger.ts';
import { randomId } from '../secrets.ts';
import { neededClaims, whoIs, type OidcRules, type Who } from './who.ts';

export interface OidcOptions extends OidcRules {
  /** https, or http on this machine. */
  issuer: string;
  clientId: string;
  /** Absent: a public client, which has only PKCE. */
  clientSecret?: string;
  /** What is asked for. Default 'openid email profile'. */
  scope?: string;
}

/** Why a login came to nothing; the page has a sentence for each. */
export type LoginProblem = 'unavailable' | 'expired' | 'refused' | 'failed' | 'not-allowed';

interface Begun {
  /** On the clock of performance.now. */
  at: number;
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  /** Path of the page that wants it. */
  to: string;
}

const RETRY_MS = 1000;
const RETRY_MAX_MS = 300_000;
const TEN_MINUTES = 600_000;
const ANSWER_S = 15;
const MOST = 10_000;

/** openid-client, loaded when there is an issuer. */
const library = () => import('openid-client');

export class Oidc {
  readonly #o: OidcOptions;
  readonly #logger: Logger;
  readonly #begun = new Map<string, Begun>();
  #config: Configuration | undefined;
  #asking: Promise<Configuration | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: OidcOptions, logger: Logger) {
    this.#o = options;
    this.#logger = logger;
  }

  /** L3. */
  start(retryMs = RETRY_MS): void {
    void this.#ask().then((config) => {
      if (config || this.#closed) return;
      this.#timer = setTimeout(() => this.start(Math.min(RETRY_MAX_MS, retryMs * 2)), retryMs);
      this.#timer.unref();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Of the issuer, for people. */
  get host(): string {
    return new URL(this.#o.issuer).host;
  }

  get ready(): boolean {
    return this.#config !== undefined;
  }

  /** One question at a time. */
  async #ask(): Promise<Configuration | undefined> {
    if (this.#config) return this.#config;
    return (this.#asking ??= this.#discover().finally(() => (this.#asking = undefined)));
  }

  async #discover(): Promise<Configuration | undefined> {
    const { issuer, clientId, clientSecret } = this.#o;
    try {
      const client = await library();
      const config = await client.discovery(
        new URL(issuer),
        clientId,
        clientSecret,
        clientSecret === undefined ? client.None() : undefined,
        { timeout: ANSWER_S, ...(issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {}) },
      );
      this.#logger.info({ issuer }, 'the login issuer answers');
      return (this.#config = config);
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { message?: string } };
      this.#logger.warn(
        { issuer, error: message, cause: cause?.message },
        'the login issuer does not answer; retrying',
      );
      return undefined;
    }
  }

  /** Where the browser goes, and the id that it keeps as a cookie. */
  async begin(redirectUri: string, to: string): Promise<{ url: string; id: string } | LoginProblem> {
    const config = await this.#ask();
    if (!config) return 'unavailable';
    const client = await library();
    const begun: Begun = {
      at: performance.now(),
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
      to,
    };
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.#o.scope ?? 'openid email profile',
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    });
    for (const [id, b] of this.#begun) {
      if (b.at > performance.now() - TEN_MINUTES && this.#begun.size < MOST) break; // oldest first
      this.#begun.delete(id);
    }
    const id = randomId(40);
    this.#begun.set(id, begun);
    return { url: url.href, id };
  }

  /** `id`: of the cookie; `query`: of the address to which the issuer sent the browser. */
  async finish(id: string | undefined, query: string): Promise<(Who & { to: string }) | { failed: LoginProblem }> {
    const begun = id === undefined ? undefined : this.#begun.get(id);
    if (id === undefined || !begun || begun.at < performance.now() - TEN_MINUTES) return { failed: 'expired' };
    const config = this.#config;
    if (!config) return { failed: 'unavailable' };
    const answer = new URL(begun.redirectUri);
    answer.search = query;
    // L4: an answer that belongs to another login does not end this one.
    if (answer.searchParams.get('state') !== begun.state) {
      this.#logger.info({ error: 'state mismatch' }, 'login failed');
      return { failed: 'failed' };
    }
    this.#begun.delete(id);
    try {
      const client = await library();
      const tokens = await client.authorizationCodeGrant(config, answer, {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      });
      let claims: Record<string, unknown> = { ...tokens.claims()! };
      const lacks = neededClaims(this.#o).some((c) => claims[c] === undefined);
      if (lacks && config.serverMetadata().userinfo_endpoint !== undefined)
        claims = { ...(await client.fetchUserInfo(config, tokens.access_token, String(claims['sub']))), ...claims };
      return { ...whoIs(this.#o, claims), to: begun.to };
    } catch (error) {
      const { code, error: said } = error as { code?: string; error?: string };
      const { message, cause } = error as Error & { cause?: { message?: string; code?: string } };
      this.#logger.warn({ code, error: said ?? message, cause: cause?.code }, 'login failed');
      if (said === 'access_denied') return { failed: 'refused' };
      if (said === 'invalid_grant') return { failed: 'expired' };
      return { failed: 'failed' };
    }
  }
}
