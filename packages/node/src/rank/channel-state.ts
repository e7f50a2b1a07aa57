/** The section of an image with what lay in the channels from teammates (T6). */
import { decodeValue, encodeValue, MalformedValue } from '@mayfly/mpi';
import type { Batch } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import { CHANNELS } from '../local-frames.ts';
import type { LocalMessage } from './teammates.ts';

/** 2: with `carried`. */
const FORMATS = [1, 2];

export interface ChannelState {
  /** Long bodies, by number: of messages here, or of such that were consumed before. */
  readonly bodies: Map<number, Uint8Array>;
  readonly channels: ReadonlyMap<TaskId, readonly LocalMessage[]>;
  /** What is left of regroupings; absent: nothing. */
  readonly carried?: readonly Batch<LocalMessage>[];
}

export const channelsSection = ({
  carried = [],
  ...state
}: ChannelState): { readonly name: string; readonly parts: readonly Uint8Array[] } => ({
  name: CHANNELS,
  parts: [
    encodeValue(carried.length > 0 ? { format: 2, ...state, carried } : { format: 1, ...state }, 'channel state'),
  ],
});

/** @throws MalformedValue */
export function readChannels(section: Uint8Array): ChannelState {
  const state = decodeValue(section) as ChannelState & { readonly format: unknown };
  if (!FORMATS.includes(state.format as number) || !(state.bodies instanceof Map) || !(state.channels instanceof Map))
    throw new MalformedValue(
      `channel state of format ${String(state.format)}, this build reads ${FORMATS.join(' and ')}`,
    );
  return state;
}
