/** The built command line (dist/mayfly.js) as a process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const CLI = join(import.meta.dirname, '../dist/mayfly.js');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
}

/**
 * Without MAYFLY_* of the caller and with an empty home, so that no server is found by chance. `command`: another
 * program than Node with the built command line.
 */
export function start(
  args: string[],
  options: { cwd: string; input?: string | undefined; bin?: string; command?: string; env?: Record<string, string> },
): Running {
  const bin = options.bin ?? CLI;
  if (!existsSync(bin)) throw new Error(`${bin} is not built: npm run build`);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([k]) => !k.startsWith('MAYFLY_') && k !== 'NODE_OPTIONS' && !k.startsWith('VITEST'),
    ),
  );
  const [command, first] = options.command === undefined ? [process.execPath, [bin]] : [options.command, []];
  const child = spawn(command, [...first, ...args], {
    cwd: options.cwd,
    env: { ...env, XDG_CONFIG_HOME: join(options.cwd, 'no-config'), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (d: Buffer) => (stdout += d.toString()));
  child.stderr.on('data', (d: Buffer) => (stderr += d.toString()));
  child.stdin.on('error', () => undefined);
  if (options.input !== undefined) child.stdin.end(options.input);
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

export const run = (args: string[], options: Parameters<typeof start>[1]): Promise<Ended> =>
  start(args, { input: '', ...options }).ended;

/** What a process says by a pattern; its first group. */
export async function said(p: Running, what: RegExp): Promise<string> {
  for (let i = 0; i < 5000; i++) {
    const m = what.exec(p.stdout());
    if (m) return m[1] ?? '';
    if (p.child.exitCode !== null) break;
    await new Promise((go) => setTimeout(go, 50));
  }
  throw new Error(
    `did not say ${what}: ${p.stdout()} ${(await Promise.race([p.ended, Promise.resolve({ stderr: '' })])).stderr}`,
  );
}

export interface Service {
  /** For a command that is to use it. */
  readonly env: { readonly MAYFLY_SERVER: string; readonly MAYFLY_TOKEN: string };
  readonly url: string;
  /** Ends both; the server's exit code. */
  stop(): Promise<number | null>;
}

/**
 * `mayfly server` and a `mayfly volunteer` of two slots: one server and one warm compiler for the calls of several
 * tests.
 */
export async function startService(cwd: string, env: Record<string, string> = {}): Promise<Service> {
  const server = start(
    ['server', '--port', '0', '--data-dir', join(cwd, 'data'), '--token', 'a-token-for-tests', '--log', 'warn'],
    { cwd, input: '', env },
  );
  let node: Running | undefined;
  const stop = async (): Promise<number | null> => {
    node?.child.kill('SIGTERM');
    server.child.kill('SIGTERM');
    await node?.ended;
    return (await server.ended).code;
  };
  try {
    const url = await said(server, /listening on (\S+)/);
    node = start(['volunteer', url, '--slots', '2', '--name', 'bench', '--allow-typescript'], { cwd, input: '', env });
    await said(node, /offers 2 slots/);
    return { url, stop, env: { MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' } };
  } catch (error) {
    await stop();
    throw error;
  }
}
