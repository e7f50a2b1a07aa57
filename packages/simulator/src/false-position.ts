/** A node that lies: its rank has consumed more than came, or made events that it never told (F5). */
import { EMPTY, Kind, emptyHeader, encodeDeterminants, encodeFrame, type TaskId } from '@mayfly/wire';
import type { Volunteer } from './volunteer.ts';

/** Far beyond all that a run has. */
export const FALSE_POSITIONS = [
  { consumed: 1e6, events: 0 },
  { consumed: 0, events: 1e6 },
] as const;

/** @returns whether the node could say so */
export function claimsPosition(
  node: Volunteer,
  task: TaskId,
  cm: number,
  { consumed, events }: (typeof FALSE_POSITIONS)[number],
): boolean {
  const held = node.held.get(task);
  const link = node.data[cm];
  if (!held?.started || held.finished || !link?.alive) return false;
  const { incarnation } = held;
  node.world.lies.add(`${task}.${incarnation}`);
  const head = { ...emptyHeader(Kind.DETERMINANTS), src: task, dst: task, incarnation };
  link.up(encodeFrame(head, EMPTY, encodeDeterminants({ first: events, consumed, openPolls: 0, entries: [] })));
  return true;
}
