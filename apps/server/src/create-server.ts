/**
 * Assembles the server: storage, secrets, runtime, REST, sockets, static files. Listens only after every job has
 * recovered.
 */
import swagger from '@fastify/swagger';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fewOpenFiles, openEmbeddedStorage, type BackupInfo, type Storage } from '@mayfly/storage';
import { createCompiler } from '@mayfly/toolchain';
import { FIRST_TOKEN, LESSON_OWNER, MayflyError } from '@mayfly/wire';
import { at } from '@mayfly/rest';
import { needsToken, refuseUnlisted, routeOf } from './access.ts';
import { backUp } from './back-up.ts';
import { Board } from './board.ts';
import { Dashboard } from './dashboard.ts';
import { Disk } from './disk.ts';
import type { Compilers } from './jobs/program.ts';
import { LESSON_ALLOWANCE, Lessons } from './lesson.ts';
import { Oidc } from './login/oidc.ts';
import { Metrics, type MetricSources } from './metrics.ts';
import { resolveOptions, type MayflyServer, type ResolvedOptions, type ServerOptions } from './options.ts';
import { boardRoute } from './rest/board.ts';
import { dataRoutes } from './rest/data.ts';
import { WrittenHashes } from './jobs/written-output.ts';
import { remembering } from './jobs/compile-cache.ts';
import { archiveRoutes } from './rest/archive.ts';
import { comparisonRoutes } from './rest/comparison.ts';
import { historyRoutes } from './rest/history.ts';
import { infoRoute, openRoutes, serverRoutes } from './rest/info.ts';
import { jobRoutes, submit } from './rest/jobs.ts';
import { lessonRoutes } from './rest/lesson.ts';
import { loginRoutes } from './rest/login.ts';
import { nodeRoutes } from './rest/nodes.ts';
import { describe, type OpenApi } from './rest/openapi.ts';
import { outputRoutes } from './rest/outputs.ts';
import { quotaRoutes } from './rest/quotas.ts';
import { reportRoutes } from './rest/reports.ts';
import { roomRoutes } from './rest/rooms.ts';
import { tokenRoutes } from './rest/tokens.ts';
import { Quotas } from './quotas.ts';
import { Rooms } from './rooms.ts';
import { RetentionKeeper } from './retention.ts';
import { Runtime } from './runtime.ts';
import { Secrets } from './secrets.ts';
import { ServerHealth } from './server-view.ts';
import { MeasuredStorage } from './storage-sizes.ts';
import { audit } from './serve/audit.ts';
import { Examples } from './serve/examples.ts';
import { listenError } from './serve/listen-error.ts';
import { Guard } from './serve/guard.ts';
import { networkOf } from './serve/address.ts';
import { WrongGuesses } from './serve/guesses.ts';
import { Origins } from './serve/origin.ts';
import { serveSockets } from './serve/sockets.ts';
import { compressAnswers } from './serve/compress.ts';
import { serveStatic } from './serve/static.ts';
import { newApp } from './serve/app.ts';
import { loadTls } from './tls.ts';
import { Tokens } from './tokens.ts';
import { Webhooks } from './webhooks.ts';

/** Characters: a shorter one can be tried out. */
const SHORT_TOKEN = 16;

/**
 * Starts a server on `options.dataDir`.
 * @throws Error with a sentence for the terminal when an option makes no sense, a certificate cannot be read, or the
 * port is taken; MayflyError CONFLICT when another server uses the data directory; DAMAGED_DATA when its registry is
 * damaged or lacks jobs whose files are there.
 */
export async function createServer(options: ServerOptions): Promise<MayflyServer> {
  const o = resolveOptions(options);
  const storage = o.storage ?? (await openEmbeddedStorage({ dataDir: o.dataDir }));
  const undo: (() => Promise<unknown> | void)[] = [() => storage.close()];
  try {
    const tls = o.tls === undefined ? undefined : await loadTls(o.tls, o.dataDir, o.tlsNames ?? []);
    const secrets = await Secrets.open(storage.registry, o.token);
    const rooms = await Rooms.open(storage.registry);
    const quotas = await Quotas.open(storage.registry, o.quota ?? {});
    const board = await Board.open(storage.registry);
    undo.push(() => board.close());
    const metrics = new Metrics();
    const app = newApp(o, tls);
    undo.push(() => app.close());
    for (const notice of [...storage.notices, ...(tls?.notice === undefined ? [] : [tls.notice])])
      app.log.warn({ notice }, 'damage in the data directory');
    for (const path of storage.sharing?.discarded ?? [])
      app.log.warn({ path }, 'write-ahead files were discarded: another server has served since they were written');
    const fewFiles = fewOpenFiles();
    if (fewFiles !== undefined) app.log.warn(fewFiles);
    const disk = new Disk(o.dataDir, o.reserveBytes, app.log);
    undo.push(() => disk.close());
    await disk.open();
    // Before anything else is tried again.
    disk.before(() => storage.writable().catch((error: unknown) => void disk.failed(error, 'the storage')));
    const webhooks = await Webhooks.open(
      storage.registry,
      { privateAddresses: o.privateWebhooks ?? false, publicUrl: o.publicUrl },
      app.log,
    );
    const runtime = new Runtime({
      options: o,
      disk,
      log: storage.log,
      images: storage.images,
      registry: storage.registry,
      files: storage.files,
      output: storage.output,
      archive: storage.archive,
      secrets,
      rooms,
      board,
      webhooks,
      logger: app.log,
      metrics,
      sharing: storage.sharing,
    });
    undo.push(() => runtime.close());
    quotas.onChange = () => runtime.dispatcher.step({ type: 'quotas', quotas: quotas.slots() });
    const tokens = await Tokens.open(storage.registry, secrets, app.log);
    if (o.token !== undefined && o.token.length < SHORT_TOKEN)
      app.log.warn(
        `the token has only ${o.token.length} characters and could be guessed, because the server always ` +
          `accepts a correct token: use ${SHORT_TOKEN} or more random characters`,
      );
    const oidc = o.oidc && new Oidc(o.oidc, app.log);
    undo.push(() => oidc?.close());
    const wrongTokens = new WrongGuesses(o.limits.wrongTokensPerMinute);
    const guard = new Guard(tokens, wrongTokens, (job) => runtime.ownerOf(job));
    const dashboard = new Dashboard(runtime, guard, app.log, o.limits, o.trustProxy);
    tokens.onEnd = (id) => dashboard.tokenEnded(id);
    runtime.observer = dashboard;
    undo.push(() => dashboard.close());
    const compiling = {
      ...(o.compileServer === undefined ? {} : { serverPath: o.compileServer }),
      ...(o.compileWorkers === undefined ? {} : { workers: o.compileWorkers }),
      rssMb: Math.ceil(o.limits.compileMemoryBytes / 2 ** 20),
    };
    const scripts = createCompiler({ ...compiling, cpuLimitMs: o.limits.compileScriptCpuMs });
    const modules = createCompiler({
      ...compiling,
      cpuLimitMs: o.limits.compileCpuMs,
      maxFiles: 2000,
      maxSourceBytes: 32 << 20,
    });
    const compilers = remembering({ scripts, modules });
    const closeCompilers = (): Promise<unknown> => Promise.all([scripts.close(), modules.close()]);
    undo.push(closeCompilers);
    const sizes = new MeasuredStorage(() => storage.usage());
    const retention = new RetentionKeeper({ runtime, storage, sizes }, o.retention, app.log);
    const sources: MetricSources = {
      nodes: () => {
        const here = runtime.nodes().filter((n) => n.state === 'here');
        return {
          here: here.length,
          slots: here.reduce((n, x) => n + x.slots, 0),
          busy: here.reduce((n, x) => n + x.busy, 0),
        };
      },
      jobs: () => countStates(runtime),
      links: () => runtime.memories.door.links,
      imageLinks: () => runtime.checkpoints.links,
      logBytes: () => runtime.logBytes(),
    };
    const health = new ServerHealth({
      ...sources,
      disk,
      metrics,
      dashboards: () => dashboard.count,
      sizes,
      ...(runtime.seats && { peers: () => runtime.seats!.peers() }),
      version: o.version,
      limitBytes: o.retention.diskBytes,
    });
    undo.push(() => health.close());
    const compiles = (): { running: number; waiting: number } => ({
      running: scripts.load().running + modules.load().running,
      waiting: scripts.load().waiting + modules.load().waiting,
    });
    metrics.observe({
      ...sources,
      compiles,
      dashboards: () => dashboard.count,
      storage: () => health.storage(),
      disk: () => disk.view(),
      version: o.version,
    });

    let stopping = false;
    let backingUp: ReturnType<Parts['backup']> | undefined;
    // One at a time; a request meanwhile gets the same one.
    const backup: Parts['backup'] = () =>
      (backingUp ??= backUp(storage, o, app.log).finally(() => (backingUp = undefined)));
    const lessons = new Lessons({
      runtime,
      rooms,
      submit: (s) =>
        submit({ runtime, disk, rooms, quotas, compilers, ...ofJobs(o) }, s, LESSON_OWNER, {
          allowance: LESSON_ALLOWANCE,
        }),
      logger: app.log,
    });
    undo.push(() => lessons.close());
    const origins = new Origins({
      host: o.host,
      publicUrl: o.publicUrl,
      certificate: tls?.cert,
      allowHosts: o.allowHosts ?? [],
    });
    await routes(app, o, {
      disk,
      registry: storage.registry,
      lessons,
      runtime,
      rooms,
      quotas,
      metrics,
      guard,
      origins,
      tokens,
      oidc,
      secrets,
      compilers,
      backup,
      health,
      stopping: () => stopping,
    });
    const sockets = serveSockets(app, {
      runtime,
      dashboard,
      origins,
      pingMs: o.pingMs,
      limits: o.limits,
      trustProxy: o.trustProxy,
    });
    await app.ready();
    quotas.onChange();
    await runtime.recover();
    lessons.begin();
    oidc?.start();
    await retention.start();
    const port = o.listen ? o.listen(app.server as HttpServer) : await listen(app, o);

    const scheme = tls ? 'https' : 'http';
    const name = o.host === '0.0.0.0' || o.host === '::' ? 'localhost' : o.host.includes(':') ? `[${o.host}]` : o.host;
    const localUrl = `${scheme}://${name}:${port}`;
    app.log.info(
      { url: localUrl, ...(tls?.fingerprint === undefined ? {} : { fingerprint: tls.fingerprint }) },
      'listening',
    );

    let closed: Promise<void> | undefined;
    const server: MayflyServer = {
      url: o.publicUrl?.replace(/\/+$/, '') ?? localUrl,
      localUrl,
      port,
      token: secrets.token,
      tokenIsNew: secrets.tokenIsNew,
      lost: storage.lost,
      ...(tls?.fingerprint === undefined ? {} : { fingerprint: tls.fingerprint }),
      inject: (request) => app.inject(request as never) as never,
      close: () =>
        (closed ??= (async () => {
          stopping = true;
          app.log.info('stopping');
          // Work that waits for storage ends; the next start finishes it.
          disk.close();
          await retention.close();
          health.close();
          dashboard.close();
          lessons.close();
          oidc?.close();
          // Before connections close: nobody is lost because this server goes.
          runtime.stop();
          // No new connections; the nodes see theirs close, and reconnect to the next server of the directory.
          const quiet = app.close();
          await sockets.close();
          app.server.closeAllConnections();
          await quiet;
          await runtime.close();
          await board.close();
          await closeCompilers();
          await storage.close();
        })()),
    };
    const leave = (): void => {
      app.log.error({ err: storage.lost.reason as Error }, 'the storage is lost to another process');
      server.close().catch((error: unknown) => app.log.warn({ err: error }, 'closing failed'));
    };
    if (storage.lost.aborted) leave();
    else storage.lost.addEventListener('abort', leave, { once: true });
    return server;
  } catch (error) {
    for (const f of undo.reverse()) await Promise.resolve(f()).catch(() => undefined);
    throw error;
  }
}

interface Parts {
  disk: Disk;
  registry: Storage['registry'];
  lessons: Lessons;
  runtime: Runtime;
  rooms: Rooms;
  quotas: Quotas;
  metrics: Metrics;
  guard: Guard;
  origins: Origins;
  tokens: Tokens;
  oidc: Oidc | undefined;
  secrets: Secrets;
  compilers: Compilers;
  health: ServerHealth;
  backup(): Promise<BackupInfo & { path: string; pauseMs: number }>;
  stopping(): boolean;
}

async function routes(app: FastifyInstance, o: ResolvedOptions, p: Parts): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Mayfly',
        version: o.version,
        description:
          'MPI programs on volatile browser tabs. A route that needs no token says so; all others take one, ' +
          'as “Authorization: Bearer …”. Every refusal has a stable code and a sentence.',
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
  });
  await app.register(rateLimit, {
    global: false,
    max: o.limits.requestsPerMinute,
    timeWindow: 60_000,
    // Each token is counted by itself: others at the same address (a class behind one router) do not use up its limit.
    keyGenerator: (request) => {
      const network = networkOf(request.ip);
      return request.principal === null ? network : `${request.principal.id ?? FIRST_TOKEN} ${network}`;
    },
    errorResponseBuilder: (request, context) =>
      new MayflyError(
        'TOO_MANY',
        `More than ${context.max} requests per minute ` +
          `${request.principal === null ? 'without a token' : 'with this token'} from this address. Try again ` +
          `in ${context.after}.`,
      ),
  });
  refuseUnlisted(app);
  app.decorateRequest('principal', null);
  audit(app);
  app.addHook('onRoute', (route) => {
    const row = routeOf([route.method].flat()[0]!, route.url);
    if (route.schema && row && needsToken(row.access))
      (route.schema as { security?: unknown }).security = [{ token: [] }];
  });
  const limited = app.rateLimit();
  app.addHook('onRequest', p.origins.onRequest);
  app.addHook('onRequest', p.guard.onRequest);
  app.addHook('onRequest', async function (request, reply) {
    if (/^\/(api|login)(\/|$)/.test(request.routeOptions.url ?? '')) await limited.call(app, request, reply);
  });
  // Before a body is read that could not be kept.
  app.addHook('onRequest', async (request) => {
    if (routeOf(request.method, request.routeOptions.url ?? '')?.takesSpace) p.disk.admit();
  });
  compressAnswers(app);
  app.addHook('onResponse', async (request, reply) =>
    p.metrics.answered(request.method, request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime),
  );
  await app.register(async (scope) => {
    infoRoute(scope, p.runtime, o, p.oidc);
    boardRoute(scope, p.runtime);
    lessonRoutes(scope, p.lessons, p.runtime.nodeSockets.codes);
    openRoutes(scope, p.metrics, p.stopping);
    tokenRoutes(scope, p.tokens);
    quotaRoutes(scope, p);
    loginRoutes(scope, { oidc: p.oidc, tokens: p.tokens, publicUrl: o.publicUrl });
    roomRoutes(scope, { rooms: p.rooms, runtime: p.runtime });
    const jobs = {
      runtime: p.runtime,
      disk: p.disk,
      rooms: p.rooms,
      quotas: p.quotas,
      compilers: p.compilers,
      ...ofJobs(o),
    };
    const hashes = new WrittenHashes(p.runtime);
    jobRoutes(scope, jobs);
    comparisonRoutes(scope, { ...jobs, hashes });
    archiveRoutes(scope, p.runtime);
    historyRoutes(scope, p.runtime);
    outputRoutes(scope, p.runtime, p.quotas, o.limits);
    reportRoutes(scope, { runtime: p.runtime, registry: p.registry, hashes, version: o.version });
    nodeRoutes(scope, p.runtime);
    serverRoutes(scope, { examples: new Examples(o.examplesRoot), backup: p.backup, health: p.health, drain: o.drain });
  });
  await app.register(async (scope) => dataRoutes(scope, p.runtime, p.secrets));
  let document: OpenApi | undefined;
  app.route({
    ...at('GET /openapi.json'),
    handler: async () => (document ??= describe(app.swagger() as unknown as OpenApi)),
  });
  await serveStatic(app, { webRoot: o.webRoot, frameRoot: o.frameRoot, publicUrl: o.publicUrl });
}

/** @returns the port */
async function listen(app: FastifyInstance, o: ResolvedOptions): Promise<number> {
  try {
    await app.listen({ port: o.port, host: o.host, listenTextResolver: (address) => `bound to ${address}` });
  } catch (error) {
    throw listenError(error, o);
  }
  return (app.server.address() as AddressInfo).port;
}

/** What the server's options say of jobs that are submitted. */
const ofJobs = ({ limits, channelMemories, durability }: ResolvedOptions) => ({ limits, channelMemories, durability });

function countStates(runtime: Runtime): Record<string, number> {
  const out: Record<string, number> = { waiting: 0, running: 0, paused: 0, done: 0, failed: 0, cancelled: 0 };
  for (const j of runtime.dispatcher.core.core.jobs.values()) out[j.record.state] = (out[j.record.state] ?? 0) + 1;
  return out;
}
