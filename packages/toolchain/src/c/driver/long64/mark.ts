/**
 * The mark of objects that were compiled with `-mlong64`: a custom section. A call between two files that disagree
 * about `long` would go wrong silently, so the driver does not link them.
 *
 * Invariant: M1 the mark is the last section of an object and changes nothing else in it.
 */
import { members } from '../tentative.ts';
import { ModuleError, sectionsOf } from '../../wasm-module.ts';

const NAME = 'mayfly.long64';

export function marked(object: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(NAME);
  return new Uint8Array(Buffer.concat([object, Uint8Array.of(0, name.length + 1, name.length), name]));
}

/** What the objects of a file are; empty when it holds none. */
export function widthsOf(bytes: Uint8Array): Set<32 | 64> {
  const found = new Set<32 | 64>();
  for (const [from, to] of members(bytes)) {
    try {
      const sections = sectionsOf(bytes.subarray(from, to));
      if (sections.some((s) => s.name === 'linking')) found.add(sections.some((s) => s.name === NAME) ? 64 : 32);
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
    }
  }
  return found;
}

/** The error of a link of both kinds; undefined when all are of one. */
export function mixedWidths(inputs: readonly (readonly [name: string, bytes: Uint8Array])[]): string | undefined {
  const [wide, narrow] = ([64, 32] as const).map((w) => inputs.find(([, bytes]) => widthsOf(bytes).has(w))?.[0]);
  return wide === undefined || narrow === undefined
    ? undefined
    : `long has 64 bits in ${wide}, and 32 bits in ${narrow}, which was compiled with -mno-long64 or elsewhere: ` +
        'compile all files of the program with the same option';
}
