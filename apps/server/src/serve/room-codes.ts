/**
 * Codes of rooms, wherever somebody shows one: a node in its Hello, a visitor of a board or of the lesson.
 *
 * Owns: how many wrong codes of each network wait for their answer.
 *
 *  C1  Whoever guesses waits for each wrong answer, once they are many. A node with the right code never waits for the
 *      wrong ones of others, so that one of a class cannot lock out the rest.
 *  C2  Requests without a connection of their own could guess side by side. So of a network only MOST_WAITING wrong
 *      ones wait at a time; requests beyond them are refused, whatever their code.
 */
import { MayflyError } from '@mayfly/wire';
import { cleanCode, type Rooms } from '../rooms.ts';
import { sameText } from '../secrets.ts';
import { networkOf } from './address.ts';
import { WrongGuesses } from './guesses.ts';

/** Wrong codes per minute and network that are answered at once. A class that types one off the wall has fewer. */
const WRONG_CODES = 60;
/** Each one beyond waits for its answer, ms. */
const SLOW_ANSWER_MS = 5000;
const MOST_WAITING = 10;

export type After = (ms: number, run: () => void) => () => void;

export class RoomCodes {
  /** The server's own join code. */
  readonly #own: string | undefined;
  readonly #rooms: Pick<Rooms, 'has'>;
  readonly #after: After;
  readonly #wrong = new WrongGuesses(WRONG_CODES);
  readonly #waiting = new Map<string, number>();

  constructor(own: string | undefined, rooms: Pick<Rooms, 'has'>, after: After) {
    this.#own = own;
    this.#rooms = rooms;
    this.#after = after;
  }

  /**
   * The room of a code; undefined: none. A wrong code is refused late when there were many (C1).
   * @throws MayflyError UNAUTHORIZED
   */
  async admit(typed: string, address: string): Promise<string | undefined> {
    try {
      return this.#roomOf(typed);
    } catch (error) {
      if (!this.#wrong.add(address)) await this.#wait(networkOf(address));
      throw error;
    }
  }

  /** The same for a request (C2). @throws MayflyError UNAUTHORIZED, TOO_MANY */
  async admitRequest(typed: string, address: string): Promise<string | undefined> {
    if ((this.#waiting.get(networkOf(address)) ?? 0) >= MOST_WAITING)
      throw new MayflyError(
        'TOO_MANY',
        'Too many wrong room codes arrived from your network. Try again in a few seconds.',
      );
    return this.admit(typed, address);
  }

  async #wait(network: string): Promise<void> {
    this.#waiting.set(network, (this.#waiting.get(network) ?? 0) + 1);
    await new Promise<void>((resolve) => this.#after(SLOW_ANSWER_MS, resolve));
    const left = this.#waiting.get(network)! - 1;
    if (left > 0) this.#waiting.set(network, left);
    else this.#waiting.delete(network);
  }

  #roomOf(typed: string): string | undefined {
    if (this.#own !== undefined && sameText(typed, this.#own)) return undefined;
    const code = cleanCode(typed);
    if (this.#rooms.has(code)) return code;
    if (this.#own !== undefined)
      throw new MayflyError(
        'UNAUTHORIZED',
        'This server accepts volunteers only with its join code. Ask the person who invited you.',
      );
    if (code !== '')
      throw new MayflyError(
        'UNAUTHORIZED',
        `There is no room with the code ${code.slice(0, 16)}. Ask the person who invited you, or leave the code out.`,
      );
    return undefined;
  }
}
