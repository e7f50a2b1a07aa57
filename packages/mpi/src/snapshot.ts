/**
 * The layer's state in an image. It may be taken whenever the program does not run inside the layer's own progress (P4
 * of progress.ts): also while a C program waits inside a call. What a TypeScript program has pinned cannot be stored,
 * so for it no request may be pending.
 */
import { decodeValue, encodeValue, MalformedValue } from './codec.ts';
import { ERR, fail } from './errors.ts';
import { tellStored } from './matching.ts';
import type { Layer } from './layer.ts';
import { noPartitions } from './partitioned-state.ts';
import { heldOperations, keepContents, putContents } from './windows/image.ts';
import { noFiles } from './files/state.ts';
import { noWindows } from './windows/state.ts';
import {
  STATE_FORMAT,
  noPorts,
  noTraffic,
  type CollectiveRequest,
  type LayerState,
  type RequestRecord,
} from './state.ts';

const usesPinned = (r: RequestRecord): boolean =>
  r.spaces.some((space) => space > 0) ||
  (r.kind === 'recv' && (r.into?.space ?? 0) > 0) ||
  (r.kind === 'coll' && touchesPinned(r));

function touchesPinned(r: CollectiveRequest): boolean {
  return r.rounds.some((round) =>
    round.some((step) => ('from' in step && step.from.space > 0) || ('into' in step && step.into.space > 0)),
  );
}

/** Requests that are not complete, or not yet waited for, in the order of their calls. */
export const pendingRequests = (layer: Layer): RequestRecord[] =>
  [...layer.state.requests.rows.values()].filter((r) => r.parent === 0);

/** @throws MPIError ERR_PENDING when a request uses memory outside the image */
export function snapshot(layer: Layer): Uint8Array {
  if (layer.deferred.length > 0) fail(ERR.INTERN, 'checkpoint', 'taken inside the progress of the layer');
  for (const r of layer.state.requests.rows.values())
    if (usesPinned(r))
      fail(
        ERR.PENDING,
        'checkpoint',
        `a request of ${r.call} is pending: its buffer is an array of the program, which an image cannot ` +
          'hold; complete it first',
        r.comm,
      );
  return keepContents(layer, () => encodeValue(layer.state, 'MPI state'));
}

/** Puts the layer where {@link snapshot} was taken. @throws MalformedValue for bytes of another format or task */
export function restore(layer: Layer, bytes: Uint8Array): void {
  const state = decodeValue(bytes) as LayerState;
  if (state.format !== STATE_FORMAT)
    throw new MalformedValue(`MPI state of format ${String(state.format)}, this build reads ${STATE_FORMAT}`);
  if (state.task !== layer.device.task || state.size !== layer.device.size)
    throw new MalformedValue(
      `MPI state of task ${state.task} of ${state.size}, this is task ${layer.device.task} of ${layer.device.size}`,
    );
  // Images from before there was partitioned communication.
  state.partitioned ??= noPartitions();
  // Nor windows.
  state.windows ??= noWindows();
  state.files ??= noFiles();
  state.ports ??= noPorts();
  // Images from before a task said that it leaves.
  state.ports.left ??= new Map();
  state.traffic ??= noTraffic();
  state.known ??= state.size;
  layer.state = state;
  putContents(layer);
  tellStored(layer);
}

/** Arrivals consumed whose bodies stayed in the log: an image lists them, and trimming spares them. */
export function heldArrivals(layer: Layer): number[] {
  const out: number[] = [];
  for (const queue of layer.state.unexpected.values()) for (const e of queue) if (!e.body) out.push(e.arrival);
  for (const m of layer.state.messages.rows.values()) if (!m.envelope.body) out.push(m.envelope.arrival);
  for (const c of layer.state.stdin.chunks) if (!c.body) out.push(c.arrival);
  for (const c of layer.state.partitioned.channels) for (const e of c.queue) if (!e.body) out.push(e.arrival);
  out.push(...heldOperations(layer));
  return out.sort((a, b) => a - b);
}
