/** The options of a server, and their defaults. Shapes only; {@link resolveOptions} fills the defaults in. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server as HttpServer } from 'node:http';
import type { Writable } from 'node:stream';
import type { DispatcherSettings } from '@mayfly/protocols';
import type { Storage } from '@mayfly/storage/ports';
import type { Limits } from '@mayfly/wire';
import type { OidcOptions } from './login/oidc.ts';
import { parseHost } from './serve/origin.ts';

/** As the option of the command line has it. */
const MOST_PROXIES = 16;

/** Sizes in bytes, times in ms. */
export interface ServerLimits {
  /** One POST /api/jobs, whole. */
  submissionBytes: number;
  /** One POST …/stdin. */
  stdinBytes: number;
  /** Output of one job (streams and result files) unless the job asks for less. */
  outputBytes: number;
  /** Message logs of one running job, with what its ranks read from files. */
  logBytes: number;
  /** Input files of one job, decoded. */
  inputBytes: number;
  /** The most linear memory or heap of one rank that a job may ask for. */
  rankMemoryBytes: number;
  /** One checkpoint image. */
  imageBytes: number;
  /** Jobs that wait or run at the same time. */
  activeJobs: number;
  /** Nodes connected at the same time. */
  nodes: number;
  /** Data sockets at the same time, and image sockets as many. */
  dataSockets: number;
  /** … of one network (an IPv4 address, or the /64 of an IPv6 address). */
  dataSocketsPerNetwork: number;
  /** A message on any socket, or a body, that has not ended so long after it began ends the connection, ms. */
  messageMs: number;
  /** Bytes of all messages and bodies that have begun and not ended; beyond, the connection with most is ended. */
  unfinishedBytes: number;
  /** Running time of a job that does not ask for less. */
  timeMs: number;
  /** Requests to /api per minute and address. */
  requestsPerMinute: number;
  /** Messages of one node or dashboard per minute; then its connection is closed. */
  messagesPerMinute: number;
  /** Sockets of dashboards at the same time with one token. */
  dashboardsPerToken: number;
  /** Wrong tokens per minute and address, before 429. */
  wrongTokensPerMinute: number;
  /** Processor time for compiling one program of C or C++; of a script or an archive, ms. */
  compileCpuMs: number;
  compileScriptCpuMs: number;
  /** Memory of one compile process. */
  compileMemoryBytes: number;
  /** Bytes waiting in one data socket above which the Channel Memory stops pushing to it. */
  socketBacklogBytes: number;
  /** A data socket that lets so much pile up is closed (its comm worker reconnects and resumes). */
  socketBacklogMaxBytes: number;
}

export interface Retention {
  /** Ended jobs older than this are forgotten, ms. */
  ageMs: number;
  /** Ended jobs kept at most; the oldest go first. */
  endedJobs: number;
  /** When the data directory holds more than this, the oldest ended jobs go first, bytes. */
  diskBytes: number;
  /** Between two rounds, ms. */
  everyMs: number;
}

export interface ServerOptions {
  /** Everything durable lies here; created when missing. One server per directory. */
  dataDir: string;
  /** 0: any free port. Default 7070. */
  port?: number;
  /** Bind address. Default 127.0.0.1: this machine only. */
  host?: string;
  /**
   * PEM files (their paths, or their text), or a certificate that the server makes itself and keeps in the data
   * directory. Absent: plain HTTP.
   */
  tls?: { cert: string; key: string } | 'selfsigned';
  /** Host names and addresses for the self-made certificate besides localhost and this machine's own. */
  tlsNames?: string[];
  /** As the server is reached from outside, e.g. behind a proxy: 'https://mayfly.example'. */
  publicUrl?: string;
  /**
   * Other names under which the server is reached; '.example.org' stands for every name below it. A request under a
   * name that it does not know is refused.
   */
  allowHosts?: string[];
  /**
   * Proxies that stand before the server, one behind the other: believe what they add to X-Forwarded-For
   * (serve/address.ts), and X-Forwarded-Proto. true: one. Default 0.
   */
  trustProxy?: boolean | number;
  /** Webhooks may call addresses of this machine and its network (webhooks.ts). Default false. */
  privateWebhooks?: boolean;
  /** Submitters' token. Absent: the one of the first start, which is drawn then and shown once. */
  token?: string;
  /** Join code that volunteers must give. Absent: anybody may join. */
  room?: string;
  /** Channel Memories per new job. Default 1. */
  channelMemories?: number;
  /** Of jobs that name none. Default 'behind'; 'strict' where servers share a database (shared-server.ts). */
  durability?: 'behind' | 'strict';
  /** The built web app, the sandboxed frame's files, the examples. Default: looked for around the running bundle. */
  webRoot?: string;
  frameRoot?: string;
  examplesRoot?: string;
  /** dist/compile-server.mjs of the toolchain, where it cannot be found automatically. */
  compileServer?: string;
  /**
   * Programs that are compiled at the same time: scripts, and as many of C and C++. Default: by cores and memory, two
   * at least where there are 3 GB.
   */
  compileWorkers?: number;
  /** Structured logs as JSON lines: a level, a stream with a level, or none. Default 'info' to stdout. */
  log?: 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | { level: string; stream: Writable };
  limits?: Partial<ServerLimits>;
  /** People sign in through an OpenID Connect issuer (login/), beside tokens. */
  oidc?: OidcOptions;
  /** What each owner may use at once, but the one of the first token (quotas.ts). Default: no limits. */
  quota?: Limits;
  retention?: Partial<Retention>;
  /**
   * While less than this is free on the disk of the data directory, new jobs and uploads are refused; with a quarter of
   * it, running jobs pause (disk.ts), bytes. Default: 5 % of the disk, at most 256 MB.
   */
  reserveBytes?: number;
  /** Times of the failure detector. */
  dispatcher?: Partial<DispatcherSettings>;
  /**
   * For durability 'behind': longest time until a message that nothing waits for is synced, ms; messages that output,
   * images or restarts wait for are synced within 25 ms. Default 250.
   */
  syncEveryMs?: number;
  /** Ping of every data and image socket; one that misses two is closed. Default 10 000 ms. */
  pingMs?: number;
  /** Shown by /api/info. */
  version?: string;
  /**
   * Where the server keeps everything that has a port; default: in `dataDir`. The server takes it over: it closes it
   * when it closes, and when it cannot start. `dataDir` then keeps the certificate, and is the disk that is watched.
   */
  storage?: Storage;
  /**
   * Lets another server of the storage serve; this one stands by from then on. Absent: it serves alone.
   */
  drain?: () => void;
  /**
   * Serves on a port that is open already, instead of `port` and `host` (shared-server.ts). @returns its number
   */
  listen?: (http: HttpServer) => number;
}

export interface MayflyServer {
  /** 'http://127.0.0.1:7070', without a slash at the end. The public URL if there is one. */
  readonly url: string;
  /** Where it listens, whatever the public URL. */
  readonly localUrl: string;
  readonly port: number;
  /** The submitters' token where the server knows it in plain: set by option, or drawn at this start. */
  readonly token: string | undefined;
  /** True at the first start without a `token` option: print it now, it is not kept in plain. */
  readonly tokenIsNew: boolean;
  /** SHA-256 of the self-made certificate, to compare with what the browser shows. */
  readonly fingerprint?: string;
  /**
   * Aborts when another process has taken the data directory or the database: nothing can be stored any more, and the
   * server closes itself. Its reason is a MayflyError CONFLICT.
   */
  readonly lost: AbortSignal;
  /** For tests: Fastify's inject. */
  inject(request: {
    method?: string;
    url: string;
    headers?: Record<string, string>;
    payload?: unknown;
  }): Promise<{ statusCode: number; body: string; headers: Record<string, unknown>; json(): unknown }>;
  /** Stops listening, notifies the nodes, syncs all logs, closes the storage. Idempotent. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 7070;
export const DEFAULT_HOST = '127.0.0.1';

/** Memory of a rank whose job asks for none, where the limit is not lower; and the most that a module links with. */
export const USUAL_RANK_MEMORY = 2 ** 30;
export const MOST_RANK_MEMORY = 2 ** 31;

export const defaultLimits: ServerLimits = {
  submissionBytes: 64 * 1024 * 1024,
  stdinBytes: 1024 * 1024,
  outputBytes: 1024 * 1024 * 1024,
  logBytes: 32 * 1024 * 1024 * 1024,
  inputBytes: 48 * 1024 * 1024,
  rankMemoryBytes: USUAL_RANK_MEMORY,
  imageBytes: 4 * 1024 * 1024 * 1024,
  activeJobs: 200,
  nodes: 2000,
  dataSockets: 8000,
  dataSocketsPerNetwork: 2000,
  messageMs: 120_000,
  unfinishedBytes: 256 * 1024 * 1024,
  timeMs: 24 * 3600 * 1000,
  requestsPerMinute: 3000,
  messagesPerMinute: 6000,
  dashboardsPerToken: 500,
  wrongTokensPerMinute: 30,
  compileCpuMs: 60_000,
  compileScriptCpuMs: 20_000,
  compileMemoryBytes: 2 * 1024 * 1024 * 1024,
  socketBacklogBytes: 4 * 1024 * 1024,
  socketBacklogMaxBytes: 64 * 1024 * 1024,
};

export const defaultRetention: Retention = {
  ageMs: 7 * 24 * 3600 * 1000,
  endedJobs: 500,
  diskBytes: 20 * 1024 * 1024 * 1024,
  everyMs: 60_000,
};

export type ResolvedOptions = Omit<
  ServerOptions,
  'limits' | 'retention' | 'webRoot' | 'frameRoot' | 'examplesRoot' | 'trustProxy'
> &
  Required<
    Pick<
      ServerOptions,
      'port' | 'host' | 'channelMemories' | 'durability' | 'syncEveryMs' | 'pingMs' | 'version' | 'log'
    >
  > & {
    /** Proxies. */
    trustProxy: number;
    limits: ServerLimits;
    retention: Retention;
    webRoot: string | undefined;
    frameRoot: string | undefined;
    examplesRoot: string | undefined;
  };

/** @throws Error (a sentence for the terminal) when an option makes no sense. */
export function resolveOptions(o: ServerOptions): ResolvedOptions {
  const channelMemories = o.channelMemories ?? 1;
  if (!Number.isInteger(channelMemories) || channelMemories < 1 || channelMemories > 16)
    throw new Error('channelMemories must be a whole number from 1 to 16');
  if (
    o.compileWorkers !== undefined &&
    (!Number.isInteger(o.compileWorkers) || o.compileWorkers < 1 || o.compileWorkers > 64)
  )
    throw new Error('compileWorkers must be a whole number from 1 to 64');
  const trustProxy = Number(o.trustProxy ?? 0);
  if (!Number.isInteger(trustProxy) || trustProxy < 0 || trustProxy > MOST_PROXIES)
    throw new Error(`trustProxy must be the number of proxies before the server, 0 to ${MOST_PROXIES}`);
  for (const name of o.allowHosts ?? [])
    if (parseHost(name.replace(/^\./, ''))?.port !== '')
      throw new Error(`'${name}' is not a host name: leave out the scheme and port`);
  const port = o.port ?? DEFAULT_PORT;
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`invalid port ${port}: use 0 to 65535`);
  if (o.publicUrl !== undefined && !/^https?:\/\/[^/]+/.test(o.publicUrl))
    throw new Error(`the public URL '${o.publicUrl}' must begin with http:// or https://`);
  if (o.reserveBytes !== undefined && !(Number.isSafeInteger(o.reserveBytes) && o.reserveBytes >= 0))
    throw new Error('reserveBytes must be a whole number of bytes, 0 or more');
  if (o.oidc) checkOidc(o.oidc);
  for (const [what, n] of Object.entries(o.quota ?? {}))
    if (!(Number.isSafeInteger(n) && n >= 0)) throw new Error(`the quota of ${what} must be a whole number, 0 or more`);
  if (o.token !== undefined && !/^[\x21-\x7e]{8,256}$/.test(o.token))
    throw new Error('a token has 8 to 256 visible ASCII characters');
  return {
    ...o,
    dataDir: resolve(o.dataDir),
    port,
    host: o.host ?? DEFAULT_HOST,
    channelMemories,
    durability: o.durability ?? 'behind',
    trustProxy,
    log: o.log ?? 'info',
    syncEveryMs: o.syncEveryMs ?? 250,
    pingMs: o.pingMs ?? 10_000,
    version: o.version ?? '0.2.0',
    limits: { ...defaultLimits, ...o.limits },
    retention: { ...defaultRetention, ...o.retention },
    webRoot: o.webRoot ?? find(['web', '../../web/dist', '../web/dist'], 'index.html'),
    frameRoot:
      o.frameRoot ?? find(['frame', '../../../packages/node/dist/frame', '../../packages/node/dist/frame'], undefined),
    examplesRoot: o.examplesRoot ?? find(['examples', '../../../examples', '../../examples'], undefined),
  };
}

function checkOidc(o: OidcOptions): void {
  const url = URL.canParse(o.issuer) ? new URL(o.issuer) : undefined;
  const here = url && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && here)))
    throw new Error(`the OIDC issuer '${o.issuer}' must be an https URL, or http on this machine`);
  if (o.clientId === '') throw new Error('the OIDC client id is empty');
  const lists = [o.admins, o.adminGroups, o.allowDomains, o.allowGroups];
  if (o.allowAll !== true && lists.every((l) => (l ?? []).length === 0))
    throw new Error(
      'say who may sign in: a domain of e-mail addresses, a group, an administrator, or everybody whom the OIDC ' +
        'issuer knows',
    );
}

/**
 * First of the candidates, relative to this module (a bundle in some dist/, or the sources under test), that exists.
 */
function find(candidates: readonly string[], file: string | undefined): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const c of candidates) {
    const dir = resolve(here, c);
    if (existsSync(file === undefined ? dir : join(dir, file))) return dir;
  }
  return undefined;
}
