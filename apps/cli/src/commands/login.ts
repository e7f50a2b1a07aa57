/**
 * `mayfly login <url>`: checks a token, and keeps it with the server for later commands (connection.ts has the file).
 * `mayfly logout` forgets both.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '../client.ts';
import { configFile, serverUrl, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';

const NAMED = ['MAYFLY_SERVER', 'MAYFLY_TOKEN'];

export async function login(url: string, options: Omit<ConnectionOptions, 'server'>): Promise<number> {
  const { origin: server, searchParams } = serverUrl(url);
  const token = options.token ?? searchParams.get('token') ?? (await askToken());
  const insecure = options.insecure ?? false;
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
  process.stdout.write(`logged in to ${server} as ${me.name} (${me.role}); kept in ${path}\n`);
  const first = NAMED.filter((name) => process.env[name]);
  if (first.length > 0) process.stderr.write(`mayfly: ${first.join(' and ')} is set, and comes before this file\n`);
  return Exit.OK;
}

export async function logout(): Promise<number> {
  await rm(configFile(), { force: true });
  return Exit.OK;
}

/** One line of standard input; on a terminal nobody sees what is typed. */
async function askToken(): Promise<string> {
  const hidden = process.stdin.isTTY;
  if (hidden) process.stderr.write('Token: ');
  const lines = createInterface({ input: process.stdin, terminal: hidden });
  lines.on('SIGINT', () => process.exit(Exit.INTERRUPTED));
  try {
    for await (const line of lines) if (line.trim() !== '') return line.trim();
  } finally {
    lines.close();
    if (hidden) process.stderr.write('\n');
  }
  throw new CommandError('no token: pass --token, or write it to standard input', Exit.USAGE);
}
