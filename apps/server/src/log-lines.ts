/**
 * Lines of the log that strangers can cause (a refused request, a closed connection): so many a minute and no more. The
 * rest is counted, and one line says what was left out.
 *
 *  G1  Of one message at most `SAME` lines a minute, so that a flood of one hides no other; of all messages `ALL`.
 *      Errors, and what somebody has asked for with `--log debug`, are not counted: no stranger causes the former.
 *  G2  What was left out is said when the minute is over, with the number of lines of each message.
 */

const MINUTE_MS = 60_000;
const SAME = 600;
const ALL = 3000;
/** Levels of pino. */
const INFO = 30;
const ERROR = 50;

const MESSAGE = '"msg":"';

/** pino writes the message last, and a quotation mark in any text with a backslash. */
function messageOf(line: string): string {
  const at = line.lastIndexOf(MESSAGE);
  return at < 0 ? '' : line.slice(at + MESSAGE.length, line.lastIndexOf('"'));
}

export class LogLines {
  #began = -Infinity;
  #written = 0;
  /** Of this minute: by message, lines that came. */
  #came = new Map<string, number>();
  /** By message, lines that were left out. */
  #leftOut = new Map<string, number>();

  /** @param later calls once, so many ms from now */
  constructor(
    private readonly write: (line: string) => unknown,
    private readonly now: () => number = () => performance.now(),
    private readonly later: (call: () => void, ms: number) => void = (call, ms) => void setTimeout(call, ms).unref(),
  ) {}

  line(line: string): void {
    const level = Number(/^\{"level":(\d+)/.exec(line)?.[1]);
    if (!(level >= INFO && level < ERROR)) return void this.write(line);
    if (this.now() - this.#began >= MINUTE_MS) this.#begin();
    const message = messageOf(line);
    const came = this.#came.get(message) ?? 0;
    if (came < SAME && this.#written < ALL) {
      this.#came.set(message, came + 1);
      this.#written++;
      return void this.write(line);
    }
    // As many messages as were written, and one for all others.
    const as = this.#came.has(message) ? message : 'other messages';
    if (this.#leftOut.size === 0) this.later(() => this.#say(), this.#began + MINUTE_MS - this.now());
    this.#leftOut.set(as, (this.#leftOut.get(as) ?? 0) + 1);
  }

  #begin(): void {
    this.#say();
    this.#began = this.now();
    this.#written = 0;
    this.#came = new Map();
  }

  /** G2. */
  #say(): void {
    for (const [message, lines] of this.#leftOut)
      this.write(
        `{"level":40,"time":${Date.now()},"lines":${lines},"of":"${message}","msg":"lines of a flood are left out"}\n`,
      );
    this.#leftOut = new Map();
  }
}
