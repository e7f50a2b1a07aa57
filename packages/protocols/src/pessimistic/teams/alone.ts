/**
 * The endpoint of a script that is alone, and had teammates before its `checkpoint.open` (T6, T9): its team was
 * dissolved. What it received of them then is part of its prologue, and of the record of that. Behind `open` it is as
 * any other rank that is alone.
 */
import type { Position, TaskId } from '@mayfly/wire';
import type { EndpointStart, LocalEvents } from '../../endpoint.ts';
import { positionOf, type ReplayFrom } from '../position.ts';
import { TeamEndpoint } from './endpoint.ts';

export class LoneScriptEndpoint extends TeamEndpoint {
  constructor(task: TaskId, size: number, replay: ReplayFrom, start: EndpointStart) {
    super(task, size, { replay, local: [], received: [], place: replay.place }, start, { members: [] });
  }

  override get local(): LocalEvents | undefined {
    return undefined;
  }

  override position(held: readonly number[]): Position {
    return positionOf({ prologue: this.prologue, image: this.line(), held: [...held] });
  }
}
