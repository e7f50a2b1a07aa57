/**
 * The last step of a communicator's making: from what a schedule has gathered to a record in the table. How the
 * processes agree on a context id is said in contexts.ts; of two groups the greater one is taken.
 */
import { HOLE } from '@mayfly/wire';
import { readCard, cardBytes, type Card } from './cards.ts';
import { ERRORS_ARE_FATAL, NULL, UNDEFINED } from './constants.ts';
import { className, ERR, fail } from './errors.ts';
import type { Layer } from './layer.ts';
import type { CommRecord, DupOf, NewComm, Topology } from './state.ts';

/** Bytes that each rank brings to a split: i32 colour, i32 key, u32 context. */
export const SPLIT_BYTES = 12;
/** Bytes that each group brings to a merge: u32 context, u32 somebody said high, u32 somebody said low. */
export const MERGE_BYTES = 12;

export interface Made {
  context: number;
  group: readonly number[];
  remote?: readonly number[] | undefined;
  name: string;
  topology?: Topology | undefined;
}

/**
 * Returns the new handle, or NULL where this process is not in the group. @throws MPIError when the groups do not fit
 */
export function makeComm(layer: Layer, make: NewComm, gathered: Uint8Array): number {
  const parent = layer.state.comms.rows.get(make.comm);
  const made = (): Made => {
    switch (make.how) {
      case 'dup':
        return duplicate(make.of ?? parent!, make.name, gathered);
      case 'split':
        return splitOff(parent!, make.name, make.topology, gathered);
      case 'merge':
        return merged(parent!, gathered);
      case 'inter':
        return joined(layer, make, gathered);
      case 'create':
        return parent?.remote
          ? joined(layer, { ...make, how: 'inter' }, gathered, true)
          : {
              context: new DataView(gathered.buffer, gathered.byteOffset).getUint32(0, true),
              group: make.group,
              name: make.name,
              topology: make.topology,
            };
    }
  };
  const from = make.how === 'dup' ? (make.of ?? parent) : parent;
  const handle = addComm(layer, from?.errhandler ?? ERRORS_ARE_FATAL, made());
  if (make.how === 'dup')
    for (const [keyval, value] of from!.attributes) layer.state.comms.rows.get(handle)!.attributes.set(keyval, value);
  return handle;
}

const words = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function duplicate(parent: DupOf, name: string, gathered: Uint8Array): Made {
  const view = words(gathered);
  const context = parent.remote ? Math.max(view.getUint32(0, true), view.getUint32(4, true)) : view.getUint32(0, true);
  return { context, group: parent.group, remote: parent.remote, name, topology: parent.topology };
}

function splitOff(parent: CommRecord, name: string, topology: Topology | undefined, gathered: Uint8Array): Made {
  const view = words(gathered);
  let context = 0;
  const side = (group: readonly number[], from: number) =>
    group.map((task, rank) => {
      const at = (from + rank) * SPLIT_BYTES;
      context = Math.max(context, view.getUint32(at + 8, true));
      return { task, rank, color: view.getInt32(at, true), key: view.getInt32(at + 4, true) };
    });
  const here = side(parent.group, 0);
  const there = parent.remote && side(parent.remote, parent.group.length);
  const mine = here[parent.rank]!.color;
  const chosen = (list: typeof here): number[] =>
    mine === UNDEFINED
      ? []
      : list
          .filter((e) => e.color === mine && e.task !== HOLE)
          .sort((a, b) => a.key - b.key || a.rank - b.rank)
          .map((e) => e.task);
  return { context, group: chosen(here), remote: there && chosen(there), name, topology };
}

function merged(parent: CommRecord, gathered: Uint8Array): Made {
  const view = words(gathered);
  const [own, their] = [0, MERGE_BYTES].map((at) => ({
    context: view.getUint32(at, true),
    high: view.getUint32(at + 4, true) !== 0,
    low: view.getUint32(at + 8, true) !== 0,
  })) as [Side, Side];
  if ((own.high && own.low) || (their.high && their.low))
    fail(ERR.ARG, '', 'the processes of one group gave different values for high', parent.handle);
  // "If all processes … provided the same value for high, the order is arbitrary" (§7.6.2): by their first tasks.
  const first = own.high === their.high ? parent.group[0]! < parent.remote![0]! : !own.high;
  return {
    context: Math.max(own.context, their.context),
    group: first ? [...parent.group, ...parent.remote!] : [...parent.remote!, ...parent.group],
    name: '',
  };
}
interface Side {
  context: number;
  high: boolean;
  low: boolean;
}

/** @param parts the groups are parts of disjoint ones: either may be empty */
function joined(layer: Layer, make: Extract<NewComm, { how: 'inter' }>, gathered: Uint8Array, parts = false): Made {
  const bytes = cardBytes(layer);
  const own = readCard(layer, gathered.subarray(0, bytes)) as Extract<Card, { context: number }>;
  const their = readCard(layer, gathered.subarray(bytes, 2 * bytes));
  if ('refused' in their)
    return fail(
      their.refused as never,
      '',
      make.wrong?.text ?? `the leader could not reach the other group (${className(their.refused)})`,
      make.comm,
    );
  const common = their.tasks.filter((t) => make.group.includes(t));
  if (common.length > 0)
    fail(
      ERR.COMM,
      '',
      'the groups are not disjoint: ' +
        `${common.length === 1 ? `task ${common[0]} is` : `tasks ${common.join(', ')} are`} in both`,
      make.comm,
    );
  const whole = !parts || (make.group.length > 0 && their.tasks.length > 0);
  return {
    context: Math.max(own.context, their.context),
    group: whole ? make.group : [],
    remote: their.tasks,
    name: make.name,
  };
}

/** @returns its handle, NULL where this process is not in it */
export function addComm(layer: Layer, errhandler: number, made: Made): number {
  const { state } = layer;
  // The handle is taken also where no record is made: handles then agree between processes, which makes messages
  // readable.
  const handle = state.comms.next++;
  const rank = made.group.indexOf(state.task);
  if (rank < 0 || made.remote?.length === 0) return NULL;
  for (const t of made.remote ?? []) state.known = Math.max(state.known, t + 1);
  for (const t of made.group) state.known = Math.max(state.known, t + 1);
  state.comms.rows.set(handle, {
    handle,
    name: made.name || `communicator ${handle}`,
    context: made.context,
    group: [...made.group],
    rank,
    errhandler,
    topology: made.topology,
    collectives: 0,
    attributes: new Map(),
    ...(made.remote && { remote: [...made.remote] }),
    ...(made.group.includes(HOLE) && { holes: true as const }),
    ...(state.failures?.revoked.includes(made.context) && { revoked: true as const }),
  });
  return handle;
}
