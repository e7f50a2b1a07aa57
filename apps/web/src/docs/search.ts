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

/** Sections that have every word, in heading or text; words in the heading count more than words in the text. */
export function searched(index: readonly Section[], query: string): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hits: { hit: Hit; score: number }[] = [];
  for (const section of index) {
    const heading = section.heading.toLowerCase();
    const text = section.text.toLowerCase();
    if (!words.every((w) => heading.includes(w) || text.includes(w))) continue;
    const score = words.reduce((sum, w) => sum + (heading.includes(w) ? 10 : 0) + Math.min(3, occurrences(text, w)), 0);
    hits.push({ hit: { ...section, excerpt: excerptOf(section.text, text, words) }, score });
  }
  return hits
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_HITS)
    .map((h) => h.hit);
}

const occurrences = (text: string, word: string): number => text.split(word).length - 1;

function excerptOf(text: string, lower: string, words: readonly string[]): string {
  const places = words.map((w) => lower.indexOf(w)).filter((i) => i >= 0);
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - BEFORE);
  const part = text.slice(from, from + EXCERPT).trim();
  return `${from > 0 ? '… ' : ''}${part}${from + EXCERPT < text.length ? ' …' : ''}`;
}
