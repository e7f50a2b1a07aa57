/**
 * JSON from outside, refused before it is parsed when it holds so many parts, or so deep ones, that parsing it would
 * keep everybody else waiting: 64 MB of `[],` take a processor 12 s and 2 GB, the same length of text 0.1 s. Cost of
 * the look: one pass, strings skipped.
 */
export interface JsonLimits {
  /** Arrays and objects inside each other. */
  readonly depth: number;
  /** Brackets, braces, commas and colons outside of strings. */
  readonly parts: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Why the text may not be parsed; undefined: it may. */
export function jsonExcess(text: string, limits: JsonLimits): string | undefined {
  let depth = 0;
  let parts = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = endOfString(text, i);
      if (i < 0) return undefined;
    } else if (c === OPEN || c === OPEN_OBJECT) {
      parts++;
      if (++depth > limits.depth) return `it is nested deeper than ${limits.depth} levels`;
    } else if (c === CLOSE || c === CLOSE_OBJECT) depth--;
    else if (c === COMMA || c === COLON) parts++;
    if (parts > limits.parts) return `it has more than ${limits.parts} parts`;
  }
  return undefined;
}

/** Place of its last quotation mark; -1: it has none, and the parser will say so. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}

/** @throws SyntaxError also for what is beyond the limits */
export function parseJson(text: string, limits: JsonLimits): unknown {
  const excess = jsonExcess(text, limits);
  if (excess !== undefined) throw new SyntaxError(excess);
  return JSON.parse(text);
}

/**
 * Of one frame or control message. An offer of an image of 65,536 pages has some 70,000, and one for each arrival that
 * it holds.
 */
export const MESSAGE_JSON: JsonLimits = { depth: 32, parts: 1_000_000 };
/** Of one request, and of a message of a node or a dashboard. */
export const REQUEST_JSON: JsonLimits = { depth: 32, parts: 200_000 };
