/**
 * From where a request comes: a page of another site must not act here, whoever sits before it.
 *
 *  O1  A request that may change something (any method but GET, HEAD and OPTIONS; a handshake of socket.io) comes from
 *      a page of this server, or from a program that is no browser. It holds for every route, listed or not: a new one
 *      needs no thought.
 *  O2  A request under a name that this server does not know as its own is refused: the name may be another site's,
 *      whose page would then count as ours (DNS rebinding). Known are addresses, names that nobody can register in the
 *      public DNS, and what the options name. Only Host counts, behind proxies too: a page under a foreign name can
 *      send any X-Forwarded-Host, and not every proxy replaces it.
 *  O3  /data and /frame serve frames of an opaque origin: what admits there is a capability, and O1 asks nothing of
 *      them. (Long polling posts its frames.)
 *
 * A browser sends `Sec-Fetch-Site` (to HTTPS and localhost) and, with everything that is no plain GET, `Origin`; no
 * page can change either.
 */
import type { FastifyRequest } from 'fastify';
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { MayflyError } from '@mayfly/wire';

export interface OwnNames {
  /** Bind address, or a name of it. */
  readonly host: string;
  readonly publicUrl: string | undefined;
  /** PEM: the names in it are the server's own. */
  readonly certificate: string | undefined;
  /** What else the server is called; '.example.org' stands for every name below it. */
  readonly allowHosts: readonly string[];
}

interface Host {
  /** Lower case; of an IPv6 address without brackets. */
  readonly name: string;
  /** '' for the usual one of HTTP and of HTTPS. */
  readonly port: string;
}

const CHANGES_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);
/**
 * Of networks of one's own (RFC 6761, 6762, 8375; reserved by ICANN), or in no public DNS. A name without a dot is one,
 * too.
 */
const PRIVATE = ['localhost', 'local', 'internal', 'home.arpa', 'lan', 'test'];

/** undefined: it is no host. */
export function parseHost(text: string): Host | undefined {
  const m = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::(\d{1,5}))?$/.exec(text);
  if (m === null) return undefined;
  return {
    name: (m[1] ?? m[2]!).toLowerCase().replace(/\.$/, ''),
    port: m[3] === undefined || m[3] === '80' || m[3] === '443' ? '' : m[3],
  };
}

/** The name under which a client asks (O2). */
export const nameAsked = (headers: IncomingMessage['headers']): string => headers.host ?? '';

/** Short, and of harmless characters: it goes into messages. */
const shown = (text: string): string => text.replace(/[^\x21-\x7e]/g, '?').slice(0, 100);

const hostOfUrl = (url: string): Host | undefined => (URL.canParse(url) ? parseHost(new URL(url).host) : undefined);

export class Origins {
  readonly #names: Set<string>;
  readonly #suffixes: string[];
  readonly #public: Host | undefined;
  readonly #certificate: X509Certificate | undefined;

  constructor(own: OwnNames) {
    const all = [own.host, hostname(), ...own.allowHosts].map((n) => n.toLowerCase());
    this.#public = own.publicUrl === undefined ? undefined : hostOfUrl(own.publicUrl);
    this.#names = new Set([...all.filter((n) => !n.startsWith('.')), ...(this.#public ? [this.#public.name] : [])]);
    this.#suffixes = all.filter((n) => n.startsWith('.'));
    this.#certificate = own.certificate === undefined ? undefined : new X509Certificate(own.certificate);
  }

  /** Fastify hook, of the whole server: before tokens, limits and bodies. @throws MayflyError FORBIDDEN */
  readonly onRequest = async (request: FastifyRequest): Promise<void> => {
    // A load balancer asks under whatever name it has.
    if (request.routeOptions.url === '/healthz') return;
    const asked = nameAsked(request.headers);
    this.#checkHost(asked);
    if (!CHANGES_NOTHING.has(request.method) && !request.url.startsWith('/data/'))
      this.#checkOrigin(request.headers, asked);
  };

  /** A handshake of socket.io, which acts whatever its method. @throws MayflyError FORBIDDEN */
  checkHandshake(request: IncomingMessage): void {
    const asked = nameAsked(request.headers);
    this.#checkHost(asked);
    this.#checkOrigin(request.headers, asked);
  }

  /** O2 */
  #checkHost(text: string): void {
    // Only old programs send none; browsers always do.
    if (text === '') return;
    const host = parseHost(text);
    if (host !== undefined && this.#isOwn(host.name)) return;
    const name = host?.name ?? shown(text);
    throw new MayflyError(
      'FORBIDDEN',
      `This server does not know the name “${name}”. If that is one of its names, start it with --allow-host ` +
        `${name}, or with --public-url behind a proxy or tunnel.`,
    );
  }

  #isOwn(name: string): boolean {
    return (
      isIP(name) !== 0 ||
      !name.includes('.') ||
      this.#names.has(name) ||
      PRIVATE.some((p) => name.endsWith(`.${p}`)) ||
      this.#suffixes.some((s) => name.endsWith(s)) ||
      this.#certificate?.checkHost(name) !== undefined
    );
  }

  /** O1 */
  #checkOrigin(headers: IncomingMessage['headers'], asked: string): void {
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    if (site === 'same-origin' || site === 'none') return;
    const from = origin === undefined ? undefined : hostOfUrl(origin);
    if (from !== undefined && this.#isThisServer(from, parseHost(asked))) return;
    if (origin === undefined && site === undefined) return;
    const page = origin === undefined || origin === 'null' ? 'another site' : shown(origin);
    const hint =
      from === undefined ? '' : ` If that is the address of this server, start it with --public-url ${shown(origin!)}.`;
    throw new MayflyError(
      'FORBIDDEN',
      `A page of ${page} may not do this: only pages of this server and programs other than browsers may.${hint}`,
    );
  }

  #isThisServer(from: Host, asked: Host | undefined): boolean {
    return (
      (asked !== undefined && from.name === asked.name && from.port === asked.port) ||
      (this.#public !== undefined && from.name === this.#public.name && from.port === this.#public.port)
    );
  }
}
