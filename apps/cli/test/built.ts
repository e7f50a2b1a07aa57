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
  readonly ended: Promise<Ended>;
}

/** Without MAYFLY_* of the caller and with an empty home, so that no server is found by chance. */
export function start(args: string[], options: { cwd: string; input?: string | undefined; bin?: string; env?: Record<string, string> }): Running {
  const bin = options.bin ?? CLI;
  if (!existsSync(bin)) throw new Error(`${bin} is not built: npm run build`);
  const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('MAYFLY_') && k !== 'NODE_OPTIONS' && !k.startsWith('VITEST')));
  const child = spawn(process.execPath, [bin, ...args], { cwd: options.cwd, env: { ...env, XDG_CONFIG_HOME: join(options.cwd, 'no-config'), ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (d: Buffer) => (stdout += d.toString()));
  child.stderr.on('data', (d: Buffer) => (stderr += d.toString()));
  child.stdin.on('error', () => undefined);
  if (options.input !== undefined) child.stdin.end(options.input);
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return { child, stdout: () => stdout, ended };
}

export const run = (args: string[], options: Parameters<typeof start>[1]): Promise<Ended> => start(args, { input: '', ...options }).ended;
