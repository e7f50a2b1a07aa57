/**
 * The names in the system's headers of C++: what a program may not touch before an include when that include is to
 * come from a precompiled header (leading-includes.ts).
 *
 * The three lists are those of all headers, not of one: a program that defines `vector` as a macro is left alone even
 * if it never includes <vector>.
 */
import type { FileTree } from '../../files.ts';

export interface HeaderNames {
  /** Every identifier: a macro of such a name may change what a header says. */
  has(name: string): boolean;
  /** Macros that a header defines or undefines: a condition on one may depend on what was included before. */
  defines(name: string): boolean;
  /** First parts of the names that a header includes or looks for: a folder of the caller's with one hides a header. */
  readonly included: readonly string[];
}

/** Folders of libc++, libc and ours, and clang's own headers that these include. */
const FOLDERS = ['/include/c++/v1', '/include/wasm32-wasip1', '/compat/include'];
/** Of an ABI and a language that are never chosen. */
const LEFT_OUT = ['/include/c++/v1/__cxx03'];
const OF_CLANG = /^\/include\/(__)?(std|float|limits|inttypes|iso646|tgmath|mm_malloc|unwind)\w*\.h$/;

/** Lists as lines, one after the other: found by search, without taking them apart. */
export function collectNames(trees: readonly FileTree[]): string {
  const words = new Set<string>();
  const macros = new Set<string>();
  const included = new Set<string>();
  const take = (tree: FileTree, path: string): void => {
    const names = tree.list(path);
    if (names !== undefined) {
      if (!LEFT_OUT.includes(path)) for (const name of names) take(tree, `${path}/${name}`);
      return;
    }
    const bytes = tree.read(path);
    if (bytes === undefined) return;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    for (const word of text.match(/[A-Za-z_]\w*/g) ?? []) words.add(word);
    for (const m of text.matchAll(/#[ \t]*(?:define|undef)[ \t]+(\w+)/g)) macros.add(m[1]!);
    for (const m of text.matchAll(/include(?:_next)?(?:__)?[ \t]*\(?[ \t]*[<"]([^>"/\n]+)/g)) included.add(m[1]!);
  };
  for (const tree of trees) {
    for (const folder of FOLDERS) take(tree, folder);
    for (const name of tree.list('/include') ?? [])
      if (OF_CLANG.test(`/include/${name}`)) take(tree, `/include/${name}`);
  }
  return [words, macros, included].map((set) => `\n${[...set].sort().join('\n')}\n`).join('\0');
}

export function namesOf(text: string): HeaderNames {
  const [words = '', macros = '', included = ''] = text.split('\0');
  return {
    has: (name) => words.includes(`\n${name}\n`),
    defines: (name) => macros.includes(`\n${name}\n`),
    included: included.split('\n').filter((n) => n !== ''),
  };
}
