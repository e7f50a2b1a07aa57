/**
 * Rooms: a teacher opens one, volunteers with its code serve its jobs and no others.
 *
 * Owns the registry keys `room/<code>`. Does not own: who is in a room (nodes say so with Hello, and the dispatcher
 * keeps it), and which jobs are of it.
 *  M1  A code is written to the registry before it is shown; it is not used twice while its room exists.
 *  M2  A room that is closed takes no new nodes and no new jobs; it is closed only when none of its jobs waits or runs.
 *  M3  A lent code (a lesson's) is a room that is neither listed nor kept.
 */
import { randomInt } from 'node:crypto';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError } from '@mayfly/wire';

export interface RoomRecord {
  name: string;
  createdAt: number;
  /** Channel Memories of its jobs go to this server, while it is there. */
  server?: string;
}

/** No 0 and O, 1, I and L: a code is read off a wall and typed on a phone. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const LENGTH = 6;
const MOST = 1000;
const keyOf = (code: string): string => `room/${code}`;

/** As a person may have typed it: small letters, blanks and a dash between do no harm. */
export const cleanCode = (typed: string): string => typed.toUpperCase().replace(/[^A-Z0-9]/g, '');

export class Rooms {
  readonly #registry: Registry;
  readonly #rooms: Map<string, RoomRecord>;
  readonly #lent = new Set<string>();
  /** Called when a lent code is no room any more. */
  onTakeBack: (code: string) => void = () => undefined;

  private constructor(registry: Registry, rooms: Map<string, RoomRecord>) {
    this.#registry = registry;
    this.#rooms = rooms;
  }

  static async open(registry: Registry): Promise<Rooms> {
    const rooms = new Map<string, RoomRecord>();
    for (const [key, value] of await registry.entries('room/'))
      rooms.set(key.slice('room/'.length), value as RoomRecord);
    return new Rooms(registry, rooms);
  }

  /** M1. @throws MayflyError TOO_MANY */
  async create(name: string, server?: string): Promise<string> {
    if (this.#rooms.size >= MOST) throw new MayflyError('TOO_MANY', `There are ${MOST} rooms; close some first.`);
    let code: string;
    do code = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    while (this.#rooms.has(code));
    const record: RoomRecord = { name, createdAt: Date.now(), ...(server === undefined ? {} : { server }) };
    this.#rooms.set(code, record);
    try {
      await this.#registry.commit([[keyOf(code), record]]);
    } catch (error) {
      this.#rooms.delete(code);
      throw error;
    }
    return code;
  }

  /** @throws MayflyError NOT_FOUND */
  async close(code: string): Promise<void> {
    const record = this.#rooms.get(code);
    if (!record) throw new MayflyError('NOT_FOUND', 'There is no room with that code.');
    this.#rooms.delete(code);
    try {
      await this.#registry.commit([[keyOf(code), undefined]]);
    } catch (error) {
      this.#rooms.set(code, record);
      throw error;
    }
  }

  serverOf(code: string | undefined): string | undefined {
    return code === undefined ? undefined : this.#rooms.get(code)?.server;
  }

  has(code: string): boolean {
    return this.#rooms.has(code) || this.#lent.has(code);
  }

  /** M3 */
  lend(code: string): void {
    this.#lent.add(code);
  }
  takeBack(code: string): void {
    if (this.#lent.delete(code)) this.onTakeBack(code);
  }
  isLent(code: string): boolean {
    return this.#lent.has(code);
  }

  /** Newest first. */
  list(): ({ code: string } & RoomRecord)[] {
    return [...this.#rooms].map(([code, r]) => ({ code, ...r })).sort((a, b) => b.createdAt - a.createdAt);
  }
}
