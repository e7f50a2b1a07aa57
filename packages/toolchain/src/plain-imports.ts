/**
 * The imports of a file whose imports stand at the start of their lines, as most do: found without TypeScript, which is
 * nine megabytes of code and half a second of processor time. inspect.ts finds them all.
 */

/** A string that may name a file of the program: "./…", "../…", or with an escape in the place of a character. */
const NAME = /(['"`])(?:\.{1,2}(?:\/|\1)|\.{0,2}\\[./xu0-7\r\n\u2028\u2029])/g;
const STATEMENT =
  /^(?:import\b(?:[^'"`;=]*?\bfrom)?|export\b[^'"`;=]*?\bfrom)\s*(['"])(\.{1,2}\/[^'"\\\r\n]*|\.{1,2})\1/gm;

/** What relative imports name; undefined: a string that may be one stands elsewhere, and only a parser can tell. */
export function plainImports(text: string): string[] | undefined {
  const names = [...text.matchAll(STATEMENT)].map((m) => m[2]!);
  return names.length === [...text.matchAll(NAME)].length ? names : undefined;
}
