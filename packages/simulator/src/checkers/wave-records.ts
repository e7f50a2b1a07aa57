/** Waves and lines as the registry has them, for the checkers of coordinated checkpointing. */
import { WORLD } from '@mayfly/wire';

export interface CutOf {
  readonly arrivals: number;
  readonly sends: readonly (readonly [number, number])[];
  readonly receives: readonly (readonly [number, number])[];
}

export interface Member {
  readonly task: number;
  readonly state: 'image' | 'start' | 'ended';
  readonly image?: string;
  readonly cut?: CutOf;
}

export interface Wave {
  readonly wave: number;
  readonly epoch: number;
  readonly tasks: readonly Member[];
  /** Images of it are with the nodes. */
  readonly near?: boolean;
}

/** Where all tasks go back to. */
export interface Line {
  readonly epoch: number;
  /** 0: to the start of the program. */
  readonly wave: number;
}

const of = (counts: CutOf['sends'] | undefined, task: number): number => counts?.find(([t]) => t === task)?.[1] ?? 0;

/** Messages of a task to another one, or to the world, before its cut; of a task that has ended, all. */
export const sentBefore = (m: Member | undefined, dst: number): number =>
  m?.state === 'ended' ? Infinity : of(m?.cut?.sends, dst);

/** Messages of `src` that a task has consumed before its cut. */
export const consumedBefore = (m: Member | undefined, src: number): number => of(m?.cut?.receives, src);

export const shownBefore = (m: Member | undefined): number => sentBefore(m, WORLD);

export const memberOf = ({ tasks }: Pick<Wave, 'tasks'>, task: number): Member | undefined =>
  tasks[task]?.task === task ? tasks[task] : tasks.find((m) => m.task === task);
