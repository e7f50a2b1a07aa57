/**
 * A team under the pessimistic log, in the comm worker: over that of a lone task (pessimistic/commd.ts), what leaves
 * carries the determinants and the evidence of all members (leaves.ts).
 *
 * Owns: what the Channel Memories have answered for each member, until it begins; what an EXIT depends on.
 *
 *  T12 "EXIT waits until all that T5 sends with it is durable." What comes after the EXIT was taken does not count: its
 *      teammates go on, and it would never leave.
 *  T14 "A gap in any member's determinants or arrivals is LOST_LOG."
 */
import {
  Flag,
  decodeDeterminants,
  encodeFrame,
  encodeTeamBlock,
  readFrame,
  teamHeads,
  type Ack,
  type Attached,
  type Frame,
  type Incarnation,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import type { CommdTask, CommdTeam, TeamPolicy } from '../../comm/policy.ts';
import type { Reports } from '../../comm/reports.ts';
import type { EndpointStart } from '../../endpoint.ts';
import { Gather } from '../gather.ts';
import { arrivalsOf } from '../position.ts';
import { TeamLeaves } from './leaves.ts';
import { positionInTeam, replayInTeam } from './position.ts';
import { isCut } from './rounds.ts';

const frameOf = (bytes: Uint8Array): Frame =>
  readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);

class Member implements CommdTask {
  readonly retainsArrivals = true;
  readonly confirmsBodies = false;
  readonly #gather = new Gather();
  /** Determinants of each member on which its EXIT depends. */
  #last: ReadonlyMap<TaskId, number> | undefined;

  constructor(
    readonly task: TaskId,
    readonly team: TeamLeaves,
  ) {}

  readonly replays = (position: Position): ReturnType<typeof arrivalsOf> => arrivalsOf(replayInTeam(position).replay);

  /** T12. */
  get durable(): boolean {
    return this.team.durable(this.#last ?? this.team.known());
  }

  answered(block: Uint8Array): void {
    this.#gather.block(decodeDeterminants(block));
  }

  attached(m: Attached): void {
    this.#gather.attached(m);
  }

  start(incarnation: Incarnation, position: Position): EndpointStart | { readonly lost: string } {
    const { replay } = replayInTeam(position);
    const start = this.#gather.start(incarnation, replay);
    if (!('lost' in start)) this.team.begin(this.task, replay.image.determinants + start.determinants.length);
    return start;
  }

  wrote(): void {
    throw new RangeError(`a frame of task ${this.task} has determinants beside those of its reports`);
  }

  /** T5. */
  leaves(frame: Uint8Array): Uint8Array {
    const { header, body } = frameOf(frame);
    if ((header.flags & Flag.TEAM) !== 0) return frame;
    header.flags |= Flag.TEAM;
    return encodeFrame(header, body, encodeTeamBlock(this.team.sections(this.task)));
  }

  /** T12: when it leaves, nothing that it depends on has to travel with it. */
  last(frame: Uint8Array): Uint8Array {
    this.#last ??= this.team.known();
    const { header, body } = frameOf(frame);
    header.flags |= Flag.TEAM;
    return encodeFrame(header, body, teamHeads(this.team.sections(this.task)));
  }

  get allLogged(): boolean {
    return this.team.allLogged;
  }

  acknowledged(cm: number, ack: Ack): void {
    this.team.acknowledged(cm, this.task, ack);
  }

  returned(cm: number, m: Attached): void {
    this.team.returned(cm, this.task, m.determinants);
  }
}

class LoggedTeam implements CommdTeam {
  readonly #leaves: TeamLeaves;
  readonly #isCut: typeof isCut;

  constructor(leaves: TeamLeaves, rule: typeof isCut) {
    this.#leaves = leaves;
    this.#isCut = rule;
  }

  member(task: TaskId): CommdTask {
    return new Member(task, this.#leaves);
  }

  takes({ upTo, of }: Reports): void {
    this.#leaves.takes(upTo);
    for (const [task, reports] of of) this.#leaves.reads(task, reports);
    for (const task of [...this.#leaves.unread]) this.#leaves.reads(task, []);
  }

  get unlogged(): number {
    return this.#leaves.unlogged;
  }

  inWave(position: Position, wave: number, done: readonly TaskId[]): Position {
    return positionInTeam({ ...replayInTeam(position), wave, done });
  }

  isCut(images: ReadonlyMap<TaskId, Position>): boolean {
    return this.#isCut(images);
  }

  waveOf(position: Position): number {
    return replayInTeam(position).wave ?? 0;
  }
}

/** @param Leaves what leaves the team, @param rule which images are a set; a test undoes their rules */
export const teamsWith =
  (Leaves: typeof TeamLeaves, rule = isCut): TeamPolicy =>
  (members, channelMemories) =>
    new LoggedTeam(new Leaves(members, channelMemories), rule);

export const teams = teamsWith(TeamLeaves);
