/** A Channel Memory that has heard nothing yet, and what it keeps for tasks that come later. */
import { CHUNK_BYTES, WORLD, homeOf, taskId, type Incarnation } from '@mayfly/wire';
import { ArrivalIndex } from './arrivals.ts';
import { noCounts } from './cutting.ts';
import { formTeams } from './sections.ts';
import { WORLD_TURN } from './world.ts';
import { newChannel, type LogPolicy, type State, type Stream } from './state.ts';
import type { ChannelMemoryOptions } from './events.ts';

/** Credit of a receiver before its first CREDIT. */
export const DEFAULT_WINDOW = 4 * 1024 * 1024;

const stream = (kind: 't' | 'd' | 'w' | 'v' | 'x', task: number, durable: boolean): Stream => ({
  name: `${kind}${task}`,
  durable,
  next: 0,
  synced: 0,
  dirty: false,
});

export function initial(policy: LogPolicy, options: ChannelMemoryOptions): State {
  const s: State = {
    options,
    policy,
    durable: policy.keeps === 'durable',
    outputDurable: policy.keepsOutput === 'durable',
    cutting: policy.waves && {
      gate: policy.waves.gate(0, () => false),
      epoch: options.line?.epoch ?? 0,
      held: new Map(),
      heldBytes: 0,
      heldSizes: 0,
      counts: noCounts(),
      written: new Map(),
      unreported: [],
      streams: [],
    },
    between: policy.clusters &&
      options.homes && {
        links: policy.clusters(options.homes, options.index),
        waiting: [],
        waitingBytes: 0,
        streams: [],
        places: new Map(),
        sent: new Map(),
        trimmed: new Map(),
        recovered: [],
      },
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
    worldBytes: 0,
    worldMemory: options.worldMemory ?? { waiting: 32 << 20, parts: 256 << 20 },
    worldTurn: WORLD_TURN,
    worldDue: false,
    serving: false,
    out: [],
  };
  grow(s, options.size);
  formTeams(s, options.teams ?? [], options.dissolved);
  return s;
}

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
      determinants: stream('d', task, s.durable),
      records: [],
      held: [],
      durable: [],
      blockFirst: 0,
      blockEnd: 0,
      evidence: { determinants: 0, openPolls: 0, consumed: 0 },
      ackDue: false,
      ackChannels: [],
    });
    const home = homeOf(task, s.options.homes ?? s.options.count) === s.options.index;
    s.destinations.push(
      home
        ? {
            task,
            stream: stream('t', task, s.durable),
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
            stream: stream('w', task, s.outputDurable),
            channel: newChannel(task, WORLD),
            index: new ArrivalIndex(),
            waiting: [],
            stable: 0,
            answered: 0,
            exit: undefined,
          }
        : undefined,
    );
    s.between?.streams.push(home ? stream('x', task, true) : undefined);
    s.cutting?.streams.push(home ? { stream: stream('v', task, true), records: 0, begins: [] } : undefined);
  }
  s.cutting?.gate.grow(size, (task) => s.destinations[task] !== undefined);
}
