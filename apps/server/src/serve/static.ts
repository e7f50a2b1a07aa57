/** Static files: the web app (with SPA fallback and cross-origin isolation) and the sandboxed frame. */
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { at } from '@mayfly/rest';
import { frameHeaders, pageHeaders, widgetHeaders, widgetScriptHeaders } from '@mayfly/node/frame-headers';
import { ERRORS } from '@mayfly/wire';
import { nameAsked } from './origin.ts';

export interface StaticOptions {
  webRoot: string | undefined;
  frameRoot: string | undefined;
  publicUrl: string | undefined;
}

/**
 * As the browser sees this server. The Host header and X-Forwarded-Proto may be the client's own words, so only
 * harmless characters pass into a CSP.
 */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  const host = nameAsked(request.headers);
  // Behind a proxy that ends TLS, only the public URL knows the scheme that the browser sees.
  if (publicUrl !== undefined && new URL(publicUrl).host === host) return new URL(publicUrl).origin;
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  if (/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host)) return `${scheme}://${host}`;
  return publicUrl === undefined ? 'http://localhost' : new URL(publicUrl).origin;
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mayfly</title><h1>Mayfly runs</h1>' +
  ('<p>The pages of this server are not built (npm run build). The REST API is at <a ' +
    'href="/openapi.json">/openapi.json</a>.</p></html>');

export async function serveStatic(app: FastifyInstance, o: StaticOptions): Promise<void> {
  if (o.frameRoot !== undefined)
    await app.register(async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        void reply.headers(
          frameHeaders(originOf(request, o.publicUrl), (request.query as { embedded?: string }).embedded !== undefined),
        );
      });
      await scope.register(fastifyStatic, {
        root: o.frameRoot!,
        prefix: '/frame/',
        decorateReply: false,
        cacheControl: false,
        index: 'index.html',
      });
    });
  if (o.webRoot !== undefined)
    await app.register(fastifyStatic, {
      root: o.webRoot,
      prefix: '/',
      cacheControl: false,
      index: 'index.html',
      // The build lays compressed copies of scripts and styles beside them.
      preCompressed: true,
      setHeaders: (reply, path) => {
        const page = /^\/widget(\?|$)/.test(reply.request.url) ? widgetHeaders : pageHeaders;
        reply.headers(/[/\\]widget\.js$/.test(path) ? widgetScriptHeaders : page);
        reply.header(
          'Cache-Control',
          /[/\\]assets[/\\]/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
      },
    });
  else
    app.route({
      ...at('GET /'),
      handler: async (_request, reply) => reply.headers(pageHeaders).type('text/html').send(NOT_BUILT),
    });

  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0]!;
    const page =
      (request.method === 'GET' || request.method === 'HEAD') &&
      !/^\/(api|data|frame|assets|socket\.io)(\/|$)/.test(path) &&
      !/\.[a-z0-9]{1,8}$/i.test(path);
    if (page && o.webRoot !== undefined) return reply.header('Cache-Control', 'no-cache').sendFile('index.html');
    return reply
      .status(404)
      .send({ code: 'NOT_FOUND', message: `${request.method} ${path} does not exist. ${ERRORS.NOT_FOUND.advice}` });
  });
}
