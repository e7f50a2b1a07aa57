/**
 * `mayfly mpicc …` and its kin: the call goes to this user's warm compile server, which is started when there is none;
 * when that is not possible, or the server dies under the call, it is done here. Either way the user sees clang's own
 * output and exit code.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { callFolder } from './call-folder.ts';
import { DRIVERS, type DriverName } from './names.ts';
import { findPlace, type Place } from './socket-path.ts';
import { decodeResult, failed, STACK_MB, type ToolRequest, type ToolResult } from './protocol.ts';

/** A server that has not taken the call after this is stuck: the call is done here. */
const TAKEN_MS = 60_000;
const START_MS = 60_000;
const RETRY_MS = 10;

export async function driver(name: DriverName, argv: readonly string[]): Promise<void> {
  const tool = DRIVERS[name];
  const compiles = tool === 'mpicc' || tool === 'mpicxx';
  const calls = callFolder();
  const request: ToolRequest = {
    tool,
    // Not argv[1]: that may be a driver of one word, which runs nothing.
    mayfly: [process.execPath, fileURLToPath(new URL('./mayfly.js', import.meta.url))],
    argv,
    cwd: process.cwd(),
    ...(compiles && calls !== undefined ? { calls } : {}),
    ...(compiles && argv.includes('-') ? { stdin: readStdin().toString('base64') } : {}),
  };
  const place = findPlace();
  const result = (place && (await remote(place, request))) ?? (await here(request));
  writeAll(1, result.stdout);
  writeAll(2, result.stderr);
  // Nothing may hold this process any more.
  process.exit(result.exit);
}

/** In a thread of this process, for the sake of its stack. */
function here(request: ToolRequest): Promise<ToolResult> {
  const worker = new Worker(new URL('./mayfly-compile-server.js', import.meta.url), {
    resourceLimits: { stackSizeMb: STACK_MB },
  });
  worker.postMessage(request);
  const ended = (why: string): ToolResult => failed(request.tool, why, 70);
  return new Promise((resolve) =>
    worker
      .once('message', resolve)
      .once('error', (error) => resolve(ended(error.message)))
      .once('exit', () => resolve(ended('the compiler ended'))),
  );
}

/** Undefined: no server could do it. A compilation may run twice; it writes the same. */
async function remote(place: Place, request: ToolRequest): Promise<ToolResult | undefined> {
  let socket = await open(place);
  if (socket === undefined) {
    const until = Date.now() + START_MS;
    let server: Starting | undefined;
    let turn = takeTurn(place);
    while (socket === undefined && !server?.failed && Date.now() < until) {
      // Of calls at once, one starts the server and the others wait for it.
      turn ||= takeTurn(place);
      // The server that was faster than ours may have gone since.
      if (turn && (server === undefined || server.ended)) server = start(place);
      await new Promise((go) => setTimeout(go, RETRY_MS));
      socket = await open(place);
    }
    if (turn) rmSync(turnFile(place), { force: true });
  }
  return socket && ask(socket, request);
}

const turnFile = (place: Place): string => `${place.socket}.turn`;

/** Whether this process may start the server: the first that asks, or the next when that one is gone. */
function takeTurn(place: Place): boolean {
  const file = turnFile(place);
  const take = (): boolean => {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EEXIST';
    }
  };
  if (take()) return true;
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // One that has just been made is still empty.
    const old = Date.now() - statSync(file).mtimeMs;
    if (old > START_MS || (pid > 0 && !alive(pid)) || (pid === 0 && old > 1000)) rmSync(file, { force: true });
  } catch {
    // It has just gone.
  }
  return false;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const open = (place: Place): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect(place.socket);
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(undefined));
  });

interface Starting {
  readonly failed: boolean;
  readonly ended: boolean;
}

function start(place: Place): Starting {
  const state = { failed: false, ended: false };
  const child = spawn(process.execPath, [place.script, place.socket, place.pidFile], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env: environment(),
  });
  child.on('error', () => (state.failed = true));
  // Exit 0: another one was faster, and is there.
  child.on('exit', (code) => {
    state.ended = true;
    state.failed = code !== 0;
  });
  child.unref();
  return state;
}

/** Nothing of the caller's surroundings stays with a process that outlives it. */
function environment(): NodeJS.ProcessEnv {
  const { HOME, LANG, PATH, TMPDIR, MAYFLY_COMPILE_SERVER_IDLE } = process.env;
  return Object.fromEntries(
    Object.entries({ HOME, LANG, PATH, TMPDIR, MAYFLY_COMPILE_SERVER_IDLE }).filter(([, v]) => v !== undefined),
  );
}

function ask(socket: Socket, request: ToolRequest): Promise<ToolResult | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const stuck = setTimeout(() => socket.destroy(), TAKEN_MS);
    socket.on('data', (chunk: Buffer) => {
      clearTimeout(stuck);
      chunks.push(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(stuck);
      resolve(decodeResult(Buffer.concat(chunks)));
    });
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

function readStdin(): Buffer {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65536);
    let n: number;
    try {
      n = readSync(0, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') continue;
      if (code === 'EOF') break;
      throw error;
    }
    if (n === 0) break;
    chunks.push(chunk.subarray(0, n));
  }
  return Buffer.concat(chunks);
}

/** Whole, before this process ends; to a reader that left, nothing. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;)
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue;
      return;
    }
}
