/**
 * Signing in through an OpenID Connect issuer, for browsers: /login leads there, /login/callback back. And what a
 * signed-in person has: a token for a terminal, and the end of it.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MayflyError, TokenCreated } from '@mayfly/wire';
import { LOGIN, SESSION, cookie, readCookie } from '../login/cookies.ts';
import type { LoginProblem, Oidc } from '../login/oidc.ts';
import { originOf } from '../serve/static.ts';
import type { Tokens } from '../tokens.ts';
import { Ok, refusals } from './schemas.ts';

const HOUR_S = 3600;
const SESSION_S = 12 * HOUR_S;
const TERMINAL_S = 30 * 24 * HOUR_S;
/** A page of this server, and nothing that a browser could take for another site. */
const PAGE = /^\/(?:[\w-]+(?:\/[\w-]+)*)?$/;

export function loginRoutes(
  plain: FastifyInstance,
  o: { oidc: Oidc | undefined; tokens: Tokens; publicUrl: string | undefined },
): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const { oidc, tokens } = o;
  const hidden = { schema: { hide: true } as object };
  const isSecure = (request: FastifyRequest): boolean => originOf(request, o.publicUrl).startsWith('https:');
  const back = (reply: FastifyReply, problem: LoginProblem | 'none'): FastifyReply =>
    reply.header('cache-control', 'no-store').redirect(`/dashboard?login=${problem}`);

  app.get('/login', hidden, async (request, reply) => {
    if (!oidc) return back(reply, 'none');
    const { to } = request.query as { to?: unknown };
    const begun = await oidc.begin(
      `${originOf(request, o.publicUrl)}/login/callback`,
      typeof to === 'string' && PAGE.test(to) ? to : '/dashboard',
    );
    if (typeof begun === 'string') return back(reply, begun);
    const set = cookie(LOGIN, begun.id, { secure: isSecure(request), seconds: 600, site: 'Lax' });
    return reply.header('set-cookie', set).header('cache-control', 'no-store').redirect(begun.url);
  });

  app.get('/login/callback', hidden, async (request, reply) => {
    if (!oidc) return back(reply, 'none');
    const secure = isSecure(request);
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
    const who = await oidc.finish(readCookie(request.headers.cookie, LOGIN), query);
    const forget = cookie(LOGIN, '', { secure, seconds: 0, site: 'Lax' });
    if ('failed' in who) return back(reply, who.failed);
    const { name } = who;
    if ('problem' in who) {
      request.log.info({ who: name, did: 'login', refused: who.problem, address: request.ip }, 'audit');
      return back(reply.header('set-cookie', forget), 'not-allowed');
    }
    const session = await tokens.signIn(who, 'browser', SESSION_S * 1000);
    request.log.info({ who: name, tokenId: session.id, role: who.role, did: 'login', address: request.ip }, 'audit');
    return reply
      .header('set-cookie', [cookie(SESSION, session.token, { secure, seconds: SESSION_S, site: 'Strict' }), forget])
      .header('cache-control', 'no-store')
      .redirect(who.to);
  });

  app.post(
    '/api/logout',
    {
      schema: {
        summary: 'End the session or the login token that is sent',
        tags: ['tokens'],
        response: { 200: Ok, ...refusals(401, 409, 507) },
      },
    },
    async (request, reply) => {
      const { id, login } = request.principal!;
      if (id === undefined || login === undefined)
        throw new MayflyError('CONFLICT', 'This token was not made by a login: an owner revokes it.');
      await tokens.revoke(id);
      const forget = cookie(SESSION, '', { secure: isSecure(request), seconds: 0, site: 'Strict' });
      return reply.header('set-cookie', forget).send({ ok: true as const });
    },
  );

  app.post(
    '/api/me/token',
    {
      schema: {
        summary: 'Create a token for a terminal or a script of the person who is signed in; only this answer shows it',
        tags: ['tokens'],
        response: { 201: TokenCreated, ...refusals(401, 409, 507) },
      },
    },
    async (request, reply) => {
      const { name, role, login } = request.principal!;
      // A token that makes its successor would never end.
      if (login !== 'browser')
        throw new MayflyError('CONFLICT', 'Only a person who is signed in on a page can create such a token.');
      const created = await tokens.signIn({ name, role }, 'terminal', TERMINAL_S * 1000);
      return reply.status(201).header('cache-control', 'no-store').send(created);
    },
  );
}
