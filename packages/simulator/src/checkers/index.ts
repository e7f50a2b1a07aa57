/** The kit of every V-protocol by its name, and what hosts need of the checkers. Nothing else names them all. */
import type { ProtocolName } from '@mayfly/wire';
import { Blocking } from './blocking.ts';
import { Clustered } from './clustered.ts';
import { Coordinated } from './coordinated.ts';
import { MessageLogging } from './message-logging.ts';
import { Recovering } from './recovering.ts';
import { Relay } from './relay.ts';
import type { Kit } from './universal.ts';

export const kits: Readonly<Record<ProtocolName, Kit>> = {
  pessimistic: (histories, stores) => new MessageLogging(histories, stores),
  vcl: (histories, stores) => new Coordinated(histories, stores),
  pcl: (histories, stores) => new Coordinated(histories, stores, new Blocking()),
  hc3i: (histories, stores, clusters) => new Clustered(histories, stores, clusters ?? []),
  app: (histories, stores, _clusters, ft) =>
    ft ? new Recovering(histories, stores, ft.tasks, ft) : new Relay(histories, stores),
  none: (histories, stores) => new Relay(histories, stores),
};
export { Checkers, name, type Excuses, type Kit, type ProtocolCheckers, type Stores } from './universal.ts';
