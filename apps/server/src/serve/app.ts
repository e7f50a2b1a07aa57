/** The HTTP application before it has routes: what holds for every request, whoever sends it. */
import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox';
import Fastify, { LogController, type FastifyInstance } from 'fastify';
import type { Server as HttpServer } from 'node:http';
import { MORE_FILES } from '@mayfly/storage';
import { logTo } from '../logger.ts';
import type { ResolvedOptions } from '../options.ts';
import { isProxy } from './address.ts';
import { answerClientError, answerError, installErrors } from './errors.ts';
import { takeJson } from './json.ts';
import { endUnread } from './unread.ts';

export function newApp(o: ResolvedOptions, tls: { cert: string; key: string } | undefined): FastifyInstance {
  const logger =
    o.log === 'silent'
      ? false
      : {
          ...logTo(o.log),
          redact: ['req.headers.authorization', 'req.headers.cookie'],
          serializers: {
            // Capabilities and tokens stand in query strings: never in the log.
            req: (r: { method: string; url: string; ip?: string }) => ({
              method: r.method,
              url: r.url.split('?')[0],
              ip: r.ip,
            }),
          },
        };
  const app = Fastify({
    logger,
    trustProxy: o.trustProxy > 0 && isProxy(o.trustProxy),
    bodyLimit: 1024 * 1024,
    // A poll of every dashboard is no news; refusals and failures are logged by errors.ts.
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    requestTimeout: 120_000,
    // What fails before there is a route, or even a request, leaves with a code of the registry too.
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
    ...(tls ? { https: { cert: tls.cert, key: tls.key } } : {}),
  } as object) as unknown as FastifyInstance;
  app.setValidatorCompiler(TypeBoxValidatorCompiler as never);
  // Answers are already plain JSON of known shapes; JSON.stringify keeps what a schema does not name.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  // A form of another site can send text, and nothing here takes any.
  app.removeContentTypeParser('text/plain');
  takeJson(app);
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  installErrors(app);
  endUnread(app.server as HttpServer);
  // With too many open files a connection cannot be accepted: without a listener that would end the process. The client
  // comes again.
  app.server.on('error', (error: Error) =>
    app.log.error({ err: error }, `a connection could not be accepted; if too many are open, ${MORE_FILES}`),
  );
  return app;
}
