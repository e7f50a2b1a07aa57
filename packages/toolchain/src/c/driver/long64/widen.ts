/**
 * The text of a program's file with a `long` of 64 bits. The target's own has 32, and neither clang nor its options can
 * change that; `long long` has 64. So the words of the program are replaced before clang sees them: the type, the
 * suffix L of integer constants, the length `l` in formats, and names that follow the width (names.ts). Headers of the
 * system are not rewritten, and keep what their compiled functions expect.
 *
 * It works on the text and not on preprocessed tokens: clang runs as always, and its messages show the program's lines
 * and macros. Lines keep their numbers, columns do not.
 */
import { ONE_WORD_LONG, UNSIGNED_LONG, WIDE_NAMES } from './names.ts';
import { argumentsWithLong, TAKE } from './pasting.ts';

export interface WidenOptions {
  readonly language: 'c' | 'c++';
  /** Also take macros like `#define FORM "ld"` for parts of formats. */
  readonly parts?: boolean;
  /** Macros that paste or quote a parameter (pasting.ts). */
  readonly pasting?: ReadonlySet<string>;
}

/** Directives whose text is no code; a name in quotes or brackets stays as it is. */
const DIRECTIVE =
  '#[ \\t]*(?:include|include_next|import|embed|error|warning|line|ident)\\b(?:\\\\\\r?\\n|(?!/[/*])[^\\n])*';
const token = (raw: string): RegExp =>
  new RegExp(
    [
      '(?<space>\\s+|\\\\\\r?\\n|//(?:\\\\\\r?\\n|[^\\n])*|/\\*[^]*?(?:\\*/|$))',
      `(?<skipped>${DIRECTIVE}${raw}|(?:u8|[uUL])?'(?:[^'\\\\\\n]|\\\\[^])*')`,
      '(?<text>(?:u8|[uUL])?"(?:[^"\\\\\\n]|\\\\[^])*")',
      "(?<number>\\.?\\d(?:[eEpP][+-]|'[\\dA-Za-z_]|[\\w.])*)",
      '(?<word>[A-Za-z_$][\\w$]*)',
      '(?<other>##|[^])',
    ].join('|'),
    'gy',
  );
const TOKENS = {
  c: token(''),
  'c++': token('|(?:u8|[uUL])?R"(?<mark>[^()\\\\\\s]{0,16})\\([^]*?\\)\\k<mark>"'),
} as const;

/** Words that may stand in one type with `long`. */
const OF_A_TYPE = new Set(
  'long unsigned signed __signed __signed__ int double float const volatile static register _Complex __complex__'.split(
    ' ',
  ),
);
const INTEGER = /^(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)(?:[uU]?[lL]|[lL][uU])$/;
const PASTED_SUFFIX = /^(?:[uU]?[lL]|[lL][uU])$/;
/** `%ld`, and `%%%dld`, which sprintf turns into the format `%8ld`. */
const CONVERSION = /%%(?:%[ds]\.?)+l(?=[diouxX])|%%|%(?:\d+\$)?[-+ #0'*]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?l(?=[diouxXn])/g;
const PART = /^"[-+ #0-9.*]*l[diouxX]"$/;

const twice = (suffixed: string): string => suffixed.replace(/[lL]/, '$&$&');
const wideFormat = (text: string): string => text.replace(CONVERSION, (c) => (c.endsWith('l') ? `${c}l` : c));

/** @returns the same text when nothing in it depends on the width */
export function widen(source: string, options: WidenOptions): string {
  const out: string[] = [];
  /** Words of the type that is being read, and where its `long`s lie in `out`. */
  let words = 0;
  let floating = false;
  let longs: number[] = [];
  let directive = false;
  let pasted = false;
  let preprocessed = false;
  let system = false;
  /** Up to here, `long` stays: it is in the arguments of a macro that pastes it. */
  let pastedTo = 0;
  /** In the definition of such a macro `long` may stand for two words already: a type gets a name of its own. */
  let pasting = false;
  let unsigned = false;
  let signs: number[] = [];
  let before = '';
  const endType = (next: string): void => {
    if (pasting && longs.length > 0 && !floating) {
      for (const i of [...longs, ...signs]) out[i] = '';
      out[longs[0]!] = unsigned ? UNSIGNED_LONG : ONE_WORD_LONG;
    } else if (longs.length === 1 && !floating)
      out[longs[0]!] = options.language === 'c++' && words === 1 && /^[({]$/.test(next) ? ONE_WORD_LONG : 'long long';
    words = 0;
    floating = false;
    longs = [];
    signs = [];
    unsigned = false;
  };
  for (const m of source.matchAll(TOKENS[options.language])) {
    const t = m[0];
    const g = m.groups!;
    if (g['space'] !== undefined) {
      out.push(t);
      if (directive && t.includes('\n') && !/^\\|^\/\*/.test(t)) {
        endType('');
        directive = false;
        pasting = false;
      }
      continue;
    }
    // Of the output of -E: what came from a header of the system stays.
    const marker = t === '#' ? LINE_MARKER.exec(source.slice(m.index, m.index + 1024)) : null;
    if (marker !== null) {
      preprocessed = true;
      system = / 3\b/.test(marker[1]!);
    }
    if (t === '#') directive = true;
    const word = g['word'];
    if (preprocessed && system) out.push(t);
    else if (word === 'long' && m.index < pastedTo) {
      endType(t);
      out.push(t);
    } else if (word !== undefined && OF_A_TYPE.has(word)) {
      words++;
      if (word === 'long') longs.push(out.length);
      if (/^(?:un)?signed$|^int$/.test(word)) signs.push(out.length);
      if (word === 'unsigned') unsigned = true;
      if (word === 'double' || word === 'float') floating = true;
      out.push(t);
      pasted = false;
      continue;
    } else {
      endType(t);
      if (directive && before === 'define' && word !== undefined && options.pasting?.has(word) === true) pasting = true;
      before = word ?? '';
      const taken =
        word !== undefined && !directive && m.index >= pastedTo && options.pasting?.has(word) === true
          ? argumentsWithLong(source, m.index + word.length)
          : undefined;
      if (taken !== undefined) {
        pastedTo = m.index + t.length + taken.length;
        out.push(`${TAKE} ${t}`);
      } else if (word !== undefined)
        out.push(pasted && PASTED_SUFFIX.test(word) ? twice(word) : (WIDE_NAMES.get(word) ?? word));
      else if (g['number'] !== undefined) out.push(INTEGER.test(t) ? twice(t) : t);
      else if (g['text'] !== undefined)
        out.push(options.parts === true && directive && PART.test(t) ? t.replace('l', 'll') : wideFormat(t));
      else out.push(m.index === pastedTo - 1 ? `${t} ${TAKE}` : t);
    }
    pasted = t === '##';
  }
  endType('');
  return out.join('');
}

const LINE_MARKER = /^# \d+ "(?:[^"\\\n]|\\.)*"([ \d]*)/;
