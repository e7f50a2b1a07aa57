/**
 * `mayfly login <url>`: checks a token, and keeps it with the server for later commands (connection.ts has the file).
 * `mayfly logout` forgets both, and ends the token if a login made it.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiFailure, Client } from '../client.ts';
import { configFile, findConnection, serverUrl, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { ask, sayLine, warn } from '../terminal.ts';

const NAMED = ['MAYFLY_SERVER', 'MAYFLY_TOKEN'];

export async function login(url: string, options: Omit<ConnectionOptions, 'server'>): Promise<number> {
  const { origin: server, searchParams } = serverUrl(url);
  const insecure = options.insecure ?? false;
  const token = options.token ?? searchParams.get('token') ?? (await askToken(() => signInText(server, insecure)));
  const client = new Client({ server, token, insecure });
  let me: { name: string; role: string };
  try {
    me = await client.me();
  } finally {
    await client.close();
  }
  const path = configFile();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.part-${process.pid}`;
  const config = { server, token, ...(insecure ? { insecure } : {}) };
  await writeFile(temporary, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, path);
  sayLine(`logged in to ${server} as ${me.name} (${me.role}); kept in ${path}`);
  const first = NAMED.filter((name) => process.env[name]);
  if (first.length > 0) warn(`${first.join(' and ')} is set, and comes before this file`);
  return Exit.OK;
}

export async function logout(): Promise<number> {
  // What the file names, whatever the environment does.
  const { MAYFLY_SERVER: _server, MAYFLY_TOKEN: _token, ...env } = process.env;
  const known = await findConnection({}, env).catch(() => undefined);
  if (known?.token !== undefined) {
    const client = new Client(known);
    await client
      .logout()
      .catch((error: unknown) => {
        // 401: it is over; 409: an owner made it, and it stays.
        if (error instanceof ApiFailure && (error.status === 401 || error.status === 409)) return;
        warn(`the token may still be valid: ${(error as Error).message}`);
      })
      .finally(() => client.close());
  }
  await rm(configFile(), { force: true });
  return Exit.OK;
}

/** Where people sign in on a page, that page makes the token. */
async function signInText(server: string, insecure: boolean): Promise<string> {
  const client = new Client({ server, token: undefined, insecure });
  try {
    const { login } = await client.info();
    return login ? `Sign in at ${server}/dashboard/me, create a token there, and paste it here.\n` : '';
  } finally {
    await client.close();
  }
}

/** One line of standard input; on a terminal nobody sees what is typed. `hint`: for people, before they are asked. */
async function askToken(hint: () => Promise<string>): Promise<string> {
  const hidden = process.stdin.isTTY;
  if (hidden) ask(await hint());
  if (hidden) ask('Token: ');
  const lines = createInterface({ input: process.stdin, terminal: hidden });
  lines.on('SIGINT', () => process.exit(Exit.INTERRUPTED));
  try {
    for await (const line of lines) if (line.trim() !== '') return line.trim();
  } finally {
    lines.close();
    if (hidden) ask('\n');
  }
  throw new CommandError('no token: pass --token, or write it to standard input', Exit.USAGE);
}
