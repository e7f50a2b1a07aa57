/** What a hostile client may try: a row of a table (ways/), and what it gets to try it with. */
import type { Hostile } from './hostile.ts';
import type { Scene } from './scene.ts';

export interface Way {
  name: string;
  /** What it tries: one sentence without its subject, “opens …”. */
  tries: string;
  /** What must hold, beside what holds for every way (RULES). */
  holds: string;
  /** Options of the server, for a way that needs others than the usual ones. */
  server?: readonly string[];
  /** @returns what did not hold; empty: the way leads nowhere */
  run(attacker: Hostile, scene: Scene): Promise<string[]>;
}

/** What must hold for every way; arena.ts measures it. */
export const RULES = [
  'an honest job that runs all the while makes laps, and ends in time with its right answer',
  'no two answers of /api/info are more than 2 s apart, times how slow the machine is',
  'the resident memory of the server stays below its limit',
  'the server neither ends nor starts again',
  'when the attacker has left, its sockets and its slots are gone',
];
