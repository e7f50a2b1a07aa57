/**
 * The parent of a job's workers on one node: the sandboxed frame's document in a browser, the main thread in Node. It
 * spawns the comm worker and, at its request, the rank workers, and reports to it which of them died. It carries no
 * data.
 */
import type { CommInit, CommToFrame, FrameToComm, FromRank, RankInit } from '../messages.ts';
import type { PortLike, WorkerLike } from '../thread-ports.ts';

export interface FrameSeams {
  spawnComm(): WorkerLike<FrameToComm, CommToFrame>;
  spawnRank(memoryBytes: number): WorkerLike<RankInit, FromRank>;
  /** Rank workers are all alike here, whatever memory they may use: one is started before it is asked for. */
  ahead?: boolean;
}

export interface Frame {
  close(): void;
}

/** `onDeath`: the comm worker is gone, and with it every rank of the frame. */
export function startFrame(seams: FrameSeams, server: string, daemon: PortLike, onDeath: (why: string) => void): Frame {
  const ranks = new Map<number, WorkerLike<RankInit, FromRank>>();
  const comm = seams.spawnComm();
  let ahead = seams.ahead ? seams.spawnRank(0) : undefined;
  const early = ahead;
  early?.onDeath(() => {
    if (ahead === early) ahead = undefined;
  });
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    for (const r of ranks.values()) r.terminate();
    ranks.clear();
    ahead?.terminate();
    comm.terminate();
  };
  comm.onDeath((why) => {
    if (!open) return;
    close();
    onDeath(why);
  });
  comm.onMessage((m) => {
    if (m.type === 'kill') {
      ranks.get(m.id)?.terminate();
      ranks.delete(m.id);
      return;
    }
    const rank = ahead ?? seams.spawnRank(m.memoryBytes);
    ahead = undefined;
    ranks.set(m.id, rank);
    const died = (message: string): void => {
      if (ranks.get(m.id) !== rank) return;
      ranks.delete(m.id);
      rank.terminate();
      comm.post({ type: 'died', id: m.id, message });
    };
    rank.onDeath(died);
    // A program may have taken its thread over. It then decides when this comes, and what is in it.
    rank.onMessage((said) => died(typeof said?.why === 'string' ? said.why.slice(0, 4000) : 'the rank crashed'));
    rank.post({ type: 'init', memory: m.memory, port: m.port }, [m.port]);
  });
  const init: CommInit = { type: 'init', server, daemon };
  comm.post(init, [daemon]);
  return { close };
}
