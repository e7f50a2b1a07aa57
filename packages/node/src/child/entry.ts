/**
 * The process of a job on a headless node: the comm worker runs on its main thread, each rank in a worker thread. It
 * has no files but its bundles, no environment, and no network: messages of the daemon come over a pipe, connections as
 * open sockets over Node's channel.
 *
 *  E1 It ends itself when the pipe closes: the volunteer is gone, however it went.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import WebSocket from 'ws';
import { CommHost } from '../comm/host.ts';
import { pollingSocket, type SocketLike } from '../comm/data-link.ts';
import { nodeSeams, socketOptions } from '../comm/node-seams.ts';
import { startFrame, type Frame } from '../frame/worker-parent.ts';
import type { CommToDaemon, CommToFrame, DaemonToComm, FrameToComm, FromRank, RankInit } from '../messages.ts';
import { nodeWorker } from '../node-worker.ts';
import type { Channel, PortLike, WorkerLike } from '../thread-ports.ts';
import { disarm } from '../rank/disarm.ts';
import { encode, fits, Inbox, lowerToChild, type FromChild, type ToChild } from '../sandbox/channel.ts';
import type { Attempts } from '../sandbox/attempts.ts';
import { get, HandedAgent } from './network.ts';

const PIPE = 4;
const RSS_MS = 500;

/** bubblewrap sets PWD itself, and Windows needs SystemRoot. */
const environment = Object.keys(process.env).filter((name) => !/^(PWD|SystemRoot)$/i.test(name));
const pipe = new Socket({ fd: PIPE, readable: true, writable: true });
const exit = process.exit.bind(process);
const gone = (): never => exit(0);
pipe.on('error', gone).on('close', gone).on('end', gone);
process.on('disconnect', gone);
// The volunteer decides when jobs end, also where a terminal signals everybody.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const say = (message: FromChild): void => {
  pipe.cork();
  for (const part of encode(message)) pipe.write(part);
  pipe.uncork();
};

/** A program can throw an error of any length. */
const LONGEST = 60_000;
function clipped(m: CommToDaemon): CommToDaemon {
  if (m.type === 'note') return { ...m, text: m.text.slice(0, LONGEST) };
  return m.type === 'report' && m.error
    ? { ...m, error: { ...m.error, message: m.error.message.slice(0, LONGEST) } }
    : m;
}

let fromDaemon: ((m: DaemonToComm) => void) | undefined;
const early: DaemonToComm[] = [];
const daemon: Channel<CommToDaemon, DaemonToComm> = {
  post(message) {
    if (fits(message)) say({ type: 'comm', message: clipped(message) });
  },
  onMessage(handler) {
    fromDaemon = handler;
    for (const m of early.splice(0)) handler(m);
  },
  onClose: () => undefined,
  close: () => undefined,
};

/** The comm host as a worker of the frame, without a thread of its own. */
function commHere(agent: HandedAgent): WorkerLike<FrameToComm, CommToFrame> {
  const seams = nodeSeams({
    openSocket: (url) => new WebSocket(url, { ...socketOptions, agent }) as unknown as SocketLike,
    openPolling: (url) => pollingSocket(url, { agent }),
    get: (url) => get(url, agent),
  });
  let toFrame: ((m: CommToFrame) => void) | undefined;
  let host: CommHost | undefined;
  return {
    post(m) {
      if (m.type === 'init') host = new CommHost(m.server, seams, daemon, (out) => toFrame?.(out));
      else host?.fromFrame(m);
    },
    onMessage: (handler) => (toFrame = handler),
    // What is thrown here ends the process, and with it the frame.
    onDeath: () => undefined,
    terminate: () => undefined,
  };
}

const beside = (name: string): string => fileURLToPath(new URL(name, pathToFileURL(__filename)));
/** Without any, a thread has the flags of the process. */
const flags = ({ rankFlags }: { rankFlags: string[] }): { execArgv?: string[] } =>
  rankFlags.length > 0 ? { execArgv: rankFlags } : {};

/** In a thread with the limits of a rank's. */
function probe({ targets, disarmed, ...m }: Extract<ToChild, { type: 'probe' }>): void {
  const worker = new Worker(beside('probe.mjs'), {
    env: {},
    ...flags(m),
    workerData: { ...targets, environment, disarmed },
  });
  worker.once('message', (attempts: Attempts) => say({ type: 'probed', attempts }));
}

function start(m: Extract<ToChild, { type: 'start' }>): { frame: Frame; agent: HandedAgent } {
  const agent = new HandedAgent(m.server.startsWith('https:'), m.tls, (id, to) => say({ type: 'connect', id, to }));
  process.on('message', ({ id }: { id: number }, socket: Socket) => agent.handed(id, socket));
  if (m.rss) setInterval(() => say({ type: 'rss', bytes: process.memoryUsage.rss() }), RSS_MS);
  const frame = startFrame(
    {
      spawnComm: () => commHere(agent),
      spawnRank: (memoryBytes) =>
        nodeWorker<RankInit, FromRank>(beside('rank.cjs'), {
          name: 'rank',
          env: {},
          argv: m.rankArguments,
          ...flags(m),
          resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(memoryBytes / 1048576)) },
        }),
    },
    m.server,
    // The comm host here has its channel already.
    { postMessage: () => undefined, close: () => undefined } satisfies PortLike,
    () => exit(1),
  );
  return { frame, agent };
}

let running: ReturnType<typeof start> | undefined;
const inbox = new Inbox(
  (head, body) => {
    const m = lowerToChild(head, body);
    if (m.type === 'start') running ??= start(m);
    else if (m.type === 'probe') probe(m);
    else if (m.type === 'unreachable') running?.agent.refused(m.id, m.why);
    else if (fromDaemon) fromDaemon(m.message);
    else early.push(m.message);
  },
  (why) => {
    throw new Error(`the daemon ${why}`);
  },
);
pipe.on('data', (chunk: Uint8Array) => inbox.push(chunk));
disarm();
say({ type: 'ready' });
