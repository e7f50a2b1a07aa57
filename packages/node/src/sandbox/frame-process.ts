/**
 * The frame of a job as a process of its own: the daemon's end. It starts the process, carries messages, hands over
 * connections, and ends it.
 *
 *  P1 The frame is dead when its process has ended, or has sent an invalid message. This is reported once, with the
 *  reason.
 *  P2 Whatever ends the volunteer ends the process: it ends itself when the pipe closes; under bubblewrap the kernel
 *  ends it.
 *  P3 What comes from it is checked (message-checks.ts), and read no faster than MESSAGES_A_SECOND.
 */
import type { CommToDaemon, DaemonToComm } from '../messages.ts';
import type { JobFrame } from '../daemon/seams.ts';
import { Inbox, type TlsTrust } from './channel.ts';
import { checked } from './message-checks.ts';
import { deathOf, endChild, spawnChild, type Sandbox } from './launch.ts';
import { residentBytes, stepBack } from './memory.ts';
import { Connections } from './network.ts';

const MESSAGES_A_SECOND = 20_000;
/** Messages that came before the daemon listened. */
const EARLY = 100;

export interface ProcessFrame extends JobFrame {
  readonly pid: number;
  /** Bytes of memory of the process; its own report where the kernel gives no number. */
  resident(): number;
}

export interface ProcessFrameOptions {
  sandbox: Sandbox;
  server: string;
  tls: TlsTrust;
  /** Plant faults on request (rank/fault.ts): then a killed process stands for a killed node. */
  faults: boolean;
  /** Of each rank's worker (rank/entry-node.ts). */
  rankArguments: string[];
  onGone(frame: ProcessFrame): void;
}

export async function openFrameProcess({
  sandbox,
  server,
  tls,
  faults,
  rankArguments,
  onGone,
}: ProcessFrameOptions): Promise<ProcessFrame> {
  const spawned = await spawnChild(sandbox, faults ? (text) => void process.stderr.write(text) : undefined);
  const { child, pipe } = spawned;
  let closed = false;
  let tellDeath: ((why: string) => void) | undefined;
  let death: string | undefined;
  let listener: ((m: CommToDaemon) => void) | undefined;
  const early: CommToDaemon[] = [];
  let claimed = 0;

  const end = (): void => {
    closed = true;
    connections.close();
    endChild(spawned);
  };
  const died = (why: string): void => {
    if (closed) return;
    end();
    death = why;
    tellDeath?.(why);
  };
  const hostile = (what: string): void => died(`the job's process ${what}: it was ended`);
  const connections = new Connections(
    child,
    server,
    (id, why) => spawned.send({ type: 'unreachable', id, why }),
    hostile,
  );

  const inbox = new Inbox((head, body) => {
    if (closed) return;
    const m = checked(head, body);
    if (!m) return hostile('sent an invalid message');
    throttle();
    // All its processes and sessions are there.
    if (m.type === 'ready') stepBack(frame.pid, sandbox.layers.nice);
    else if (m.type === 'connect') connections.open(m.id, m.to);
    else if (m.type === 'rss') claimed = m.bytes;
    else if (m.type === 'probed') hostile('sent an answer without a request');
    else if (m.type === 'comm') {
      if (listener) listener(m.message);
      else if (early.push(m.message) > EARLY) hostile('sent too much before the first request');
    }
  }, hostile);
  pipe.on('data', (chunk: Uint8Array) => inbox.push(chunk));

  let second = 0;
  let messages = 0;
  /** P3. */
  const throttle = (): void => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, messages] = [now, 0];
    if (++messages === MESSAGES_A_SECOND) {
      pipe.pause();
      setTimeout(() => pipe.resume(), 1000).unref();
    }
  };

  const frame: ProcessFrame = {
    pid: child.pid!,
    resident: () => residentBytes(child.pid!) ?? claimed,
    channel: {
      post(message: DaemonToComm) {
        if (closed) return;
        if (message.type === 'assign')
          for (const url of message.assignment.channelMemories) connections.allow(new URL(url, `${server}/`).href);
        spawned.send({ type: 'comm', message });
      },
      onMessage(handler) {
        listener = handler;
        for (const m of early.splice(0)) handler(m);
      },
      // The process reports its end.
      onClose: () => undefined,
      close: () => undefined,
    },
    onDeath(handler) {
      tellDeath = handler;
      if (death !== undefined) handler(death);
    },
    tells: true,
    close: end,
  };
  child.once('close', (code, signal) => {
    onGone(frame);
    // The tests of faults kill a node at a call of a rank: what died there is the whole node.
    if (faults && !closed && (signal === 'SIGKILL' || code === 137)) process.kill(process.pid, 'SIGKILL');
    died(deathOf(code, signal, spawned.lastWords()));
  });
  spawned.send({
    type: 'start',
    server,
    tls,
    rankArguments,
    rss: residentBytes(child.pid!) === undefined,
    rankFlags: spawned.rankFlags,
  });
  return frame;
}
