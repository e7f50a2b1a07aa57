/**
 * Declarations that a program has for both `long` and `long long`: overloads, specialisations, associations of
 * `_Generic`. With a `long` of 64 bits the two are one type here, so clang refuses the second. It is left out of the
 * text, with a warning: the first serves the values of both. What is declared twice anyhow stays an error.
 *
 * Invariant: R1 what is left out becomes blanks: lines keep their numbers, and all that stands elsewhere its columns.
 */
import { absolute } from '../../files.ts';

interface Place {
  /** As clang writes it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What clang met for the second time, in a widened text. */
export interface Repeated extends Place {
  readonly path: string;
  readonly kind: 'declaration' | 'macro' | 'association';
  readonly first: (Place & { readonly path: string }) | undefined;
  readonly message: string;
}

const PLACE = /^(.+?):(\d+):(\d+): (?:fatal )?(error|note|warning): (.*)$/;
const SECOND =
  /^(?:redefinition of '|class member cannot be redeclared|constructor cannot be redeclared|duplicate explicit instantiation of '|type '(?:unsigned )?long long' in generic association compatible)/;
const FIRST =
  /^(?:previous (?:definition|declaration|explicit instantiation) is here|compatible type .* specified here)/;

/** @param stderr of a run over a widened text */
export function repeatedIn(stderr: string, cwd: string): Repeated[] {
  const found: Repeated[] = [];
  let last: { message: string; at: Place; macro: boolean; first: Place | undefined } | undefined;
  const end = (): void => {
    if (last === undefined) return;
    const { at, first, message } = last;
    const same = (r: Place): boolean => r.file === at.file && r.line === at.line && r.column === at.column;
    const kind = message.includes('generic association') ? 'association' : last.macro ? 'macro' : 'declaration';
    // A macro may be expanded in many places.
    if (!found.some(same))
      found.push({
        ...at,
        path: absolute(cwd, at.file),
        kind,
        first: first && { ...first, path: absolute(cwd, first.file) },
        message,
      });
    last = undefined;
  };
  for (const l of stderr.split('\n')) {
    const [, file, line, column, severity, message] = PLACE.exec(l) ?? [];
    if (file === undefined) continue;
    const at = { file, line: Number(line), column: Number(column) };
    if (severity !== 'note') {
      end();
      if (severity === 'error' && SECOND.test(message!))
        last = { message: message!, at, macro: false, first: undefined };
    } else if (last !== undefined && last.first === undefined) {
      if (FIRST.test(message!)) last.first = at;
      else if (message!.startsWith('expanded from macro')) {
        last.macro = true;
        if (last.message.includes('generic association')) last.at = at;
      }
    }
  }
  end();
  return found;
}

export const warningOf = ({ file, line, column, message }: Repeated): string =>
  `${file}:${line}:${column}: warning: long and long long are one type, so the second variant is left out ` +
  `(${message}); -mno-long64 keeps both [-mlong64]\n`;

/**
 * @param text the widened one
 * @returns it without what was found; undefined when the extent of that is not clear
 */
export function without(text: string, found: Pick<Repeated, 'line' | 'column' | 'kind'>): string | undefined {
  const extent = extentOf(text, found);
  if (extent === undefined) return undefined;
  const [from, to] = extent;
  const left = text.slice(from, to);
  let depth = 0;
  for (const m of left.matchAll(/^[ \t]*#[ \t]*(if|endif|el)/gm)) {
    depth += m[1] === 'if' ? 1 : m[1] === 'endif' ? -1 : 0;
    if (depth < 0 || (depth === 0 && m[1] === 'el')) return undefined;
  }
  if (depth !== 0) return undefined;
  // A backslash at the end of a line goes on joining the lines of a macro.
  return text.slice(0, from) + left.replace(/\\(?=\r?\n)|[^\n\r]/g, (c) => (c === '\\' ? c : ' ')) + text.slice(to);
}

export interface Texts {
  readonly widened: (path: string) => string | undefined;
  readonly original: (path: string) => string | undefined;
  /** Of a part of a line. */
  readonly widen: (text: string) => string;
}

/** Whether one of the two, as the program has them, is for `long long`, and the other is not. */
export function ofTwoTypes(found: Repeated, texts: Texts): boolean {
  if (found.kind === 'association') return true;
  if (found.first === undefined) return false;
  const [a, b] = [found, found.first].map((p) => {
    const text = texts.widened(p.path);
    const extent = text === undefined ? undefined : extentOf(text, { ...p, kind: found.kind });
    const lines = texts.original(p.path)?.split('\n');
    if (text === undefined || extent === undefined || lines === undefined) return undefined;
    const head = /^[^{;]*/.exec(text.slice(extent[0], extent[1]))![0];
    const [from, to] = [extent[0], extent[0] + head.length].map((at) => {
      const before = text.slice(0, at).split('\n');
      const line = lines[before.length - 1] ?? '';
      const columns = [...line, ''].map((_, i) => i);
      const column = columns.findLast((i) => texts.widen(line.slice(0, i)).length <= before.at(-1)!.length) ?? 0;
      return lines.slice(0, before.length - 1).join('\n').length + 1 + column;
    });
    return /\blong\s+long\b/.test(lines.join('\n').slice(from, to));
  });
  return a !== undefined && b !== undefined && a !== b;
}

const TOKEN =
  /\/\/(?:\\\r?\n|[^\n])*|\/\*[^]*?(?:\*\/|$)|^[ \t]*#(?:\\\r?\n|[^\n])*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_$][\w$]*|\d[\w.']*|[ \t\r\f\v]+|[^]/gm;

function extentOf(
  text: string,
  { line, column, kind }: Pick<Repeated, 'line' | 'column' | 'kind'>,
): [number, number] | undefined {
  let at = column - 1;
  for (let i = 1, next = 0; i < line; i++) {
    next = text.indexOf('\n', next) + 1;
    if (next === 0) return undefined;
    if (i === line - 1) at = next + column - 1;
  }
  if (kind === 'association') return associationAt(text, at);
  return kind === 'macro' ? callAt(text, at) : declarationAt(text, at);
}

function* tokens(text: string, from: number): Generator<readonly [at: number, token: string]> {
  const pattern = new RegExp(TOKEN);
  pattern.lastIndex = from;
  for (let m = pattern.exec(text); m !== null; m = pattern.exec(text))
    if (!/^(?:\s|\/[/*]|#.)/.test(m[0])) yield [m.index, m[0]];
}

/** `long long: value,` or, as the last of its list, `, long long: value`. */
function associationAt(text: string, at: number): [number, number] | undefined {
  let depth = 0;
  for (const [i, t] of tokens(text, at)) {
    if (t === ',' && depth === 0) return [at, i + 1];
    if (/^[)\]}]$/.test(t) && depth-- === 0) {
      const comma = /,[\s\\]*$/.exec(text.slice(0, at));
      return comma === null ? undefined : [comma.index, i];
    }
    if (/^[([{]$/.test(t)) depth++;
  }
  return undefined;
}

/** `NAME(…)`, and a semicolon after it. */
function callAt(text: string, at: number): [number, number] | undefined {
  let depth = 0;
  for (const [i, t] of tokens(text, at)) {
    if (depth === 0 && !/^[\w$(]/.test(t)) return undefined;
    if (t === '(') depth++;
    if (t === ')' && --depth === 0) return [at, i + 1 + /^(?:[ \t]*;)?/.exec(text.slice(i + 1))![0].length];
  }
  return undefined;
}

/** The declaration around a name that is being declared: with its template's parameters and its body. */
function declarationAt(text: string, at: number): [number, number] | undefined {
  let start: number | undefined = 0;
  let before = '';
  let round = 0;
  for (const [i, t] of tokens(text, 0)) {
    if (i >= at) break;
    start ??= i;
    round += t === '(' ? 1 : t === ')' ? -1 : 0;
    const access = t === ':' && /^(?:public|private|protected)$/.test(before);
    if (round === 0 && (/^[;{}]$/.test(t) || access)) start = undefined;
    before = t;
  }
  start ??= at;
  let depth = 0;
  /** Where a body has ended; another may follow one that initialises a member. */
  let closed: number | undefined;
  for (const [i, t] of tokens(text, at)) {
    if (t === ';' && depth === 0) return [start, i + 1];
    if (closed !== undefined && t !== ',' && t !== '{') return [start, closed];
    closed = undefined;
    if (/^[([{]$/.test(t)) depth++;
    if (/^[)\]}]$/.test(t) && --depth < 0) return undefined;
    if (t === '}' && depth === 0) closed = i + 1;
  }
  return closed === undefined ? undefined : [start, closed];
}
