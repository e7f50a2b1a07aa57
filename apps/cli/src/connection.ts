/**
 * Which server a command talks to, and with which token: options, then MAYFLY_SERVER / MAYFLY_TOKEN, then the config
 * file ($XDG_CONFIG_HOME or ~/.config)/mayfly/config.json: {"server": "https://…", "token": "…", "insecure": false}.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommandError, Exit } from './exit-codes.ts';

export interface Connection {
  /** Without a slash at the end. */
  server: string;
  token: string | undefined;
  /** Accept a certificate that the server made itself. */
  insecure: boolean;
}

export interface ConnectionOptions {
  /** No server, whatever is configured. */
  local?: boolean;
  server?: string;
  token?: string;
  insecure?: boolean;
}

interface Environment {
  [name: string]: string | undefined;
}

/** undefined: no server was named anywhere. @throws CommandError */
export async function findConnection(
  options: ConnectionOptions,
  env: Environment = process.env,
): Promise<Connection | undefined> {
  if (options.local) {
    if (options.server !== undefined) throw new CommandError('use either --local or --server', Exit.USAGE);
    return undefined;
  }
  const config = await readConfig(configFile(env));
  const server = options.server ?? (env.MAYFLY_SERVER || undefined) ?? config.server;
  if (server === undefined) return undefined;
  const url = serverUrl(server);
  // The token of the config file belongs to the server named there, and goes to no other.
  const token =
    options.token ??
    (env.MAYFLY_TOKEN || undefined) ??
    (config.server !== undefined && serverUrl(config.server).origin === url.origin ? config.token : undefined) ??
    url.searchParams.get('token') ??
    undefined;
  return { server: url.origin, token, insecure: options.insecure ?? config.insecure ?? false };
}

/** Where `mayfly login` writes what it knows. */
export const configFile = (env: Environment = process.env): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'mayfly', 'config.json');

/** @throws CommandError */
export function serverUrl(server: string): URL {
  let url: URL;
  try {
    url = new URL(server.includes('://') ? server : `http://${server}`);
  } catch {
    throw new CommandError(`"${server}" is not a server URL`, Exit.USAGE);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new CommandError(`${server}: a server URL starts with http:// or https://`, Exit.USAGE);
  return url;
}

/** What the file may hold, and of which type each is. */
const CONFIG = { server: 'string', token: 'string', insecure: 'boolean' } as const;

async function readConfig(path: string): Promise<ConnectionOptions> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new CommandError(`cannot read ${path}: ${message}`, Exit.USAGE);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Below.
  }
  const config = value as Record<string, unknown> | null | undefined;
  const wrong = (name: string): boolean =>
    config![name] !== undefined && typeof config![name] !== CONFIG[name as keyof typeof CONFIG];
  if (typeof config !== 'object' || config === null || Object.keys(CONFIG).some(wrong))
    throw new CommandError(
      `${path} is not valid: expected {"server": "…", "token": "…", "insecure": false}`,
      Exit.USAGE,
    );
  return config;
}

/** As {@link findConnection}, where a server is a must. */
export async function needConnection(options: ConnectionOptions): Promise<Connection> {
  const connection = await findConnection(options);
  if (!connection)
    throw new CommandError('no server specified: use --server URL, mayfly login, or set MAYFLY_SERVER', Exit.USAGE);
  return connection;
}
