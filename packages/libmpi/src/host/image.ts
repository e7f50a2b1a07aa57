/** The image of a C program: its sections, and which bytes of the memory do not matter. */
/**
 * Sections of an image, in their order; the memory first, so that its pages keep their places. The rank host adds its
 * own behind. `dead`: ascending ranges of a section whose bytes may be anything in the image.
 */
export interface ProcessImage {
  readonly sections: readonly {
    readonly name: string;
    readonly parts: readonly Uint8Array[];
    readonly dead?: readonly Range[];
  }[];
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

/** What lies between ascending ranges. */
export function between(length: number, ranges: readonly Range[]): Range[] {
  const out: Range[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    if (from > at) out.push([at, Math.min(from, length)]);
    at = Math.max(at, to);
  }
  if (at < length) out.push([at, length]);
  return out;
}
