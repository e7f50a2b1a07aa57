/** A Channel Memory that has heard nothing yet, and what it keeps for tasks that come later. */
import { CHUNK_BYTES, WORLD, homeOf, taskId, type Incarnation } from '@mayfly/wire';
import { ArrivalIndex } from './arrivals.ts';
import { formTeams } from './sections.ts';
import { WORLD_TURN } from './world.ts';
import { newStream, type LogPolicy, type State } from './state.ts';
import { newChannel } from './tasks.ts';
import type { ChannelMemoryOptions } from './events.ts';
import type { Evidence } from './records.ts';

/** Credit of a receiver before its first CREDIT. */
export const DEFAULT_WINDOW = 4 * 1024 * 1024;

export function initial(policy: LogPolicy, options: ChannelMemoryOptions): State {
  const s: State = {
    options,
    policy,
    durable: policy.keeps === 'durable',
    outputDurable: policy.keepsOutput === 'durable',
    stages: [],
    strict: policy.visible(options.durability) === 'synced',
    window: options.window ?? DEFAULT_WINDOW,
    chunkBytes: options.chunkBytes ?? CHUNK_BYTES,
    maxMessageBytes: options.maxMessageBytes ?? 1024 ** 3,
    conns: new Map(),
    sources: [],
    destinations: [],
    worlds: [],
    dirtyStreams: [],
    dirtyChannels: [],
    acks: [],
    sync: undefined,
    syncWanted: false,
    unsyncedBytes: 0,
    ticks: 0,
    ticket: 0,
    answers: [],
    covers: new Map(),
    teams: new Map(),
    dissolved: [],
    inSections: new Set(),
    beside: [],
    trims: [],
    onceDurable: [],
    worldBytes: 0,
    worldMemory: options.worldMemory ?? { waiting: 32 << 20, parts: 256 << 20 },
    worldTurn: WORLD_TURN,
    worldDue: false,
    serving: false,
    out: [],
  };
  s.stages = policy.stages?.begin(s) ?? [];
  grow(s, options.size);
  formTeams(s, options.teams ?? [], options.dissolved);
  return s;
}

const noEvidence = (): Evidence => ({ determinants: 0, openPolls: 0, consumed: 0 });

/** Tasks up to `size`. One that is added later has an open log: it cannot have received anything yet. */
export function grow(s: State, size: number): void {
  for (let task = taskId(s.sources.length); task < size; task = taskId(task + 1)) {
    s.sources.push({
      task,
      fence: 0 as Incarnation,
      nonce: undefined,
      nonceLsn: undefined,
      unheard: undefined,
      attachment: undefined,
      determinants: newStream('d', task, s.durable),
      records: [],
      held: [],
      durable: [],
      blockFirst: 0,
      blockEnd: 0,
      evidence: noEvidence(),
      durableEvidence: noEvidence(),
      syncingEvidence: noEvidence(),
      ackDue: false,
      ackChannels: [],
    });
    const home = homeOf(task, s.options.homes ?? s.options.count) === s.options.index;
    s.destinations.push(
      home
        ? {
            task,
            stream: newStream('t', task, s.durable),
            index: new ArrivalIndex(),
            channels: [],
            arrivalsSynced: 0,
            arrivalsSyncing: 0,
            push: undefined,
            closed: false,
            done: false,
            trimmed: 0,
            heldWorld: [],
            input: new Map<number, number>(),
            inputBytes: 0,
            envelopes: new Set<number>(),
          }
        : undefined,
    );
    s.worlds.push(
      home
        ? {
            stream: newStream('w', task, s.outputDurable),
            channel: newChannel(task, WORLD),
            index: new ArrivalIndex(),
            waiting: [],
            stable: 0,
            answered: 0,
            exit: undefined,
          }
        : undefined,
    );
  }
  for (const stage of s.stages) stage.grow(size);
}
