/**
 * Rules for make (-M, -MD …) without the files that only this driver sees: mpi.h and the system's headers lie in the
 * package, under a name that is on no disk, and make would stop at "No rule to make target". A new version of the
 * package is a reason to build afresh.
 */
import { SYSROOT } from '../llvm.ts';
import { RESOURCES } from '../resources.ts';
import { TEMPORARY } from './run.ts';

/** Of a line; longer rules have a line for each file. */
const WIDTH = 76;

const own = (word: string): boolean => [SYSROOT, RESOURCES, TEMPORARY].some((folder) => word.startsWith(`${folder}/`));

/** Rules as clang writes them: a target, a colon, and prerequisites with one or more to a line. */
export function withoutOwnFiles(rules: Uint8Array): Uint8Array {
  const lines = new TextDecoder()
    .decode(rules)
    .replace(/\\\r?\n/g, ' ')
    .split('\n');
  let source: string | undefined;
  const kept = lines.flatMap((line) => {
    // A space or a colon in a name has a backslash before it.
    const words = line.match(/(?:\\.|\S)+/g);
    if (words === null) return [line];
    // -MP gives each header an empty rule of its own; before the source, clang names a precompiled header.
    if (words.length === 1 && (own(words[0]!) || words[0] === `${source}:`)) return [];
    const rest = words.filter((w) => !own(w));
    source ??= rest.find((w) => !w.endsWith(':'));
    return [rest.join(rest.join(' ').length <= WIDTH ? ' ' : ' \\\n  ')];
  });
  return new TextEncoder().encode(kept.join('\n'));
}
