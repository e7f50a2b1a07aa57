/** The image of a C program: its sections, and which bytes of the memory do not matter. */
import type { RestoredImage } from '@mayfly/mpi';

/**
 * Sections of an image, in their order; the memory first, so that its pages keep their places. The rank host adds its own behind.
 * `dead`: ascending ranges of a section whose bytes may be anything in the image.
 */
export interface ProcessImage {
  readonly sections: readonly { readonly name: string; readonly parts: readonly Uint8Array[]; readonly dead?: readonly Range[] }[];
  readonly held: readonly number[];
}

/** [from, to) */
export type Range = readonly [from: number, to: number];

export const IMAGE_FORMAT = 1;

/** Section 'globals'. */
export interface GlobalsSection {
  format: number;
  globals: [name: string, value: number | bigint][];
  /** The import that was unwound. */
  call: string;
  /** It had begun (and left a record in the binding). */
  interrupted: boolean;
}

/** For tests: the image in memory of its own, with nonsense where nothing matters. */
export function copied(image: ProcessImage): RestoredImage {
  return Object.fromEntries(
    image.sections.map((s) => {
      const out = new Uint8Array(s.parts.reduce((n, p) => n + p.length, 0));
      let at = 0;
      for (const p of s.parts) {
        out.set(p, at);
        at += p.length;
      }
      for (const [from, to] of s.dead ?? []) out.fill(0xa5, from, to);
      return [s.name, out];
    }),
  );
}
