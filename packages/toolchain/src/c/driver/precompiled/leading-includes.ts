/**
 * The system's headers that a source includes in any case, before anything that they could depend on: those may as well
 * be included first, in another order and from a precompiled header. The C++ standard lets a program include the
 * library's headers in any order ([using.headers]); so the only question is what stands before them.
 *
 * Invariant: before the last header of the result, the source and the files that it includes hold nothing but comments
 * and directives, none of which defines a macro that a system header names, and no condition asks for a macro that a
 * system header defines. What is doubtful ends the search.
 */
import { posix } from 'node:path';
import type { FileTree } from '../../files.ts';
import type { HeaderNames } from './header-names.ts';

export interface Search {
  /** -iquote, -I, and what comes behind mpi.h and our own headers (-isystem, -idirafter). */
  readonly quoted: readonly string[];
  readonly folders: readonly string[];
  readonly later: readonly string[];
  /** Whether mpi.h's folder or ours has it. */
  readonly own: (name: string) => boolean;
  readonly files: FileTree;
  readonly cwd: string;
  readonly names: HeaderNames;
  /** Macros of the command line. */
  readonly defined: readonly string[];
}

const MAX_DEPTH = 24;
/** No header says more than this before its first declaration. */
const MAX_DIRECTIVES = 4000;

/** How headers name the macro by which they see that they come again. The compiler's own macros end otherwise. */
const GUARD = /(^|_)(H|HH|HPP|HXX|HEADER|INC|INCLUDED|GUARD)_*$/i;

class End extends Error {}

/** @returns names as in `#include <…>` */
export function leadingIncludes(path: string, text: string, search: Search): Set<string> {
  const scan = new Scan(search);
  try {
    scan.file(below(search.cwd, path), text, true);
  } catch (error) {
    if (!(error instanceof End)) throw error;
  }
  return scan.found;
}

/** Not normalised: behind a link, `..` means what the system says. */
const below = (folder: string, path: string): string => (posix.isAbsolute(path) ? path : `${folder}/${path}`);

class Scan {
  readonly found = new Set<string>();
  readonly #search: Search;
  readonly #stack: string[] = [];
  readonly #defined: Set<string>;
  #directives = 0;

  constructor(search: Search) {
    this.#search = search;
    this.#defined = new Set(search.defined);
  }

  /** @param surely the preprocessor comes here, whatever macros are defined */
  file(path: string, text: string, surely: boolean): void {
    if (this.#stack.includes(path) || this.#stack.length >= MAX_DEPTH) throw new End();
    this.#stack.push(path);
    this.#text(path, text, surely);
    this.#stack.pop();
  }

  #text(path: string, text: string, surely: boolean): void {
    /** Of each open condition: whether its text surely counts, or surely does not. */
    const open: ('surely' | 'perhaps' | 'never')[] = [];
    let guard: string | undefined;
    let first = true;
    for (const line of linesOf(text)) {
      const directive = /^\s*#\s*([a-z_]*)\s*([^]*)$/.exec(line);
      const never = open.includes('never');
      if (directive === null) {
        if (!never && line.trim() !== '') throw new End();
        continue;
      }
      const [, name = '', rest = ''] = directive;
      if (++this.#directives > MAX_DIRECTIVES) throw new End();
      const guarded = guard;
      guard = undefined;
      switch (name) {
        case 'if':
        case 'ifdef':
        case 'ifndef':
          if (never) open.push('never');
          else if (name === 'if' && /^0\s*$/.test(rest)) open.push('never');
          else {
            this.#condition(rest);
            open.push('perhaps');
            if (first)
              guard = (name === 'ifndef' ? /^(\w+)\s*$/ : /^!\s*defined\s*\(?\s*(\w+)\s*\)?\s*$/).exec(rest)?.[1];
          }
          break;
        case 'elif':
        case 'elifdef':
        case 'elifndef':
        case 'else':
          if (open.length === 0) throw new End();
          open.pop();
          if (!open.includes('never')) {
            if (name !== 'else') this.#condition(rest);
            open.push('perhaps');
          } else open.push('never');
          break;
        case 'endif':
          if (open.pop() === undefined) throw new End();
          break;
        default:
          if (never) break;
          this.#other(path, name, rest, surely && open.every((o) => o === 'surely'), () => {
            // The guard of a header, which is included for the first time.
            const macro = /^\w+/.exec(rest)?.[0];
            if (guarded !== undefined && guarded === macro && GUARD.test(macro) && !this.#defined.has(macro))
              open[open.length - 1] = 'surely';
          });
      }
      first &&= name === 'pragma';
    }
    if (open.length > 0) throw new End();
  }

  #condition(text: string): void {
    for (const word of text.match(/[A-Za-z_]\w*/g) ?? [])
      if (!word.startsWith('__has_') && this.#search.names.defines(word)) throw new End();
  }

  #other(path: string, name: string, rest: string, surely: boolean, defines: () => void): void {
    switch (name) {
      case '':
        if (rest.trim() !== '') throw new End();
        return;
      case 'error':
      case 'warning':
        if (surely) throw new End();
        return;
      case 'pragma':
        if (!/^once\s*$/.test(rest)) throw new End();
        return;
      case 'define':
      case 'undef': {
        const macro = /^[A-Za-z_]\w*/.exec(rest)?.[0];
        if (macro === undefined || this.#search.names.has(macro)) throw new End();
        if (name === 'define') defines();
        this.#defined.add(macro);
        return;
      }
      case 'include':
        this.#include(path, rest, surely);
        return;
      default:
        throw new End();
    }
  }

  #include(path: string, rest: string, surely: boolean): void {
    const m = /^(?:<([^>]+)>|"([^"]+)")\s*$/.exec(rest);
    if (m === null) throw new End();
    const [, system, quoted] = m;
    const name = system ?? quoted!;
    const { files, quoted: ofQuotes, folders, later, own, cwd } = this.#search;
    if (posix.isAbsolute(name)) throw new End();
    for (const place of [
      ...(quoted === undefined ? [] : [posix.dirname(path), ...ofQuotes]),
      ...folders,
      ...(own(name) ? [] : later),
    ]) {
      const at = `${below(cwd, place)}/${name}`;
      const stat = files.stat(at);
      if (stat === undefined) continue;
      const bytes = stat.kind === 'file' ? files.read(at) : undefined;
      if (bytes === undefined) throw new End();
      this.file(at, new TextDecoder().decode(bytes), surely);
      return;
    }
    // <string> and "string" are one file by now.
    if (surely) this.found.add(name);
  }
}

/** Lines without comments, continued ones joined; ends early where the text is none of C++. */
function* linesOf(text: string): Generator<string> {
  const whole = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/\\[ \t]*\n/g, '');
  let line = '';
  for (let i = 0; i < whole.length;) {
    // What is no comment, quotation or end of a line, in one step.
    const plain = /[^\n"'/]*/y;
    plain.lastIndex = i;
    line += plain.exec(whole)![0];
    i = plain.lastIndex;
    if (i >= whole.length) break;
    const c = whole[i]!;
    if (c === '\n') {
      yield line;
      line = '';
      i++;
    } else if (c === '/' && whole[i + 1] === '/') {
      const end = whole.indexOf('\n', i);
      i = end < 0 ? whole.length : end;
    } else if (c === '/' && whole[i + 1] === '*') {
      const end = whole.indexOf('*/', i + 2);
      if (end < 0) throw new End();
      line += ' ';
      i = end + 2;
    } else if (c === '/') {
      line += c;
      i++;
    } else {
      const end = closing(whole, i);
      line += whole.slice(i, end);
      i = end;
    }
  }
  yield line;
}

/** The end of a quotation; an apostrophe may stand alone in a text that is skipped, so a line ends it too. */
function closing(text: string, from: number): number {
  for (let i = from + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === text[from]) return i + 1;
  }
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
