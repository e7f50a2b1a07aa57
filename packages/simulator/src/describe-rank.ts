/** Where a simulated rank is, for the report of a run that does not end. */
import type { Endpoint } from '@mayfly/protocols';
import type { Inbox } from './inbox.ts';
import type { Action, ProgramState } from './program.ts';
import type { Teammates } from './teammates.ts';

export function describeRank(
  { stage, round, left, queue, waits }: ProgramState & { readonly waits: Action | undefined },
  { consumed, replaying }: Endpoint,
  inbox: Inbox,
  mates: Teammates | undefined,
): string {
  return JSON.stringify({
    stage,
    round,
    waits: waits && { ...waits, body: undefined },
    left,
    consumed,
    ...inbox.describe(),
    ...(mates ? { mates: mates.heads(), publishes: mates.publishes } : {}),
    queue: queue.map((q) => `${q.arrival}:${q.src}${q.body ? '' : '(log)'}`),
    replaying,
  });
}
