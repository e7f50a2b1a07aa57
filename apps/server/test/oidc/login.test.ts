/** Login through a real issuer: sessions, roles, who is refused, and what goes wrong on the way (L1–L5, T4). */
import { createServer as createSocket } from 'node:net';
import { Writable } from 'node:stream';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type MayflyServer } from '@mayfly/server';
import type { TokenView } from '@mayfly/wire';
import { TOKEN, until } from '../harness.ts';
import { Browser, startIssuer, type Issuer } from './issuer.ts';

let dataDir: string;
let issuer: Issuer;
let server: MayflyServer;
let log = '';

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const s = createSocket().listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number };
      s.close(() => done(port));
    });
  });

beforeAll(async () => {
  const port = await freePort();
  const issuerPort = await freePort();
  dataDir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
  // L3: the server starts first, and nobody answers.
  server = await createServer({
    dataDir,
    port,
    token: TOKEN,
    log: { level: 'info', stream: new Writable({ write: (chunk, _e, done) => ((log += String(chunk)), done()) }) },
    oidc: {
      issuer: `http://127.0.0.1:${issuerPort}`,
      clientId: 'mayfly',
      clientSecret: 'secret',
      scope: 'openid email groups',
      allowDomains: ['example.org'],
      allowGroups: ['guests'],
      admins: ['root@elsewhere.net'],
    },
  });
  await until('the failure is in the log', () => log.includes('the login issuer does not answer'));
  expect(await info()).toMatchObject({ login: { by: `127.0.0.1:${issuerPort}`, ready: false } });
  expect((await new Browser().go(`${server.localUrl}/login`)).to).toBe(
    `${server.localUrl}/dashboard?login=unavailable`,
  );
  issuer = await startIssuer([`${server.localUrl}/login/callback`], issuerPort);
  for (const [name, p] of Object.entries({
    ada: { email: 'ada@example.org', email_verified: true },
    mallory: { email: 'mallory@example.org', email_verified: false },
    eve: { email: 'eve@example.org.evil.net', email_verified: true },
    guest: { email: 'guest@elsewhere.net', email_verified: true, groups: ['guests', 'others'] },
    root: { email: 'root@elsewhere.net', email_verified: true },
  }))
    issuer.people.set(name, p);
  // L3: the server asks again by itself.
  await until('it answers', async () => (await info()).login.ready);
});
afterAll(async () => {
  await server.close();
  await issuer.close();
  await rm(dataDir, { recursive: true, force: true });
});

const info = async (): Promise<{ login: { by: string; ready: boolean } }> =>
  (await server.inject({ url: '/api/info' })).json() as never;
/** As a page of this server asks. */
async function ask(browser: Browser, method: string, path: string, origin = server.localUrl) {
  const jar = browser.cookies(server.localUrl);
  const response = await fetch(server.localUrl + path, {
    method,
    headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; '), origin },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
/** From /login to the answer of /login/callback. */
async function login(person: string, browser = new Browser()) {
  const { to } = await browser.go(`${server.localUrl}/login?to=/dashboard/rooms`);
  return { browser, ...(await browser.go(await browser.signIn(to, person))) };
}
const session = (browser: Browser): string => browser.cookies(server.localUrl).get('mayfly-session') ?? '';

describe('a person signs in', () => {
  it('comes back to the page as the name of the claim, with a cookie that no script and no other site can use', async () => {
    const { browser, to, set } = await login('ada');
    expect(to).toBe(`${server.localUrl}/dashboard/rooms`);
    expect(set[0]).toMatch(/^mayfly-session=mf_\w+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(browser.cookies(server.localUrl).has('mayfly-login')).toBe(false);
    expect((await ask(browser, 'GET', '/api/me')).body).toMatchObject({
      name: 'ada@example.org',
      role: 'submitter',
      login: 'browser',
      expiresAt: expect.any(Number),
    });
    // Not from a page of another site, though the cookie comes along.
    expect((await ask(browser, 'POST', '/api/logout', 'https://evil.example')).status).toBe(403);
    expect(log).toContain('"did":"login"');
  });

  it('has live views by the cookie, and nothing after signing out', async () => {
    const { browser } = await login('ada');
    const headers = { cookie: `mayfly-session=${session(browser)}` };
    const socket = io(`${server.localUrl}/dashboard`, {
      transports: ['websocket'],
      forceNew: true,
      extraHeaders: headers,
      reconnection: false,
    });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
    const cut = new Promise((resolve) => socket.once('disconnect', resolve));
    const kept = session(browser);
    expect((await ask(browser, 'POST', '/api/logout')).status).toBe(200);
    expect(await cut).toBe('io server disconnect');
    const late = await server.inject({ url: '/api/me', headers: { cookie: `mayfly-session=${kept}` } });
    expect(late.statusCode).toBe(401);
  });

  it('makes a token for a terminal, which makes no other one; both are in the list, and can be revoked', async () => {
    const { browser } = await login('guest');
    const made = (await ask(browser, 'POST', '/api/me/token')).body as { token: string; id: string };
    const headers = { authorization: `Bearer ${made.token}` };
    expect((await server.inject({ url: '/api/me', headers })).json()).toMatchObject({
      name: 'guest@elsewhere.net',
      role: 'submitter',
      login: 'terminal',
    });
    expect((await server.inject({ method: 'POST', url: '/api/me/token', headers })).statusCode).toBe(409);
    const owner = { authorization: `Bearer ${TOKEN}` };
    expect((await server.inject({ method: 'POST', url: '/api/logout', headers: owner })).statusCode).toBe(409);
    const list = (await server.inject({ url: '/api/tokens', headers: owner })).json() as TokenView[];
    expect(list.filter((t) => t.name === 'guest@elsewhere.net').map((t) => t.login)).toEqual(['terminal', 'browser']);
    expect((await server.inject({ method: 'DELETE', url: `/api/tokens/${made.id}`, headers: owner })).statusCode).toBe(
      200,
    );
    expect((await server.inject({ url: '/api/me', headers })).statusCode).toBe(401);
  });

  it('is an owner when the options say so, and nobody when they do not, or the address is not verified', async () => {
    expect((await ask((await login('root')).browser, 'GET', '/api/me')).body).toMatchObject({ role: 'owner' });
    for (const person of ['mallory', 'eve']) {
      const { browser, to } = await login(person);
      expect(to, person).toBe(`${server.localUrl}/dashboard?login=not-allowed`);
      expect(session(browser), person).toBe('');
    }
    expect(log).toContain('"refused":"the issuer has not verified the e-mail address"');
    expect(log).toContain('"refused":"not among those who may sign in"');
  });
});

describe('what goes wrong on the way', () => {
  const begin = async (): Promise<{ browser: Browser; back: URL; nonce: string }> => {
    const browser = new Browser();
    const { to } = await browser.go(`${server.localUrl}/login`);
    const nonce = new URL(to).searchParams.get('nonce')!;
    return { browser, back: new URL(await browser.signIn(to, 'ada')), nonce };
  };
  const problem = async (browser: Browser, url: URL | string): Promise<string | null> => {
    const { to } = await browser.go(String(url));
    expect(session(browser)).toBe('');
    return new URL(to).searchParams.get('login');
  };

  it('L4: another state, another browser, a second use of an answer', async () => {
    const { browser, back } = await begin();
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect(await problem(browser, forged)).toBe('failed');
    expect(await problem(new Browser(), back)).toBe('expired');
    // The true answer still counts, once.
    expect((await browser.go(back.href)).to).toBe(`${server.localUrl}/dashboard`);
    expect((await browser.go(back.href)).to).toBe(`${server.localUrl}/dashboard?login=expired`);
  });

  it('a code that the issuer does not know any more; a person who refuses; an answer of nonsense', async () => {
    const { browser, back } = await begin();
    await (await issuer.provider.AuthorizationCode.find(back.searchParams.get('code')!))!.destroy();
    expect(await problem(browser, back)).toBe('expired');
    const refused = await begin();
    const no = new URL(refused.back);
    no.searchParams.delete('code');
    no.searchParams.set('error', 'access_denied');
    expect(await problem(refused.browser, no)).toBe('refused');
    const odd = await begin();
    odd.back.searchParams.delete('code');
    expect(await problem(odd.browser, odd.back)).toBe('failed');
    expect(await problem(new Browser(), `${server.localUrl}/login/callback`)).toBe('expired');
  });

  it('an ID token that was made for another client, and one with another nonce', async () => {
    for (const [what, client, nonce, expected] of [
      ['the right one, not by the usual way', 'mayfly', 'same', undefined],
      ['another client', 'other', 'same', 'failed'],
      ['another nonce', 'mayfly', 'n'.repeat(43), 'failed'],
    ] as const) {
      const begun = await begin();
      const body = await tokensOf(client, nonce === 'same' ? begun.nonce : nonce);
      issuer.intercept = (request, response) => {
        if (request.url !== '/token') return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        return true;
      };
      if (expected === undefined)
        expect((await begun.browser.go(begun.back.href)).to, what).toBe(`${server.localUrl}/dashboard`);
      else expect(await problem(begun.browser, begun.back), what).toBe(expected);
      issuer.intercept = undefined;
    }
  });

  /** What the issuer gives another client, or this one in another flow. */
  async function tokensOf(client: string, nonce: string): Promise<string> {
    const verifier = 'v'.repeat(43);
    const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier))).toString('base64url');
    const redirect_uri = `${server.localUrl}/login/callback`;
    const query = new URLSearchParams({
      client_id: client,
      redirect_uri,
      response_type: 'code',
      scope: 'openid email groups',
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const back = new URL(await new Browser().signIn(`${issuer.url}/auth?${query}`, 'ada'));
    const response = await fetch(`${issuer.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: back.searchParams.get('code')!,
        redirect_uri,
        code_verifier: verifier,
      }),
    });
    expect(response.status).toBe(200);
    return response.text();
  }

  it('nothing leads to another site, and no secret is in log or registry', async () => {
    for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', '/dashboard@evil.example']) {
      const browser = new Browser();
      const { to: at } = await browser.go(`${server.localUrl}/login?to=${encodeURIComponent(to)}`);
      expect((await browser.go(await browser.signIn(at, 'ada'))).to, to).toBe(`${server.localUrl}/dashboard`);
    }
    const { browser } = await login('ada');
    const secret = session(browser).slice(14);
    expect(secret.length).toBe(40);
    expect(log).not.toContain(secret);
    for (const file of await readdir(join(dataDir, 'registry')))
      expect((await readFile(join(dataDir, 'registry', file))).includes(secret), file).toBe(false);
  });
});

it('the server does not start when the options let in nobody or anybody by mistake', async () => {
  const oidc = { issuer: 'https://login.example', clientId: 'c' };
  const start = (o: object) => createServer({ dataDir: join(dataDir, 'none'), port: 0, oidc: { ...oidc, ...o } });
  await expect(start({})).rejects.toThrow(/who may sign in/);
  await expect(start({ allowAll: true, issuer: 'http://login.example' })).rejects.toThrow(/must be an https URL/);
});
