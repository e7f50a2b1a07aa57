/** No fault tolerance: the comm worker relays frames as they are. A task begins once, with nothing behind it. */
import type { CommdPolicy } from '../comm/policy.ts';
import { relayTask } from '../contract/relay.ts';

export const commd: CommdPolicy = () => relayTask;
