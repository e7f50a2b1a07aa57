/**
 * Pessimistic message logging in the comm worker: nothing leaves the node without the determinants that it depends on.
 *
 * Owns: determinants of one task until they are durable (D1, D2 in determinant-store.ts), and its position as its last
 * frame had it.
 *
 *  M1  A frame that leaves carries every determinant that no Channel Memory is known to have logged.
 */
import {
  decodeDeterminants,
  encodeFrame,
  readFrame,
  type Ack,
  type Attached,
  type Incarnation,
  type Position,
} from '@mayfly/wire';
import type { CommdPolicy, CommdTask } from '../comm/policy.ts';
import { DeterminantStore } from './determinant-store.ts';
import type { EndpointStart } from '../endpoint.ts';
import { Gather } from './gather.ts';
import { replayOf, replays } from './position.ts';

class LoggedTask implements CommdTask {
  readonly retainsArrivals = true;
  readonly confirmsBodies = false;
  readonly replays = replays;
  readonly #gather = new Gather();
  readonly #determinants: DeterminantStore;
  #consumed = 0;
  #openPolls = 0;

  constructor(channelMemories: number) {
    this.#determinants = new DeterminantStore(channelMemories);
  }

  get durable(): boolean {
    return this.#determinants.durable;
  }

  answered(block: Uint8Array): void {
    this.#gather.block(decodeDeterminants(block));
  }

  attached(m: Attached): void {
    this.#gather.attached(m);
  }

  start(incarnation: Incarnation, position: Position): EndpointStart | { readonly lost: string } {
    const replay = replayOf(position);
    const start = this.#gather.start(incarnation, replay);
    if (!('lost' in start)) this.#determinants.begin(replay.image.determinants + start.determinants.length);
    return start;
  }

  wrote(block: Uint8Array): void {
    const b = decodeDeterminants(block);
    this.#determinants.add(b.first, b.entries);
    this.#consumed = b.consumed;
    this.#openPolls = b.openPolls;
  }

  /** M1. The frame goes as the rank wrote it unless older determinants must travel with it. */
  leaves(frame: Uint8Array): Uint8Array {
    if (this.#determinants.allLogged) return frame;
    const f = readFrame(frame, new DataView(frame.buffer, frame.byteOffset, frame.byteLength), 0);
    const own = decodeDeterminants(f.determinants);
    if (f.header.detBytes > 0 && this.#determinants.suffices(own.first, own.entries.length)) return frame;
    return encodeFrame(f.header, f.body, this.#determinants.block(this.#consumed, this.#openPolls));
  }

  get allLogged(): boolean {
    return this.#determinants.allLogged;
  }

  acknowledged(cm: number, ack: Ack): void {
    this.#determinants.acknowledged(cm, ack.determinantsFirst, ack.determinantsAppended, ack.determinantsSynced);
  }

  returned(cm: number, m: Attached): void {
    this.#determinants.returned(cm, m.determinants);
  }
}

export const commd: CommdPolicy = (channelMemories) => new LoggedTask(channelMemories);
