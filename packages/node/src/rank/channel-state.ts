/** The section of an image with what lay in the channels from teammates (T6). */
import { decodeValue, encodeValue, MalformedValue } from '@mayfly/mpi';
import type { TaskId } from '@mayfly/wire';
import { CHANNELS } from '../local-frames.ts';
import type { LocalMessage } from './teammates.ts';

const FORMAT = 1;

export interface ChannelState {
  /** Long bodies, by number: of messages here, or of such that were consumed before. */
  readonly bodies: Map<number, Uint8Array>;
  readonly channels: Map<TaskId, readonly LocalMessage[]>;
}

export const channelsSection = (
  state: ChannelState,
): { readonly name: string; readonly parts: readonly Uint8Array[] } => ({
  name: CHANNELS,
  parts: [encodeValue({ format: FORMAT, ...state }, 'channel state')],
});

/** @throws MalformedValue */
export function readChannels(section: Uint8Array): ChannelState {
  const state = decodeValue(section) as ChannelState & { readonly format: unknown };
  if (state.format !== FORMAT || !(state.bodies instanceof Map) || !(state.channels instanceof Map))
    throw new MalformedValue(`channel state of format ${String(state.format)}, this build reads ${FORMAT}`);
  return state;
}
