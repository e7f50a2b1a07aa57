/**
 * The frame of a job in worker threads of the volunteer's own process: for programs that one runs for oneself. Starts
 * quickest, and protects nothing.
 */
import { MessageChannel } from 'node:worker_threads';
import type { JobFrame } from '../daemon/seams.ts';
import { startFrame } from '../frame/worker-parent.ts';
import type { CommToDaemon, CommToFrame, DaemonToComm, FrameToComm, FromRank, RankInit } from '../messages.ts';
import { nodeWorker } from '../node-worker.ts';
import { channelOf, type PortLike } from '../thread-ports.ts';

/** @param folder with comm.cjs and rank.cjs @param rankArguments of each rank's worker (rank/entry-node.ts) */
export function openThreadFrame(folder: string, server: string, rankArguments: string[]): JobFrame {
  const { port1, port2 } = new MessageChannel();
  let dead: (why: string) => void = () => undefined;
  const frame = startFrame(
    {
      spawnComm: () => nodeWorker<FrameToComm, CommToFrame>(`${folder}comm.cjs`, { name: 'comm' }),
      spawnRank: (memoryBytes) =>
        nodeWorker<RankInit, FromRank>(`${folder}rank.cjs`, {
          name: 'rank',
          env: {},
          argv: rankArguments,
          resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(memoryBytes / 1048576)) },
        }),
    },
    server,
    port2 as unknown as PortLike,
    (why) => dead(why),
  );
  return {
    channel: channelOf<DaemonToComm, CommToDaemon>(port1 as unknown as PortLike),
    onDeath: (handler) => (dead = handler),
    tells: true,
    close: () => frame.close(),
  };
}
