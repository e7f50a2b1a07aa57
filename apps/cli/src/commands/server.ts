/**
 * `mayfly server`: a server until a signal comes. `mayfly start` (npm start): the same, with what a first visit needs.
 */
import { readFile } from 'node:fs/promises';
import { createServer as createSocket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { createServer, createSharedServer, type MayflyServer, type ServerOptions } from '@mayfly/server';
import { CommandError, Exit } from '../exit-codes.ts';
import { interrupted } from '../signals.ts';
import { startToken } from '../start-token.ts';
import { VERSION } from '../version.ts';
import { say, warn } from '../terminal.ts';

export interface ServerCommandOptions {
  port?: number;
  host?: string;
  dataDir: string;
  store?: string;
  advertise?: string;
  lease?: number;
  tlsCert?: string;
  tlsKey?: string;
  tlsSelfSigned?: boolean;
  tlsName?: string[];
  publicUrl?: string;
  allowHost?: string[];
  compileWorkers?: number;
  /** true: one. */
  trustProxy?: boolean | number;
  privateWebhooks?: boolean;
  token?: string;
  room?: string;
  quotaSlots?: number;
  quotaJobs?: number;
  quotaStorage?: number;
  /** Bytes. */
  maxRankMemory?: number;
  oidcIssuer?: string;
  oidcClientId?: string;
  oidcClientSecretFile?: string;
  oidcScope?: string;
  oidcNameClaim?: string;
  oidcGroupsClaim?: string;
  oidcAdmin?: string[];
  oidcAdminGroup?: string[];
  oidcAllowDomain?: string[];
  oidcAllowGroup?: string[];
  oidcAllowAll?: boolean;
  oidcRole?: 'viewer' | 'submitter';
  channelMemories?: number;
  durability?: 'behind' | 'strict';
  reserve?: number;
  heartbeat?: number;
  grace?: number;
  silence?: number;
  restartGrace?: number;
  log?: string;
}

export async function server(options: ServerCommandOptions): Promise<number> {
  return serve(options, (s) => {
    say(`listening on ${s.url}`);
    say(links(s, options).trimEnd());
  });
}

/**
 * As `server`, but: the next free port when 7070 is taken, and a token that the data directory keeps, so that the link
 * below always works, and still does after a restart.
 */
export async function start(options: ServerCommandOptions): Promise<number> {
  const host = options.host ?? '127.0.0.1';
  const port = options.port ?? (await freePort(7070, host));
  const token = options.token ?? (process.env.MAYFLY_TOKEN || (await startToken(options.dataDir)));
  return serve({ ...options, host, port, token, log: options.log ?? 'warn' }, (s) => {
    say(
      `\nMayfly is at ` +
        `${s.url}${port === 7070 || options.port !== undefined ? '' : ' (port 7070 was taken)'}\n\nlistening ` +
        `on ${s.url}\n${links(s, { ...options, token }).trimEnd()}`,
    );
    say(`\nData: ${resolve(options.dataDir)}   Stop: Ctrl-C (jobs resume at the next start)`);
  });
}

/** When nodes that are not heard of lose their ranks. */
export function patienceOf(
  o: Pick<ServerCommandOptions, 'heartbeat' | 'grace' | 'silence' | 'restartGrace'>,
): NonNullable<ServerOptions['dispatcher']> {
  const ms = { heartbeatMs: o.heartbeat, graceMs: o.grace, silentMs: o.silence, restartGraceMs: o.restartGrace };
  return Object.fromEntries(
    Object.entries(ms).flatMap(([name, s]) => (s === undefined ? [] : [[name, Math.round(s * 1000)]])),
  );
}

function links(s: MayflyServer, options: ServerCommandOptions): string {
  const token = options.token ?? s.token;
  // Behind `npm start` and npx, the shell knows no mayfly.
  const npx = process.env['npm_lifecycle_event'] === undefined ? '' : 'npx --no-install ';
  const room = options.room === undefined ? '' : `?room=${encodeURIComponent(options.room)}`;
  return [
    '',
    `  volunteer   ${s.url}/volunteer${room}     open it in a few tabs, click Start`,
    '  dashboard   ' +
      `${s.url}/dashboard${token === undefined ? '     (requires the token printed at the first start)' : `?token=${encodeURIComponent(token)}`}`,
    ...(token === undefined
      ? []
      : [
          `  terminal    export MAYFLY_SERVER=${s.localUrl} MAYFLY_TOKEN=${shellWord(token)}` +
            `     then: ${npx}mayfly jobs${options.tlsSelfSigned ? ' --insecure' : ''}`,
        ]),
    '',
    ...others(s, options, addressesHere()),
    ...(s.tokenIsNew
      ? [
          `  token       ${token}     the owner's; save it now: the server keeps only a hash. For others: ` +
            'mayfly token create',
          '',
        ]
      : []),
  ].join('\n');
}

/** IPv4 and IPv6 addresses of this machine that others may reach. */
const addressesHere = (): string[] =>
  Object.values(networkInterfaces()).flatMap((found) =>
    (found ?? [])
      .filter((a) => !a.internal && !a.address.startsWith('fe80:'))
      .map((a) => (a.family === 'IPv6' ? `[${a.address}]` : a.address)),
  );

/** What other devices open, when the server listens for them. */
export function others(
  s: Pick<MayflyServer, 'port' | 'localUrl'>,
  o: Pick<ServerCommandOptions, 'host' | 'publicUrl' | 'room'>,
  addresses: readonly string[],
): string[] {
  const hosts =
    o.host === '0.0.0.0'
      ? addresses.filter((a) => !a.startsWith('['))
      : o.host === '::'
        ? addresses
        : o.host === undefined || /^(localhost|127(\.\d+){3}|::1)$/.test(o.host)
          ? []
          : [o.host.includes(':') ? `[${o.host}]` : o.host];
  if (o.publicUrl !== undefined || hosts.length === 0) return [];
  const scheme = s.localUrl.slice(0, s.localUrl.indexOf(':'));
  const room = o.room === undefined ? '' : `?room=${encodeURIComponent(o.room)}`;
  return [
    ...hosts.map((h, i) => `  ${i === 0 ? 'others   ' : '         '}   ${scheme}://${h}:${s.port}/volunteer${room}`),
    ...(scheme === 'https'
      ? []
      : ['              their tabs cannot compute without HTTPS: add --tls-self-signed, or --tls-cert and --tls-key']),
    '',
  ];
}

/** As a shell reads it back. */
const shellWord = (text: string): string => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

async function serve(options: ServerCommandOptions, ready: (s: MayflyServer) => void): Promise<number> {
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
    throw new CommandError('use --tls-cert and --tls-key together', Exit.USAGE);
  if (options.tlsSelfSigned && options.tlsCert !== undefined)
    throw new CommandError('use either --tls-self-signed, or --tls-cert with --tls-key', Exit.USAGE);
  const tls: ServerOptions['tls'] = options.tlsSelfSigned
    ? 'selfsigned'
    : options.tlsCert !== undefined
      ? { cert: await pem(options.tlsCert), key: await pem(options.tlsKey!) }
      : undefined;
  const oidc = await oidcOf(options);
  const store = options.store ?? (process.env.MAYFLY_STORE || undefined);
  if (store === undefined && (options.advertise !== undefined || options.lease !== undefined))
    throw new CommandError('--advertise and --lease are for servers with --store', Exit.USAGE);
  const all: ServerOptions = {
    dataDir: options.dataDir,
    version: VERSION,
    // Standard output is for people; the structured log goes beside it.
    log: { level: options.log ?? 'info', stream: process.stderr },
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(tls === undefined ? {} : { tls }),
    ...(options.tlsName === undefined ? {} : { tlsNames: options.tlsName }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...(options.allowHost === undefined ? {} : { allowHosts: options.allowHost }),
    ...(options.compileWorkers === undefined ? {} : { compileWorkers: options.compileWorkers }),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    ...(options.privateWebhooks === undefined ? {} : { privateWebhooks: options.privateWebhooks }),
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.room === undefined ? {} : { room: options.room }),
    ...(options.channelMemories === undefined ? {} : { channelMemories: options.channelMemories }),
    ...(options.durability === undefined ? {} : { durability: options.durability }),
    ...(options.maxRankMemory === undefined ? {} : { limits: { rankMemoryBytes: options.maxRankMemory } }),
    ...(options.reserve === undefined ? {} : { reserveBytes: Math.round(options.reserve * 1e6) }),
    ...(oidc === undefined ? {} : { oidc }),
    quota: {
      ...(options.quotaSlots === undefined ? {} : { slots: options.quotaSlots }),
      ...(options.quotaJobs === undefined ? {} : { jobs: options.quotaJobs }),
      ...(options.quotaStorage === undefined ? {} : { bytes: Math.round(options.quotaStorage * 1e6) }),
    },
    dispatcher: patienceOf(options),
  };
  let ended: Promise<never> = new Promise(() => undefined);
  let close: () => Promise<void>;
  if (store === undefined) {
    const s = await createServer(all);
    close = () => s.close();
    // Its volunteers come to the other server as soon as this process is gone.
    ended = new Promise((_, leave) => s.lost.addEventListener('abort', () => leave(s.lost.reason as Error)));
    ready(s);
  } else {
    const shared = await createSharedServer({
      ...all,
      store,
      ...(options.advertise === undefined ? {} : { advertise: options.advertise }),
      ...(options.lease === undefined ? {} : { leaseMs: Math.round(options.lease * 1000) }),
      onStandBy: ({ who, address }) =>
        say(
          `standing by on port ${shared.port}: ${who} serves` +
            (address === '' ? '' : ` at ${address}, and connections go on to it`) +
            '; this server takes over when it ends',
        ),
      onServing: ready,
      onDrained: () => warn('drained; another server serves, and this one stands by'),
      onLost: (error) => warn(`${error.message} This one stands by from now on.`),
    });
    ({ ended, close } = shared);
  }
  // A second one leaves at once: nothing that was acknowledged is lost by that either.
  const signal = await Promise.race([interrupted(), ended]);
  warn(`${signal}, closing`);
  await close();
  return Exit.OK;
}

/** Undefined: nobody signs in. */
async function oidcOf(o: ServerCommandOptions): Promise<ServerOptions['oidc']> {
  if (o.oidcIssuer === undefined) {
    const named = Object.keys(o).find((name) => name.startsWith('oidc'));
    if (named !== undefined) throw new CommandError('the --oidc options need --oidc-issuer', Exit.USAGE);
    return undefined;
  }
  if (o.oidcClientId === undefined) throw new CommandError('--oidc-issuer needs --oidc-client-id', Exit.USAGE);
  const secret =
    o.oidcClientSecretFile === undefined
      ? process.env.MAYFLY_OIDC_CLIENT_SECRET || undefined
      : (await pem(o.oidcClientSecretFile)).trim();
  const more = {
    clientSecret: secret,
    scope: o.oidcScope,
    nameClaim: o.oidcNameClaim,
    groupsClaim: o.oidcGroupsClaim,
    admins: o.oidcAdmin,
    adminGroups: o.oidcAdminGroup,
    allowDomains: o.oidcAllowDomain,
    allowGroups: o.oidcAllowGroup,
    allowAll: o.oidcAllowAll,
    role: o.oidcRole,
  };
  return {
    issuer: o.oidcIssuer,
    clientId: o.oidcClientId,
    ...(Object.fromEntries(Object.entries(more).filter(([, v]) => v !== undefined)) as Partial<
      NonNullable<ServerOptions['oidc']>
    >),
  };
}

async function pem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${(error as Error).message}`, Exit.USAGE);
  }
}

/** The first free port from `from` on. */
export async function freePort(from: number, host: string): Promise<number> {
  for (let port = from; port < from + 50; port++) {
    const free = await new Promise<boolean>((answer) => {
      const probe = createSocket();
      probe.once('error', () => answer(false));
      probe.listen(port, host, () => probe.close(() => answer(true)));
    });
    if (free) return port;
  }
  throw new CommandError(`no free port from ${from} to ${from + 49}`, Exit.FAILED);
}
