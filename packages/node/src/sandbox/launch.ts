/**
 * How the process of a job is started on this machine: which of the layers that there are really work here. Each
 * candidate is tried with the very process that will run jobs, from the tightest on; the first whose process comes up
 * is taken.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findProgram, inside, librariesOf, NOBODY, wrapped } from './bubblewrap.ts';
import { encode, Inbox, type ToChild } from './channel.ts';
import { mainFlags, rankFlags } from './permission.ts';
import { seccompFilter } from './seccomp.ts';
import { MACHINES } from './syscalls.ts';

/** `none`: worker threads of the volunteer's own process. `auto`: the tightest that works here, at least a process. */
export const SANDBOXES = ['auto', 'bwrap', 'process', 'none'] as const;
export type SandboxChoice = (typeof SANDBOXES)[number];

/** Behind others, but for an idle machine at full speed. */
export const DEFAULT_NICE = 10;
const TRY_MS = 20_000;
const KEPT_ERROR = 4096;

export interface Layers {
  kind: 'bwrap' | 'process';
  /** Node's permission model; off only where `--check` looks at what is left without it. */
  permission: boolean;
  /** bubblewrap: a network namespace of its own. */
  ownNetwork: boolean;
  /** bubblewrap: the libraries of Node one by one, not all of /usr. */
  tight: boolean;
  /** The volunteer is root, the process is nobody. */
  dropRoot: boolean;
  nice: number;
}

export interface Sandbox {
  layers: Layers;
  /** Why tighter ones are not used, one sentence each. */
  missing: string[];
  /** Folder with the bundles frame.cjs and rank.cjs. */
  folder: string;
}

/** A job's process with its pipes; more about it in frame-process.ts. */
export interface Spawned {
  child: ChildProcess;
  pipe: Writable & Readable;
  /** The last of what it wrote to standard error. */
  lastWords(): string;
  send(message: ToChild): void;
  /** Flags for the threads of its ranks. */
  rankFlags: string[];
}

const FILES = ['frame.cjs', 'rank.cjs', 'probe.mjs'];
// 3 is Node's own channel.
const PIPE = 4;
const FILTER = 5;

let known: { libraries: string[] | undefined } | undefined;
/** Found once: it starts a process. */
const libraries = (executable: string): readonly string[] | undefined =>
  (known ??= { libraries: librariesOf(executable) }).libraries;

/** @throws when no process can be made: too many of them, no memory, no such program */
export async function spawnChild({ layers, folder }: Sandbox, onStderr?: (text: string) => void): Promise<Spawned> {
  const executable = realpathSync(process.execPath);
  if (!existsSync(folder)) throw new Error(`cannot start a process for a job: there is no folder ${folder}`);
  const bundles = FILES.map((name) => join(realpathSync(folder), name));
  const visible = layers.kind === 'bwrap' ? bundles.map(inside) : bundles;
  const filter = layers.kind === 'bwrap' ? MACHINES[process.arch] : undefined;
  const node = [...(layers.permission ? mainFlags(visible) : []), visible[0]!];
  let command: string[] = [executable, ...node];
  if (layers.kind === 'bwrap') {
    const wrapping = {
      bwrap: findProgram('bwrap') ?? 'bwrap',
      executable,
      libraries: layers.tight ? libraries(executable) : undefined,
      bundles,
      ownNetwork: layers.ownNetwork,
      seccomp: filter ? FILTER : undefined,
    };
    command = [...wrapped(wrapping), ...node];
  }
  // From its first instruction on: threads have the priority of the one that made them.
  const nice = process.platform === 'win32' || layers.nice === 0 ? undefined : findProgram('nice');
  if (nice) command = [nice, '-n', String(layers.nice), ...command];
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc', 'pipe', ...(filter ? (['pipe'] as const) : [])];
  return new Promise((resolve, reject) => {
    const failed = (e: unknown): void => reject(new Error(`cannot start a process for a job: ${explained(e)}`));
    let child: ChildProcess;
    try {
      child = spawn(command[0]!, command.slice(1), {
        stdio,
        // Node needs none of it; Windows does.
        env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
        // Threads may read what lies in it (permission.ts).
        cwd: folder,
        // Ctrl-C at the volunteer's terminal is the volunteer's: it takes last images first.
        detached: process.platform !== 'win32',
        windowsHide: true,
        serialization: 'json',
        ...(layers.dropRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      });
    } catch (e) {
      return failed(e);
    }
    child.once('error', failed);
    child.once('spawn', () => {
      child.off('error', failed);
      child.on('error', () => undefined);
      if (!nice && layers.nice !== 0)
        try {
          setPriority(child.pid!, layers.nice);
        } catch {
          // It has ended already.
        }
      let words = '';
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(-KEPT_ERROR);
        onStderr?.(text);
      });
      const pipe = child.stdio[PIPE] as unknown as Writable & Readable;
      // An error of a stream needs no report: the end of the process is reported.
      for (const stream of [pipe, child.stderr!]) stream.on('error', () => undefined);
      if (filter) {
        const program = (child.stdio as unknown[])[FILTER] as Writable & Readable;
        program.on('error', () => undefined);
        program.end(seccompFilter(filter));
        program.resume();
      }
      const send = (message: ToChild): void => {
        if (!pipe.writable) return;
        pipe.cork();
        for (const part of encode(message)) pipe.write(part);
        pipe.uncork();
      };
      resolve({
        child,
        pipe,
        lastWords: () => words,
        send,
        rankFlags: layers.permission ? rankFlags(visible.slice(1)) : [],
      });
    });
  });
}

function explained(e: unknown): string {
  const { code, message } = e as NodeJS.ErrnoException;
  const WHY: Record<string, string> = {
    EAGAIN: 'this user has too many processes, or the machine too few left (EAGAIN; see ulimit -u)',
    ENOMEM: 'the machine has too little memory left (ENOMEM)',
    EMFILE: 'the volunteer has too many files open (EMFILE; see ulimit -n)',
    ENFILE: 'the machine has too many files open (ENFILE)',
  };
  return (code && WHY[code]) ?? message;
}

/** Ends it for certain, with all that it started. */
export function endChild({ child, pipe }: Spawned): void {
  pipe.destroy();
  child.kill('SIGKILL');
  if (child.connected) child.disconnect();
}

/** What ended a process, for people. */
export function deathOf(code: number | null, signal: string | null, lastWords: string): string {
  // bubblewrap and shells tell of a signal by the code.
  const by =
    signal ??
    (code !== null && code > 128 && code < 160
      ? ({
          134: 'SIGABRT',
          137: 'SIGKILL',
          132: 'SIGILL',
          133: 'SIGTRAP',
          135: 'SIGBUS',
          139: 'SIGSEGV',
          143: 'SIGTERM',
          159: 'SIGSYS',
        }[code] ?? `signal ${code - 128}`)
      : null);
  const last = lastWords
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (/heap out of memory|Cannot allocate memory|allocation failed/i.test(lastWords))
    return "out of memory: the job's process outgrew its limit";
  if (by === 'SIGKILL')
    return "the job's process was killed (SIGKILL): the machine is out of memory, or somebody ended it";
  const error = last.find((line) => /error|bwrap:/i.test(line)) ?? last.at(-1);
  return `the job's process ended ${by ? `by ${by}` : `with code ${code}`}${error ? `: ${error.slice(0, 300)}` : ''}`;
}

/** Starts the process and waits until it reports that it runs. @returns why it does not */
async function tried(sandbox: Sandbox): Promise<string | undefined> {
  let spawned: Spawned;
  try {
    spawned = await spawnChild(sandbox);
  } catch (e) {
    return (e as Error).message;
  }
  const { child, pipe } = spawned;
  const why = await new Promise<string | undefined>((resolve) => {
    const late = setTimeout(() => resolve(`its process did not start within ${TRY_MS / 1000} s`), TRY_MS);
    const inbox = new Inbox(
      (head) => (head as { type?: unknown }).type === 'ready' && (clearTimeout(late), resolve(undefined)),
      resolve,
    );
    pipe.on('data', (chunk: Uint8Array) => inbox.push(chunk));
    child.once('close', (code, signal) => {
      clearTimeout(late);
      resolve(deathOf(code, signal, spawned.lastWords()));
    });
  });
  endChild(spawned);
  return why;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** @throws when the choice does not work here; the message names what to install */
export async function chooseSandbox(
  choice: Exclude<SandboxChoice, 'none'>,
  folder: string,
  nice = DEFAULT_NICE,
): Promise<Sandbox> {
  const missing: string[] = [];
  const users = isRoot() ? [true, false] : [false];
  if (choice !== 'process') {
    const why = bubblewrapMissing();
    if (why) missing.push(why);
    else {
      const executable = realpathSync(process.execPath);
      const roots = libraries(executable) ? [true, false] : [false];
      const failures = new Set<string>();
      for (const tight of roots)
        for (const ownNetwork of [true, false])
          for (const dropRoot of users) {
            const sandbox: Sandbox = {
              layers: { kind: 'bwrap', permission: true, ownNetwork, tight, dropRoot, nice },
              missing,
              folder,
            };
            const failure = await tried(sandbox);
            if (failure === undefined) {
              missing.push(...[...failures].map((f) => `a tighter form of bubblewrap does not work here: ${f}`));
              return sandbox;
            }
            failures.add(failure);
          }
      missing.push(
        `bubblewrap does not work here: ${[...failures][0]}. The kernel must let users make namespaces ` +
          `(kernel.unprivileged_userns_clone, user.max_user_namespaces, AppArmor's ` +
          'kernel.apparmor_restrict_unprivileged_userns; in a container, its seccomp profile)',
      );
    }
    if (choice === 'bwrap') throw new Error(missing.at(-1)!);
  }
  let last = '';
  for (const dropRoot of users) {
    const sandbox: Sandbox = {
      layers: { kind: 'process', permission: true, ownNetwork: false, tight: false, dropRoot, nice },
      missing,
      folder,
    };
    const failure = await tried(sandbox);
    if (failure === undefined) {
      if (last) missing.push(`the process keeps the user root: ${last}`);
      return sandbox;
    }
    last = failure;
  }
  throw new Error(`${last}. '--sandbox none' runs jobs in the volunteer's own process, without this protection`);
}

function bubblewrapMissing(): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only';
  if (!findProgram('bwrap'))
    return (
      "bubblewrap is not installed: install the package 'bubblewrap' (apt install bubblewrap, dnf install " +
      'bubblewrap, pacman -S bubblewrap)'
    );
  return undefined;
}
