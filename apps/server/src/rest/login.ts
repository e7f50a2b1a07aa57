/**
 * Signing in through an OpenID Connect issuer, for browsers: /login leads there, /login/callback back. And what a
 * signed-in person has: a token for a terminal, and the end of it.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MayflyError } from '@mayfly/wire';
import { LOGIN, SESSION, cookie, readCookie } from '../login/cookies.ts';
import type { LoginProblem, Oidc } from '../login/oidc.ts';
import { originOf } from '../serve/static.ts';
import type { Tokens } from '../tokens.ts';

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
  const isSecure = (request: FastifyRequest): boolean => originOf(request, o.publicUrl).startsWith('https:');
  const back = (reply: FastifyReply, problem: LoginProblem | 'none'): FastifyReply =>
    reply.header('cache-control', 'no-store').redirect(`/dashboard?login=${problem}`);

  app.route({
    ...at('GET /login'),
    handler: async (request, reply) => {
      if (!oidc) return back(reply, 'none');
      const { to } = request.query as { to?: unknown };
      const begun = await oidc.begin(
        `${originOf(request, o.publicUrl)}/login/callback`,
        typeof to === 'string' && PAGE.test(to) ? to : '/dashboard',
      );
      if (typeof begun === 'string') return back(reply, begun);
      const set = cookie(LOGIN, begun.id, { secure: isSecure(request), seconds: 600, site: 'Lax' });
      return reply.header('set-cookie', set).header('cache-control', 'no-store').redirect(begun.url);
    },
  });

  app.route({
    ...at('GET /login/callback'),
    handler: async (request, reply) => {
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
    },
  });

  app.route({
    ...at('POST /api/logout'),
    handler: async (request, reply) => {
      const { id, login } = request.principal!;
      if (id === undefined || login === undefined)
        throw new MayflyError('CONFLICT', 'This token was not made by a login: an owner revokes it.');
      await tokens.revoke(id);
      const forget = cookie(SESSION, '', { secure: isSecure(request), seconds: 0, site: 'Strict' });
      return reply.header('set-cookie', forget).send({ ok: true as const });
    },
  });

  app.route({
    ...at('POST /api/me/token'),
    handler: async (request, reply) => {
      const { name, role, login } = request.principal!;
      // A token that makes its successor would never end.
      if (login !== 'browser')
        throw new MayflyError('CONFLICT', 'Only a person who is signed in on a page can create such a token.');
      const created = await tokens.signIn({ name, role }, 'terminal', TERMINAL_S * 1000);
      return reply.status(201).header('cache-control', 'no-store').send(created);
    },
  });
}
