/**
 * The warm compile server of one user: `mayfly-compile-server.js <socket> <pid file>`. It keeps clang ready in worker
 * threads, and ends by itself when nobody has asked for a while.
 *
 * Owns: the socket, the pid file, the workers. Holds no state that matters.
 * Invariants:
 *   S1  a worker runs one call at a time; calls beyond the workers wait in order;
 *   S2  a caller that leaves takes its call with it (the worker is ended, so that nothing is written behind an
 *       interrupted make);
 *   S3  a call that ends a worker closes its connection without a result, and harms no other;
 *   S4  of several servers of one place, the one whose id the pid file has stays; the others end when they are idle.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { encodeResult, STACK_MB, type ToolRequest, type ToolResult } from './protocol.ts';

const IDLE_SECONDS = 300;
const MAX_WORKERS = 4;
/** A worker that is warm holds some 400 MB. */
const WORKER_BYTES = 2 ** 30;
const MAX_REQUEST = 64 << 20;
const WATCH_MS = 1000;

interface Call {
  readonly socket: Socket;
  readonly request: ToolRequest;
  worker: Worker | undefined;
}

function serve(socketPath: string, pidFile: string): void {
  const idleMs = Number(process.env.MAYFLY_COMPILE_SERVER_IDLE ?? IDLE_SECONDS) * 1000;
  const limit = Math.max(1, Math.min(availableParallelism(), MAX_WORKERS, Math.floor(totalmem() / WORKER_BYTES)));
  const waiting: Call[] = [];
  const running = new Set<Call>();
  const free: Worker[] = [];
  let workers = 0;
  let lastUse = Date.now();

  const drop = (worker: Worker): void => {
    workers--;
    const at = free.indexOf(worker);
    if (at >= 0) free.splice(at, 1);
    void worker.terminate();
  };
  const pump = (): void => {
    while (waiting.length > 0 && (free.length > 0 || workers < limit)) {
      const call = waiting.shift()!;
      const worker = free.pop() ?? hire();
      call.worker = worker;
      running.add(call);
      worker.postMessage(call.request);
    }
  };
  const hire = (): Worker => {
    workers++;
    const worker = new Worker(fileURLToPath(import.meta.url), { resourceLimits: { stackSizeMb: STACK_MB } });
    const callOf = (): Call | undefined => [...running].find((c) => c.worker === worker);
    worker.on('message', (result: ToolResult) => {
      const call = callOf();
      if (call === undefined) return;
      running.delete(call);
      free.push(worker);
      lastUse = Date.now();
      call.socket.end(encodeResult(result));
      pump();
    });
    const gone = (): void => {
      const call = callOf();
      if (call === undefined && !free.includes(worker)) return;
      drop(worker);
      if (call !== undefined) {
        running.delete(call);
        call.socket.destroy();
      }
      pump();
    };
    worker.on('error', gone);
    worker.on('exit', gone);
    return worker;
  };
  const leave = (call: Call): void => {
    const at = waiting.indexOf(call);
    if (at >= 0) waiting.splice(at, 1);
    if (!running.delete(call)) return;
    drop(call.worker!);
    pump();
  };

  const server = createServer((socket) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let call: Call | undefined;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (call !== undefined) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_REQUEST) return void socket.destroy();
      if (!chunk.includes(10)) return;
      try {
        call = {
          socket,
          request: JSON.parse(Buffer.concat(chunks).toString('utf8')) as ToolRequest,
          worker: undefined,
        };
      } catch {
        return void socket.destroy();
      }
      lastUse = Date.now();
      socket.write(`${JSON.stringify({ pid: process.pid })}\n`);
      waiting.push(call);
      pump();
    });
    socket.on('close', () => call && leave(call));
  });

  const own = (): boolean => {
    try {
      return readFileSync(pidFile, 'utf8') === String(process.pid);
    } catch {
      return false;
    }
  };
  const end = (): void => {
    if (own()) for (const path of [socketPath, pidFile]) rmSync(path, { force: true });
    process.exit(0);
  };
  // A name of its own first: what carries the shared name listens already, and takes the place of a dead one's in one
  // step.
  const first = `${socketPath}.${process.pid}`;
  rmSync(first, { force: true });
  server.listen(first, () => {
    const other = connect(socketPath);
    other.once('connect', () => {
      rmSync(first, { force: true });
      process.exit(0);
    });
    other.once('error', () => {
      writeFileSync(pidFile, String(process.pid), { mode: 0o600 });
      renameSync(first, socketPath);
      hireAhead();
    });
  });
  server.on('error', () => process.exit(1));
  const hireAhead = (): void => void (workers === 0 && free.push(hire()));
  setInterval(() => {
    if (running.size + waiting.length === 0 && (Date.now() - lastUse > idleMs || !own())) end();
  }, WATCH_MS);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}

if (isMainThread) serve(process.argv[2]!, process.argv[3]!);
else {
  const { runTool } = await import('./run-tool.ts');
  parentPort!.on('message', (request: ToolRequest) => parentPort!.postMessage(runTool(request)));
}
