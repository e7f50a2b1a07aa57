/** Planted bugs of BASE records, behind which logs are trimmed (packages/protocols/src/channel-memory/trim.ts). */
import { plant } from './plant.ts';

export const PLANTED_TRIMMING = [
  plant(
    'trimmed-before-base',
    'C7: a durable BASE record precedes trimming; counts and evidence outlive the messages',
    100,
  ),
  plant('base-says-unsynced', 'C8: a BASE record says of senders what is durable, and no more', 500, {
    setup: {
      protocol: 'pessimistic',
      kind: 'typescript',
      team: 3,
      checkpointMs: 300,
      durability: 'strict',
      ringBytes: 90,
      backlogBytes: 5000,
      mapBy: 'slot',
      spare: 0,
      spareSlots: 2,
    },
    spec: { rounds: 43, files: false, prologueRounds: 1 },
    only: [
      'CM power loss',
      'kill CM',
      'power loss',
      'broken link',
      'delay',
      'reorder',
      'reload',
      'duplicate',
      'crash',
      'close',
      'second socket',
      'freeze',
      'zombie',
    ],
  }),
] as const;
