/** What a simulated rank asks of its node, what it reports to the checkers, and what an image of it holds. */
import { LoggedEndpoint, type Endpoint, type EndpointSnapshot, type Report } from '@mayfly/protocols';
import { emptyHeader, encodeFrame, Kind, type Position } from '@mayfly/wire';
import type { Rule } from './planted.ts';
import type { ProgramState } from './program.ts';
import type { Random } from './random.ts';
import type { Channels, TeamPart } from './team-memory.ts';
import type { Teammates } from './teammates.ts';

/** How far a task was when it did something: what this depends on. */
export interface Standing {
  readonly arrivals: number;
  readonly determinants: number;
  /** …and each teammate, as far as this depends on it. */
  readonly mates?: ReadonlyMap<number, number>;
}

export const standingOf = (e: Endpoint): Standing =>
  e instanceof LoggedEndpoint ? e.line() : { arrivals: e.consumed, determinants: 0 };

/** Reports to the checkers; every life of a task repeats all of them. */
export interface Witness {
  /** Message number `channel` of (task, dst) has this content. Reported for suppressed messages too. */
  sent(task: number, life: number, dst: number, channel: number, digest: number, at: Standing): void;
  /** …and this one goes out. */
  written(task: number, life: number, dst: number, channel: number): void;
  /**
   * The `place`-th message that the task consumes is this one, and arrival number `arrival`. Undefined: a teammate's,
   * which no log has.
   */
  consumed(
    task: number,
    life: number,
    place: number,
    arrival: number | undefined,
    src: number,
    channel: number,
    digest: number | undefined,
  ): void;
  /** It goes on at its image: what it consumed before is what that had consumed. */
  jumped(task: number, life: number): void;
  /** The program takes this answer to request `r` of the task. */
  took(task: number, life: number, r: number, body: Uint8Array): void;
  /** Event number `n` of the task came out like this. */
  event(task: number, life: number, n: number, outcome: number | string): void;
}

/** Content of a simulated image. */
export interface SimImage extends TeamPart {
  program: ProgramState;
  endpoint: EndpointSnapshot;
  held: number[];
  /** The incarnation that took it, even if its name is another's. */
  incarnation: number;
  /** Of a member of a team with a log: the wave. */
  wave?: number;
  /** Of a script: its calls of checkpoint.here. */
  checkpointCalls?: number;
}

/** What its comm worker finds in the rank's up ring, in this order. */
export type UpItem =
  | { readonly type: 'frame'; readonly bytes: Uint8Array }
  | { readonly type: 'image'; readonly wave: number; readonly image: SimImage; readonly position: Position }
  | { readonly type: 'closed'; readonly wave: number; readonly channels: Channels }
  | { readonly type: 'declined'; readonly wave: number }
  /** A script wants an image soon; with `call` it waits for one at this call of checkpoint.here. */
  | { readonly type: 'wish'; readonly call: number | undefined }
  | { readonly type: 'ended' };

/** The comm worker's side. */
export interface UpRing {
  up(item: UpItem): void;
  /** Beside the up ring. */
  report(report: Report): void;
}

export interface RankHost {
  /** A whole frame for the up-ring. */
  up(bytes: Uint8Array): void;
  /** The program takes a checkpoint here, if its node wants one. */
  checkpoint(image: () => SimImage): void;
  /** It was alone, and has taken its last image: it does nothing more. */
  parked(): boolean;
  /** True once after its mark was wanted. */
  marks(): boolean;
  /** `recovered`: the first step beyond replay. */
  recovered(): void;
  clock(): number;
  place(): string;
  /** False: what it sent and is not yet durable fills its comm worker; a send waits. */
  room(): boolean;
  readonly chunkBytes: number;
  /** This life of the task, as the checkers name it. */
  readonly life: number;
  /** A rule that this run breaks, or undefined. */
  readonly undone: Rule | undefined;
  /** Absent: it has no teammates. */
  readonly team: { readonly mates: Teammates; readonly random: Random; readonly log: UpRing | undefined } | undefined;
}

/** MARK, with what the rank has sent (`pcl`). */
export function markOf(endpoint: Endpoint): Uint8Array {
  const { task, incarnation } = endpoint;
  const h = { ...emptyHeader(Kind.MARK), src: task, dst: task, incarnation };
  return encodeFrame(h, new TextEncoder().encode(JSON.stringify({ sends: endpoint.sent() })));
}
