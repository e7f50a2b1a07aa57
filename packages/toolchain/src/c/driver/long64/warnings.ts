/**
 * What a program's text says about the width that it expects, for programs that are compiled with a `long` of 32 bits:
 * clang warns about constants that do not fit, but not about `1UL << (n & 63)`.
 */

const LIMIT = '(?:&\\s*(?:63|0[xX]3[fF])|%\\s*64)\\b';
/** A macro that is such a limit, as Graph500 has it: `#define ulong_mask &63`. */
const LIMIT_MACRO = new RegExp(`^[ \\t]*#[ \\t]*define[ \\t]+(\\w+)[ \\t]+${LIMIT}[ \\t]*$`, 'gm');
/** A one of the type long that is shifted by what a mask or a remainder lets reach 63. */
const shifted = (macros: readonly string[]): RegExp =>
  new RegExp(
    `\\b1(?:[uU]?[lL]|[lL][uU])\\s*\\)?\\s*<<[^;\\n]*?(?:${[LIMIT, ...macros.map((m) => `\\b${m}\\b`)].join('|')})`,
    'g',
  );
/** Comments and texts, which say nothing. */
const NO_CODE = /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"/g;

/** Warnings as clang writes them. @param path as it is shown */
export function widthWarnings(path: string, bytes: Uint8Array): string[] {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (!raw.includes('<<') || raw.includes('\0')) return [];
  const source = raw.replace(NO_CODE, (t) => t.replace(/[^\n]/g, ' '));
  const macros = [...source.matchAll(LIMIT_MACRO)].map((m) => m[1]!);
  return [...source.matchAll(shifted(macros))].map((m) => {
    const before = source.slice(0, m.index).split('\n');
    return (
      `${path}:${before.length}:${before.at(-1)!.length + 1}: warning: this shift can reach 63, and long has 32 bits: ` +
      `compile the whole program without -mno-long64 [-mno-long64]\n`
    );
  });
}
