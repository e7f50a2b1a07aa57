/** Operation-level checkpoints of one process: its team and the one that it joins, and what messages count. */
import type { Format } from './codes.ts';
import type { Team } from './team.ts';

/** A team, and the communicator over which it runs. */
export interface Membership {
  team: Team;
  /** The team's own communicator: its context, and the agreements of its joint steps. */
  comm: number;
  /** The agreement that this process has contributed to. */
  request: number;
}

/** An arrival for a team that has not begun here. */
export interface Early {
  mode: number;
  src: number;
  tag: number;
  word: number;
  body: Uint8Array;
}

export interface Settings {
  algorithm: number;
  nof: number;
  ratio: number;
  memory: number;
  flags: number;
}

/** Agreements among the members of a team: what arrivals cannot reach without a cycle of imports. */
export interface Service {
  /** @returns the request */
  contribute(comm: number, word: number): number;
  /** What was decided, once. */
  decided(request: number): { word: number; lost: boolean } | undefined;
}

export class Checkpoints {
  /** Since the first team. */
  service: Service | undefined;
  open = false;
  /** The program's communicator, whose error handler gets the errors. */
  comm = 0;
  settings: Settings | undefined;
  /** How its data become numbers. */
  numbers: Format | undefined;
  /** Name of the place where this process runs. */
  node = '';
  /** The team whose data there are; it may be broken. */
  present: Membership | undefined;
  /** Being joined; without a team as long as it is not known what the others bring. */
  joining:
    (Omit<Membership, 'team'> & { team: Team | undefined; early: Early[]; folder: string; slot: number }) | undefined;
  /** Folder of the files of rounds on disk; which of two files has the last whole one. */
  folder = '';
  #slot = 1;
  /** The last one that was written, and where. */
  #tried = { round: -1, slot: 0 };
  /** Rounds go to the disk because a memory did not suffice. */
  full = false;
  /** All have agreed to roll back since the last round. */
  agreed = false;
  readonly #sent = new Map<number, number>();
  readonly #received = new Map<number, number>();

  /** A round that is no longer needed, or came to nothing, is overwritten. */
  get slot(): number {
    if (this.present?.team.stable === this.#tried.round) this.#slot = this.#tried.slot;
    return this.#slot;
  }
  /** @returns the file for a round */
  tries(round: number): number {
    this.#tried = { round, slot: this.slot ^ 1 };
    return this.#tried.slot;
  }
  /** Whole, with what is on the disk. */
  adopt(joined: Membership, comm: number, settings: Settings, folder: string, slot: number): void {
    Object.assign(this, { open: true, comm, settings, present: joined, folder, full: false, agreed: false });
    this.#slot = slot;
    this.#tried = { round: -1, slot: 0 };
  }

  countSent(task: number): void {
    this.#sent.set(task, (this.#sent.get(task) ?? 0) + 1);
  }
  countReceived(task: number): void {
    this.#received.set(task, (this.#received.get(task) ?? 0) + 1);
  }
  /** By rank of a group. */
  counts(group: readonly number[]): { sent: number[]; received: number[] } {
    const of = (m: Map<number, number>): number[] => group.map((t) => m.get(t) ?? 0);
    return { sent: of(this.#sent), received: of(this.#received) };
  }
}
