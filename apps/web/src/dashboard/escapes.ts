/**
 * Text as a terminal reads it: colours and the like (SGR), carriage return, backspace and erasing in a line (ECMA-48).
 * Other escape sequences move a cursor over a screen, which lines do not have: they are left out. Pure.
 */

/** Text of one style: class names of job.css, '' for none. */
export interface Run {
  readonly text: string;
  readonly style: string;
}

/**
 * `newline` ends the line; `move`: the cursor goes to its beginning (`return`) or one place back (`back`); `erase`:
 * what stands behind the cursor, or the whole line, goes.
 */
export type Piece =
  | { readonly type: 'text'; readonly run: Run }
  | { readonly type: 'newline' }
  | { readonly type: 'return' }
  | { readonly type: 'back' }
  | { readonly type: 'erase'; readonly all: boolean };

// Control characters, CSI sequences, and strings that end with BEL or ST (titles, links).
const CONTROL =
  /[\n\r\b]|\x1b\[([0-9;:]*)([\x3c-\x3f]?[0-9;]*)[\x20-\x2f]*([\x40-\x7e])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^[\]PX^_]/g;
/** The beginning of a sequence whose end has not come yet. */
const CUT = /\x1b(?:\[[0-9;:\x3c-\x3f\x20-\x2f]*|[\]PX^_][^\x07\x1b]*\x1b?)?$/;
/** What begins like a sequence and is longer is none. */
const LONGEST = 256;
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface Style {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  struck: boolean;
  /** Of `COLOURS`, the bright ones from 8 on. */
  ink: number | undefined;
  paper: number | undefined;
}
const PLAIN: Style = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  struck: false,
  ink: undefined,
  paper: undefined,
};
const ON: Readonly<Record<number, keyof Style>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'struck',
};
const OFF: Readonly<Record<number, readonly (keyof Style)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['struck'],
};

/** Reads one stream. Owns the style that is on, and a sequence that is not whole yet. */
export class Escapes {
  #style: Style = PLAIN;
  #names = '';
  #rest = '';

  read(text: string): Piece[] {
    let all = this.#rest + text;
    const cut = CUT.exec(all);
    this.#rest = cut && cut[0].length <= LONGEST ? cut[0] : '';
    all = all.slice(0, all.length - this.#rest.length);
    const pieces: Piece[] = [];
    let from = 0;
    for (const m of all.matchAll(CONTROL)) {
      this.#text(pieces, all.slice(from, m.index));
      from = m.index + m[0].length;
      if (m[0] === '\n') pieces.push({ type: 'newline' });
      else if (m[0] === '\r') pieces.push({ type: 'return' });
      else if (m[0] === '\b') pieces.push({ type: 'back' });
      else if (m[2] !== '') continue;
      else if (m[3] === 'm') this.#set(m[1]!);
      else if (m[3] === 'K' && m[1] !== '1') pieces.push({ type: 'erase', all: m[1] === '2' });
    }
    this.#text(pieces, all.slice(from));
    return pieces;
  }

  #text(pieces: Piece[], text: string): void {
    if (text !== '') pieces.push({ type: 'text', run: { text, style: this.#names } });
  }

  /** SGR. */
  #set(parameters: string): void {
    const codes = parameters.split(/[;:]/).map(Number);
    const style: Style = { ...this.#style };
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!;
      const [tens, ones] = [Math.floor(code / 10), code % 10];
      if (code === 0) Object.assign(style, PLAIN);
      else if (ON[code]) Object.assign(style, { [ON[code]]: true });
      else if (OFF[code]) for (const name of OFF[code]) Object.assign(style, { [name]: false });
      else if (ones === 8 && (tens === 3 || tens === 4)) {
        // One of 256 colours, or a mixture: as the nearest of the sixteen, which have names.
        const palette = codes[i + 1] === 5;
        const colour = palette ? nearest(codes[i + 2] ?? 0) : mixed(codes.slice(i + 2, i + 5));
        Object.assign(style, { [tens === 3 ? 'ink' : 'paper']: colour });
        i += palette ? 2 : 4;
      } else if (ones === 9 && tens === 3) style.ink = undefined;
      else if (ones === 9 && tens === 4) style.paper = undefined;
      else if (ones < 8 && (tens === 3 || tens === 9)) style.ink = ones + (tens === 9 ? 8 : 0);
      else if (ones < 8 && (tens === 4 || tens === 10)) style.paper = ones + (tens === 10 ? 8 : 0);
    }
    this.#style = style;
    this.#names = namesOf(style);
  }
}

/** Of the 256: the sixteen, a cube of mixtures, a row of greys. */
function nearest(n: number): number {
  if (n < 16) return n;
  if (n >= 232) return mixed(Array<number>(3).fill(8 + 10 * (n - 232)));
  const level = (k: number): number => (k === 0 ? 0 : 55 + 40 * k);
  const at = n - 16;
  return mixed([level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)]);
}

/** By the parts that are at least half of the largest. Light ones are bright, and dark ones black. */
function mixed(parts: readonly number[]): number {
  const most = Math.max(...parts);
  if (!(most >= 64)) return 0;
  if (most < 128 && Math.min(...parts) === most) return 8;
  const colour = parts.reduce((sum, part, i) => sum + (part > most / 2 ? 1 << i : 0), 0);
  return colour + (most > 215 ? 8 : 0);
}

function namesOf(s: Style): string {
  const names: string[] = (['bold', 'dim', 'italic', 'underline', 'inverse', 'struck'] as const).filter((n) => s[n]);
  if (s.ink !== undefined) names.push(`ink-${colourOf(s.ink)}`);
  if (s.paper !== undefined) names.push(`paper-${colourOf(s.paper)}`);
  return names.join(' ');
}
const colourOf = (n: number): string => (n < 8 ? COLOURS[n]! : `bright-${COLOURS[n - 8]}`);

export const lengthOf = (runs: readonly Run[]): number => runs.reduce((n, r) => n + r.text.length, 0);

/** `run` in place of what stands at `at`. */
export function overwrite(runs: readonly Run[], at: number, run: Run): Run[] {
  return joined([...part(runs, 0, at), run, ...part(runs, at + run.text.length, Infinity)]);
}

/** Characters [from, to). */
export function part(runs: readonly Run[], from: number, to: number): Run[] {
  const out: Run[] = [];
  let at = 0;
  for (const { text, style } of runs) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece !== '') out.push({ text: piece, style });
    at += text.length;
  }
  return out;
}

function joined(runs: readonly Run[]): Run[] {
  const out: Run[] = [];
  for (const run of runs) {
    const last = out.at(-1);
    if (last?.style === run.style) out[out.length - 1] = { text: last.text + run.text, style: run.style };
    else out.push(run);
  }
  return out;
}
