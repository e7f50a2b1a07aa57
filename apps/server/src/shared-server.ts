/**
 * A server that shares its database with others: one of them serves, the others stand by. Each listens from the start;
 * one that stands by sends connections on to the one that serves, has seats for its Channel Memories (memories/), and
 * takes over when that one ends, is drained or killed, or does not answer any more
 * (packages/storage/src/postgres/ownership.ts).
 *
 * Owns: the port (serve/front.ts), and the server or the seats, whichever this process has.
 */
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '@mayfly/storage/postgres';
import pino from 'pino';
import { createServer } from './create-server.ts';
import { logTo, type Logger } from './logger.ts';
import { SeatServer } from './memories/seat-server.ts';
import { DEFAULT_HOST, DEFAULT_PORT, resolveOptions, type MayflyServer, type ServerOptions } from './options.ts';
import { Front } from './serve/front.ts';

export interface SharedServerOptions extends Omit<ServerOptions, 'storage' | 'listen' | 'drain'> {
  /** postgres://user:password@host:port/database */
  store: string;
  /** host:port at which the other servers of the database reach this one. Default: `host` and `port`. */
  advertise?: string;
  /** A server that does not answer the database so long may lose it to another one, ms. Default 10000. */
  leaseMs?: number;
  /** It stands by; called again when another server serves. */
  onStandBy?: (owner: Owner) => void;
  /** It serves; called again when it does so once more. */
  onServing?: (server: MayflyServer) => void;
  /** It was drained, and stands by from now on. */
  onDrained?: () => void;
  /** Another server has taken over, and this one stands by again. */
  onLost?: (error: Error) => void;
}

export interface SharedServer {
  readonly port: number;
  /** Rejects when it can neither serve nor stand by. */
  readonly ended: Promise<never>;
  /** Gives the database to a server that stands by. Idempotent. */
  close(): Promise<void>;
}

/** To leave what it cannot write any more. */
const LEAVE_MS = 10_000;
/** A server that was drained leaves the database to others for so long; then it serves rather than nobody. */
const YIELD_MS = 10_000;

/** Resolves when it listens. @throws Error with a sentence for the terminal when it cannot */
export async function createSharedServer(options: SharedServerOptions): Promise<SharedServer> {
  const { store, advertise, leaseMs, onStandBy, onServing, onDrained, onLost, ...rest } = options;
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = rest;
  const { joinPostgresLog, openPostgresStorage } = await import('@mayfly/storage/postgres');
  const front = await Front.listen(port, host);
  const address = advertise ?? addressFor(host, front.port);
  const stop = new AbortController();
  let serving: MayflyServer | undefined;
  let drained = false;

  const { version, limits, pingMs, log, trustProxy } = resolveOptions(rest);
  const logger = loggerOf(log);

  /** Resolves when this process has the database, and no seats for another one any more. */
  const standBy = async (): Promise<Awaited<ReturnType<typeof openPostgresStorage>>> => {
    let named = '';
    const seats = new SeatServer({
      version,
      pingMs,
      trustProxy,
      limits,
      logger,
      join: (joining) => joinPostgresLog({ url: store }, joining),
    });
    front.seats = seats;
    try {
      return await openPostgresStorage({
        url: store,
        dataDir: rest.dataDir,
        address,
        ...(leaseMs === undefined ? {} : { leaseMs }),
        standBy: {
          signal: stop.signal,
          ...(drained ? { yieldMs: YIELD_MS } : {}),
          owner(owner) {
            front.sendOn(owner.address === '' ? undefined : owner);
            if (owner.who === named) return;
            named = owner.who;
            // Those of the owner before.
            seats.leave();
            onStandBy?.(owner);
          },
        },
      });
    } finally {
      front.seats = undefined;
      await seats.close();
    }
  };

  const serveOnce = async (): Promise<void> => {
    const storage = await standBy();
    front.sendOn(undefined);
    const { lost } = storage;
    const { secret } = storage.sharing;
    const drain = new AbortController();
    const server = await createServer({
      ...rest,
      // A server that takes over elsewhere has what the database has.
      durability: rest.durability ?? 'strict',
      storage,
      drain: () => drain.abort(),
      listen: (http) => {
        front.serve(http, secret);
        return front.port;
      },
    });
    if (stop.signal.aborted) {
      await server.close();
      stop.signal.throwIfAborted();
    }
    serving = server;
    onServing?.(server);
    // Not AbortSignal.any: this one must not be collected, however long nothing happens.
    const over = [lost, drain.signal];
    if (!over.some((signal) => signal.aborted))
      await new Promise((is) => over.forEach((signal) => signal.addEventListener('abort', is, { once: true })));
    drained = !lost.aborted;
    front.sendOn(undefined);
    if (drained) {
      await server.close();
      onDrained?.();
    } else {
      onLost?.(lost.reason as Error);
      await Promise.race([
        server.close(),
        sleep(LEAVE_MS, undefined, { ref: false }).then(() => Promise.reject(lost.reason as Error)),
      ]);
    }
    serving = undefined;
  };
  const ended = (async (): Promise<never> => {
    for (;;) await serveOnce();
  })();
  ended.catch(() => undefined);

  let closed: Promise<void> | undefined;
  return {
    port: front.port,
    ended,
    close: () =>
      (closed ??= (async () => {
        stop.abort();
        const unbound = front.close();
        // One that stands by, or begins to serve, sees the signal.
        if (serving) await serving.close();
        else await ended.catch(() => undefined);
        await unbound;
      })()),
  };
}

/** While this process does not serve. */
function loggerOf(log: ReturnType<typeof resolveOptions>['log']): Logger {
  const { level, stream } = logTo(log);
  return pino({ level }, stream);
}

/** Of this process, for others. */
function addressFor(host: string, port: number): string {
  const all = host === '0.0.0.0' || host === '::';
  const name = all
    ? (Object.values(networkInterfaces())
        .flat()
        .find((i) => i && !i.internal && i.family === 'IPv4')?.address ?? '127.0.0.1')
    : host;
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}
