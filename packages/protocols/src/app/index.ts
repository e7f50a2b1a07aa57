/**
 * Programs that recover themselves: messages pass through the server's memory, and a loss is told to the tasks that are
 * left (membership.ts). What they make of it is the program's: ULFM's calls, or FT-MPI's modes
 * (packages/mpi/src/failure).
 */
import type { Position } from '@mayfly/wire';
import { PlainEndpoint } from '../contract/plain-endpoint.ts';
import { FROM_THE_START } from '../contract/position.ts';
import { relayLog, relayTask } from '../contract/relay.ts';
import type { RecoveryPolicy, VProtocol } from '../contract/index.ts';
import { manifest } from './manifest.ts';
import { memberService } from './members-of-job.ts';

/** Where every task begins, and none again. */
const START: Position = { protocol: 'app', version: 1, at: null };

const recovery: RecoveryPolicy = {
  restarts: false,
  tells: true,
  start: START,
  lost: () => undefined,
  lacks: () => undefined,
  serverRestarted: () => ({
    code: 'SERVER_RESTARTED',
    message:
      'The server was restarted, and the protocol "app" keeps messages in its memory only. Run the job with ' +
      '"pessimistic" to survive this.',
  }),
};

export const app: VProtocol = {
  manifest,
  rank: (task, size, _position, { incarnation }) => new PlainEndpoint(task, size, incarnation, START),
  commd: () => relayTask,
  log: {
    ...relayLog,
    keepsOutput: 'memory',
    // A lost task is fenced with an incarnation that is never assigned. One that never began may start with another.
    refuses: ({ epoch, resume }, d) =>
      epoch > 0 || (!resume && d !== undefined && d.trimmed > 0)
        ? { code: 'LOST_NODES', message: 'protocol "app" cannot run a task again' }
        : undefined,
    shows: () => true,
    replays: () => FROM_THE_START,
    stable: () => false,
  },
  images: {
    refuses: () => 'The protocol "app" keeps no images.',
    covers: () => false,
    trimTo: (kept) => kept[0]!,
  },
  recovery: {
    ...recovery,
    // "like any other MPI implementation, FT-MPI can abort on an error"
    aborts: {
      ...recovery,
      tells: false,
      lost: (task, cause) => ({
        code: 'LOST_NODES',
        message: `Rank ${task} was lost (${cause}), and the job asked to be ended by a loss (FT-MPI's mode "abort").`,
      }),
    },
  },
  service: memberService(),
};
