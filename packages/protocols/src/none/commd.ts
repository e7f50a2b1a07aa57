/** No fault tolerance: the comm worker relays frames as they are. A task begins once, with nothing behind it. */
import type { CommdPolicy, CommdTask } from '../comm/policy.ts';
import { FROM_THE_START } from '../contract/position.ts';

const relay: CommdTask = {
  retainsArrivals: false,
  confirmsBodies: true,
  durable: true,
  replays: () => FROM_THE_START,
  answered: () => undefined,
  attached: () => undefined,
  start: (incarnation) => ({ incarnation, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 }),
  wrote: () => undefined,
  leaves: (frame) => frame,
  block: () => undefined,
  acknowledged: () => undefined,
  returned: () => undefined,
};

/** It has no state: all tasks share one. */
export const commd: CommdPolicy = () => relay;
