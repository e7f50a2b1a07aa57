/** The Checkpoint Server under test: what it is told, and all that it has answered. */
import { CheckpointServer, type CheckpointServerEffect, type CheckpointServerEvent } from '../src/index.ts';

export type EventOf<K extends CheckpointServerEvent['type']> = Omit<
  Extract<CheckpointServerEvent, { type: K }>,
  'now' | 'type'
>;
export type EffectOf<K extends CheckpointServerEffect['type']> = Extract<CheckpointServerEffect, { type: K }>;

/** The n-th page of a test. */
export const page = (n: number): string => n.toString(16).padStart(64, '0');

export class ServerStage {
  readonly core = new CheckpointServer();
  readonly effects: CheckpointServerEffect[] = [];

  send<K extends CheckpointServerEvent['type']>(type: K, e: EventOf<K>): CheckpointServerEffect[] {
    const out = this.core.step({ type, now: 0, ...e } as unknown as CheckpointServerEvent);
    this.effects.push(...out);
    return out;
  }

  of<K extends CheckpointServerEffect['type']>(type: K): EffectOf<K>[] {
    return this.effects.filter((e): e is EffectOf<K> => e.type === type);
  }
}
