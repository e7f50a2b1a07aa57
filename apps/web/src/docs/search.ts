/** The search in the documents: which sections have all the words, best first. Pure. */

/** A section of a document, as the build makes it (markdown.ts). */
export interface Section {
  /** docs/<doc>.md */
  readonly doc: string;
  /** The anchor of its heading. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface Hit extends Section {
  /** What stands around the first of the words. */
  readonly excerpt: string;
}

const MOST_HITS = 12;
const BEFORE = 40;
const EXCERPT = 140;

/** From so many letters on, a word that stands nowhere is taken for a typing error. */
const LEAST_FORGIVEN = 4;

/**
 * Sections that have every word, in heading or text; words in the heading count more than words in the text. A word
 * that stands nowhere stands for those that differ from it by one typing error.
 */
export function searched(index: readonly Section[], query: string): Hit[] {
  const typed = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (typed.length === 0) return [];
  const sections = index.map((section) => ({
    section,
    heading: section.heading.toLowerCase(),
    text: section.text.toLowerCase(),
  }));
  // One of each group has to be there.
  const groups = typed.map((word) => {
    const known = sections.some((s) => s.heading.includes(word) || s.text.includes(word));
    return known || word.length < LEAST_FORGIVEN ? [word] : wordsOf(index).filter((w) => isNear(word, w));
  });
  const hits: { hit: Hit; score: number }[] = [];
  for (const { section, heading, text } of sections) {
    if (!groups.every((g) => g.some((w) => heading.includes(w) || text.includes(w)))) continue;
    const words = groups.flat();
    const score = words.reduce((sum, w) => sum + (heading.includes(w) ? 10 : 0) + Math.min(3, occurrences(text, w)), 0);
    hits.push({ hit: { ...section, excerpt: excerptOf(section.text, text, words) }, score });
  }
  return hits
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_HITS)
    .map((h) => h.hit);
}

const read = new WeakMap<readonly Section[], readonly string[]>();

/** Every word of the documents. */
function wordsOf(index: readonly Section[]): readonly string[] {
  const before = read.get(index);
  if (before) return before;
  const words = new Set(index.flatMap((s) => `${s.heading} ${s.text}`.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []));
  const list = [...words];
  read.set(index, list);
  return list;
}

/** One letter too many, too few or wrong, or two neighbours that changed places. */
function isNear(typed: string, word: string): boolean {
  if (Math.abs(typed.length - word.length) > 1) return false;
  let i = 0;
  while (i < typed.length && typed[i] === word[i]) i++;
  if (typed.length !== word.length) {
    const [longer, shorter] = typed.length > word.length ? [typed, word] : [word, typed];
    return longer.slice(i + 1) === shorter.slice(i);
  }
  const swapped = typed[i] === word[i + 1] && typed[i + 1] === word[i];
  return typed.slice(i + 1) === word.slice(i + 1) || (swapped && typed.slice(i + 2) === word.slice(i + 2));
}

const occurrences = (text: string, word: string): number => text.split(word).length - 1;

function excerptOf(text: string, lower: string, words: readonly string[]): string {
  const places = words.map((w) => lower.indexOf(w)).filter((i) => i >= 0);
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - BEFORE);
  const part = text.slice(from, from + EXCERPT).trim();
  return `${from > 0 ? '… ' : ''}${part}${from + EXCERPT < text.length ? ' …' : ''}`;
}
