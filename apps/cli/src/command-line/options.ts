/** What commands share: how the values of options are read, and the options of more than one command. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { clustersOfText, timersOfText } from '@mayfly/wire';
import { bytes } from '../mpiexec-words.ts';
import { wholeNumber } from '../whole-number.ts';

/** Makes the action of a command of a function that resolves to its exit code. */
export type Act = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

export const whole =
  (from: number, to: number) =>
  (text: string): number => {
    const n = wholeNumber(text, from, to);
    if (n === undefined) throw new InvalidArgumentError(`expected a whole number from ${from} to ${to}.`);
    return n;
  };
export const seconds = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !Number.isFinite(n) || n < 0)
    throw new InvalidArgumentError('expected a number of seconds.');
  return n;
};
export const size = (text: string): number => {
  const n = bytes(text);
  if (n === undefined) throw new InvalidArgumentError('expected a size such as 512M or 2G.');
  return n;
};
/** 2 GB: what a program of C or C++ links with at most. */
export const rankMemory = (text: string): number => {
  const n = size(text);
  if (n >= 16 * 2 ** 20 && n <= 2 ** 31) return n;
  throw new InvalidArgumentError('expected a size from 16M to 2G.');
};
export const secondsFrom =
  (least: number, most = Infinity) =>
  (text: string): number => {
    const n = seconds(text);
    if (n >= least && n <= most) return n;
    const limits = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`expected a number of seconds, ${limits}.`);
  };
export const hostAndPort = (text: string): string => {
  if (!/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(text))
    throw new InvalidArgumentError("expected a host and a port: 'alpha.example.org:7070'.");
  return text;
};
export const factor = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !(n >= 1 && n <= 10_000))
    throw new InvalidArgumentError('expected a number from 1 to 10000.');
  return n;
};
/** '2', or the ranks of each cluster: '0-3,4-7', '0-2+7,3-6'. The server checks whether every rank is in one. */
export function clusters(text: string): number | number[][] {
  const read = clustersOfText(text);
  if (read !== undefined) return read;
  throw new InvalidArgumentError(
    "expected a number of clusters, or the ranks of each: '2', '0-3,4-7', or '0-2+7,3-6'.",
  );
}
/** '30': seconds. '30,none': of each cluster, as ms; null: without a timer. */
export function timers(text: string): number | (number | null)[] {
  if (!text.includes(',')) return seconds(text);
  const read = timersOfText(text);
  if (read !== undefined) return read;
  throw new InvalidArgumentError("expected seconds, or those of each cluster: '30', '30,60', '30,none'.");
}
/** 'QX7PKM', or the room of each cluster: 'QX7PKM,ABC234'. null ('-'): volunteers without a room. */
export function rooms(text: string): string | null | (string | null)[] {
  const codes = text.split(',').map((code) => code.trim());
  if (codes.includes(''))
    throw new InvalidArgumentError("expected the code of a room, or one for each cluster: 'QX7PKM', 'QX7PKM,-'.");
  const all = codes.map((code) => (code === '-' ? null : code));
  return all.length === 1 ? all[0]! : all;
}
export const megabytes = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !Number.isFinite(n) || n < 0) throw new InvalidArgumentError('a number of megabytes.');
  return n;
};
/** Of a quota: a number, 'none' (null), or 'default' (what all owners have). */
export function limit(text: string): number | null | 'default' {
  if (text === 'none') return null;
  if (text === 'default') return text;
  const n = wholeNumber(text, 0, 1e9);
  if (n === undefined) throw new InvalidArgumentError("expected a whole number, 'none' or 'default'.");
  return n;
}
export const more = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

export const connected = (command: Command): Command =>
  command
    .option('--server <url>', 'the server (else MAYFLY_SERVER, else the config file)')
    .option('--token <token>', 'a token of the server (else MAYFLY_TOKEN, else the config file)')
    .option('--insecure', 'accept a self-signed certificate of the server');

/** Signing in through an issuer of OpenID Connect. */
const signIn = (command: Command): Command =>
  command
    .option('--oidc-issuer <url>', 'people sign in through this OpenID Connect issuer, beside tokens')
    .option('--oidc-client-id <id>', 'client id of this server at the issuer; redirect URI: <server>/login/callback')
    .option('--oidc-client-secret-file <file>', 'its secret (else MAYFLY_OIDC_CLIENT_SECRET, else a public client)')
    .option('--oidc-scope <scopes>', "what to ask the issuer for (default 'openid email profile')")
    .option('--oidc-name-claim <claim>', "claim that names the owner of jobs (default 'email', if verified)")
    .option('--oidc-groups-claim <claim>', "claim with the groups of a person (default 'groups')")
    .option('--oidc-admin <name>', 'a person who gets the role owner (repeatable)', more)
    .option('--oidc-admin-group <group>', 'a group whose members get it (repeatable)', more)
    .option('--oidc-allow-domain <domain>', 'domain of e-mail addresses that may sign in (repeatable)', more)
    .option('--oidc-allow-group <group>', 'a group whose members may sign in (repeatable)', more)
    .option('--oidc-allow-all', 'everybody whom the issuer knows may sign in')
    .addOption(
      new Option('--oidc-role <role>', 'role of all who are no administrators (default submitter)').choices([
        'viewer',
        'submitter',
      ]),
    );

export const serving = (command: Command, dataDir: string): Command =>
  signIn(command)
    .option('-p, --port <port>', 'port to listen on; 0: any free one', whole(0, 65535))
    .option('--host <address>', 'address to bind, 0.0.0.0 for all (default 127.0.0.1: this machine only)')
    .option('-d, --data-dir <folder>', 'folder of all durable data; one server per folder', dataDir)
    .option(
      '--store <url>',
      'postgres://user@host/database: keep jobs, logs and checkpoints there (or set MAYFLY_STORE, which other users of ' +
        'this machine cannot read); further servers with the same database stand by, and take over',
    )
    .option(
      '--advertise <host:port>',
      'where the other servers of the database reach this one (default: --host and --port)',
      hostAndPort,
    )
    .option(
      '--lease <seconds>',
      'a server that does not answer the database so long may lose it to another one (default 10)',
      secondsFrom(1),
    )
    .option('--tls-cert <file>', 'certificate chain (PEM); browsers on other machines need HTTPS')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option('--tls-self-signed', 'HTTPS with a self-signed certificate (browsers warn once)')
    .option('--tls-name <name>', 'an additional host name or address for that certificate (repeatable)', more)
    .option('--public-url <url>', 'public URL of the server behind a proxy or tunnel')
    .option(
      '--allow-host <name>',
      "another host name of the server; '.example.org': every name below it (repeatable)",
      more,
    )
    .option(
      '--compile-workers <n>',
      'programs to compile at the same time (default: by cores and memory)',
      whole(1, 64),
    )
    .option(
      '--trust-proxy [hops]',
      'a reverse proxy stands before the server, or as many as this, one behind the other: take the addresses of ' +
        'clients from what they add to X-Forwarded-For, and trust X-Forwarded-Proto',
      whole(1, 16),
    )
    .option('--private-webhooks', "let submitters name webhooks on this machine's own network")
    .option('--token <token>', "the owner's token (default: created at the first start and printed once)")
    .option('--room <code>', 'join code that volunteers must enter')
    .option('--quota-slots <n>', "slots that each owner's jobs may use at once (default: no limit)", whole(1, 1e6))
    .option('--quota-jobs <n>', 'jobs of each owner that may wait or run at once (default: no limit)', whole(1, 1e6))
    .option(
      '--quota-storage <MB>',
      "what each owner's jobs may hold: files, output, checkpoints (default: no limit)",
      megabytes,
    )
    .option(
      '--max-rank-memory <size>',
      'the most memory that a job may ask for, for each rank: 16M to 2G (default: 1G)',
      rankMemory,
    )
    .option(
      '--reserve <MB>',
      'with less free space, the server rejects new jobs; below a quarter of it, jobs pause (default: 5 % of ' +
        'the disk, at most 256)',
      megabytes,
    )
    .option('--channel-memories <n>', 'Channel Memories per job', whole(1, 16))
    .addOption(
      new Option(
        '--durability <when>',
        'of jobs that name none: messages go on before they are synced (behind), or after it (strict) (default ' +
          'behind, with --store strict)',
      ).choices(['behind', 'strict']),
    )
    .option('--grace <seconds>', 'how long a disconnected node keeps its ranks (default: 3)', seconds)
    .option(
      '--heartbeat <seconds>',
      'how often each node tells the server that it is alive and how its ranks are (default: 1; 0.1 to 60): more ' +
        'often finds a silent node sooner, less often costs the server less',
      secondsFrom(0.1, 60),
    )
    .option(
      '--silence <seconds>',
      'how long a connected but silent node keeps its ranks (default: 10; at least 2.5 heartbeats)',
      seconds,
    )
    .option(
      '--restart-grace <seconds>',
      'how long to wait for nodes to come back after a server restart (default: 10)',
      seconds,
    )
    .addOption(
      new Option('--log <level>', 'log level of the structured log on standard error').choices([
        'silent',
        'fatal',
        'error',
        'warn',
        'info',
        'debug',
        'trace',
      ]),
    );
