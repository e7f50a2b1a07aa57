/** A real issuer on the loopback (oidc-provider), and a browser of its own that signs people in there. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As much of it as is used here: it comes without types. */
interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  AuthorizationCode: { find(code: string): Promise<{ destroy(): Promise<void> } | undefined> };
}
const NAME = 'oidc-provider';

/** It tells its console that this is no way to run it for others. */
async function newProvider(url: string, configuration: object): Promise<Provider> {
  for (const level of ['warn', 'info', 'log'] as const) console[level] = () => undefined;
  const { default: Provider } = (await import(NAME)) as { default: new (url: string, o: object) => Provider };
  return new Provider(url, configuration);
}

export interface Person {
  email: string;
  email_verified?: boolean;
  groups?: string[];
}

export interface Issuer {
  readonly url: string;
  readonly provider: Provider;
  /** By the name that is typed at the issuer. */
  readonly people: Map<string, Person>;
  /** Answers a request in place of the issuer, when it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

/** `redirectUris` of the clients `mayfly` (secret: `secret`) and `other`; `host`: a name of the loopback. */
export async function startIssuer(redirectUris: string[], port = 0, host = '127.0.0.1'): Promise<Issuer> {
  const people = new Map<string, Person>();
  let begin: (issuer: Issuer) => void = () => undefined;
  // A request that comes before the issuer is there waits.
  const begun = new Promise<Issuer>((resolve) => (begin = resolve));
  const server: Server = createServer((request, response) => {
    void begun.then((issuer) => {
      if (!issuer.intercept?.(request, response)) void issuer.provider.callback()(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const provider = await newProvider(url, {
    clients: ['mayfly', 'other'].map((client_id) => ({
      client_id,
      client_secret: 'secret',
      redirect_uris: redirectUris,
      grant_types: ['authorization_code'],
    })),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
    cookies: { keys: ['for the test only'] },
  });
  const issuer: Issuer = {
    url,
    provider,
    people,
    intercept: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  begin(issuer);
  return issuer;
}

/** Cookies by host, redirects one by one. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  cookies(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }

  async go(
    url: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; to: string; text: string; set: string[] }> {
    const jar = this.cookies(url);
    const response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    const set = response.headers.getSetCookie();
    for (const line of set) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name!);
      else jar.set(name!, value!);
    }
    const to = response.headers.get('location');
    return { status: response.status, to: to === null ? '' : new URL(to, url).href, text: await response.text(), set };
  }

  /** Signs in at the issuer, where `url` leads, and agrees. @returns where the issuer sends the browser */
  async signIn(url: string, person: string): Promise<string> {
    const issuer = new URL(url).origin;
    let at = await this.go(url);
    for (let step = 0; step < 20; step++) {
      if (at.to !== '' && !at.to.startsWith(issuer)) return at.to;
      if (at.to !== '') {
        at = await this.go(at.to);
        continue;
      }
      const action = /action="([^"]+)"/.exec(at.text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(at.text)?.[1];
      if (action === undefined || prompt === undefined)
        throw new Error(`no form: ${at.status} ${at.text.slice(0, 300)}`);
      at = await this.go(new URL(action, issuer).href, {
        prompt,
        ...(prompt === 'login' ? { login: person, password: 'x' } : {}),
      });
    }
    throw new Error('the issuer never came back');
  }
}
