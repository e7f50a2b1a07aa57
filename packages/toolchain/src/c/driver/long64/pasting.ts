/**
 * Macros that paste or quote a parameter (`struct type##_pair`, `#type`): for them `long` is a word, not a type, so it
 * must not have become two words. In calls of such macros `long` stays, and is itself a macro for two words, which the
 * preprocessor leaves alone where it pastes and quotes. It may be one there only, as headers of the system have their
 * own `long`: a stack of definitions holds it and nothing by turns, and each call takes the next two.
 *
 * Invariant: L1 a program with more calls than the stack has gets an error, not another width.
 */

const DEFINITION = /^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\r?\n|[^\n])*)/gm;
const CALL = /\b([A-Za-z_]\w*)[ \t]*\((?=[^;{}]{0,400}?\blong\b)/g;

/** Names of the macros in a text that paste or quote a parameter. */
export function pastingMacros(text: string): string[] {
  if (!text.includes('#')) return [];
  return [...text.matchAll(DEFINITION)].flatMap(([, name, list, body]) => {
    const parameters = list!
      .split(',')
      .map((p) => p.trim())
      .filter((p) => /^\w+$/.test(p));
    const pastes = parameters.some((p) => new RegExp(`#[ \\t]*${p}\\b|\\b${p}[ \\t]*##`).test(body!));
    return pastes ? [name!] : [];
  });
}

/** Names that a text calls with `long` among what follows: more than those that have it among their arguments. */
export const calledWithLong = (text: string): string[] =>
  text.includes('long') ? [...text.matchAll(CALL)].map((m) => m[1]!) : [];

/** Stands before and after such a call. */
export const TAKE = '__mayfly_long_args';
/** Calls in one file and its headers. */
const CALLS = 500;

/** The arguments of a call, with their parentheses, where they have `long` alone: of two, one would become four. */
export function argumentsWithLong(source: string, at: number): string | undefined {
  const start = /\s*\(/y;
  start.lastIndex = at;
  if (!start.test(source)) return undefined;
  let depth = 0;
  for (let i = start.lastIndex - 1; i < source.length; i++) {
    const c = source[i]!;
    if (c === '(') depth++;
    else if (c === ')' && --depth === 0) {
      const all = source.slice(at, i + 1);
      return /\blong\b/.test(all) && !/\blong\s+(?:\w+\s+)*long\b|["'#]|\/[/*]/.test(all) ? all : undefined;
    }
  }
  return undefined;
}

/** A header that comes before the program. */
export const pastingHeader = (): Uint8Array =>
  new TextEncoder().encode(
    '#pragma clang system_header\n' +
      `#define ${TAKE} _Pragma("pop_macro(\\"long\\")")\n` +
      '#define long __mayfly_too_many_macros_with_long\n' +
      '#pragma push_macro("long")\n'.repeat(2) +
      '#undef long\n#pragma push_macro("long")\n#define long long long\n#pragma push_macro("long")\n'.repeat(CALLS) +
      '#undef long\n',
  );
