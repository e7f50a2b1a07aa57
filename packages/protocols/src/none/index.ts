/**
 * No fault tolerance, to measure the others against: messages pass through the server's memory, and the loss of a task
 * ends its job.
 */
import type { Position } from '@mayfly/wire';
import type { VProtocol } from '../contract/index.ts';
import { PlainEndpoint } from '../contract/plain-endpoint.ts';
import { commd } from './commd.ts';
import { log } from './log.ts';
import { manifest } from './manifest.ts';

/** Where every task begins, and none again. */
const START: Position = { protocol: 'none', version: 1, at: null };

export const none: VProtocol = {
  manifest,
  rank: (task, size, _position, { incarnation }) => new PlainEndpoint(task, size, incarnation, START),
  commd,
  log,
  images: {
    refuses: () => 'The protocol "none" keeps no images.',
    covers: () => false,
    trimTo: (kept) => kept[0]!,
  },
  recovery: {
    restarts: false,
    teams: 'transport',
    start: START,
    lost: (task, cause) => ({
      code: 'LOST_NODES',
      message:
        `Rank ${task} was lost (${cause}), and the protocol "none" keeps no log to restart it from. Run the ` +
        'job with "pessimistic" to survive this.',
    }),
    lacks: () => undefined,
    serverRestarted: () => ({
      code: 'SERVER_RESTARTED',
      message:
        'The server was restarted, and the protocol "none" keeps no log of running work. Run the job with ' +
        '"pessimistic" to survive this.',
    }),
  },
};
