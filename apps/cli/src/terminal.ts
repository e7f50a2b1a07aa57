/**
 * Where the command line writes. Much of what it shows was written by others: names of nodes, jobs and files, errors,
 * reasons, what ranks print. A server may be anybody's, and a node is.
 *
 *  T1  Nothing that others wrote commands the terminal, nor turns its text around: `say`, `warn` and `json` let no such
 *      character pass, so that no caller has to think of it. (eslint.config.js: nothing else writes.)
 *  T2  Nothing that others wrote begins a line as this command does: behind the first one, the lines of `warn` are
 *      indented, and `sayLine` makes one line of all that it gets.
 *  T3  The output of a program goes to files and pipes byte for byte. On a terminal it has colours, carriage return,
 *      backspace and erasing in a line, and no other escape sequences: as on the dashboard.
 */
import { oneLine, plainJson, plainText } from '@mayfly/wire';

/** Further lines stand apart from the first. */
export const indented = (text: string): string => plainText(text).replaceAll('\n', '\n  ');

/** One line on standard output. */
export const sayLine = (text: string): void => say(oneLine(text));

/** Lines that begin with words of this command; a table. */
export const say = (text: string): void => void process.stdout.write(`${plainText(text)}\n`);

/** What the command has to say about itself, on standard error. */
export const warn = (text: string): void => void process.stderr.write(warning(text));
export const warning = (text: string): string => `mayfly: ${indented(text)}\n`;

/** @param space as JSON.stringify takes it */
export const json = (value: unknown, space = 2): string => plainJson(JSON.stringify(value, null, space));

/** Of a program: {@link TerminalText} has seen it. */
export const pass = (bytes: Uint8Array): void => void process.stdout.write(bytes);

/** Says something on a terminal, where the answer is typed behind it. */
export const ask = (text: string): void => void process.stderr.write(plainText(text));

/** False: standard output is no terminal, and nothing is done. */
export function clearScreen(): boolean {
  if (process.stdout.isTTY) process.stdout.write('\x1b[H\x1b[2J');
  return process.stdout.isTTY;
}

/** Output to a pipe is written behind. */
export const written = (then: () => void): void =>
  void process.stdout.write('', () => process.stderr.write('', () => then()));

/** One line that the next one replaces; undefined takes it away. Only on a terminal. */
export function passing(text: string | undefined): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text === undefined ? '' : plainText(text)}`);
}

const SEQUENCE =
  /\x1b\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\x20-\x2f]*[\x30-\x7e]|[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
/** Colours and the like (SGR); erasing in a line. */
const HARMLESS = /^\x1b\[(?:[0-9;:]*m|[0-2]?K)$/;
/** The beginning of a sequence whose end has not come yet. */
const CUT = /\x1b(?:\[[\x20-\x3f]*|[\]PX^_][^\x07\x1b]*\x1b?|[\x20-\x2f]*)?$/;
/** What begins like a sequence and is longer is none. */
const LONGEST = 256;

/** T3: one stream of one rank. Owns the beginning of a sequence or of a character that is not whole yet. */
export class TerminalText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  #rest = '';

  take(bytes: Uint8Array): Uint8Array {
    let text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    const cut = CUT.exec(text);
    this.#rest = cut && cut[0].length <= LONGEST ? cut[0] : '';
    text = text.slice(0, text.length - this.#rest.length);
    return this.#encoder.encode(text.replace(SEQUENCE, (s) => (HARMLESS.test(s) ? s : '')));
  }
}
