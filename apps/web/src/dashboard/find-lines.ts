/** Finding text in lines: no capitals, no patterns. Pure. */

/** Numbers of the lines that have it, in order. */
export function findLines(lines: readonly { seq: number; text: string }[], wanted: string): number[] {
  if (wanted === '') return [];
  const low = wanted.toLowerCase();
  return lines.filter((l) => l.text.toLowerCase().includes(low)).map((l) => l.seq);
}

/**
 * The next or previous one from where the search stands, round the end; from nowhere: the first one, or backwards the
 * last.
 */
export function neighbour(found: readonly number[], at: number | undefined, by: 1 | -1): number | undefined {
  if (found.length === 0) return undefined;
  const place = at === undefined ? -1 : found.indexOf(at);
  if (place < 0) return by === 1 ? found[0] : found.at(-1);
  return found[(place + by + found.length) % found.length];
}

/** Pieces of a text: at odd places what was looked for, as it is written there. */
export function splitAt(text: string, wanted: string): string[] {
  const low = text.toLowerCase();
  const what = wanted.toLowerCase();
  // Where lower case has another length, places in it are no places in the text.
  if (what === '' || low.length !== text.length) return [text];
  const out: string[] = [];
  let from = 0;
  for (let i = low.indexOf(what); i >= 0; i = low.indexOf(what, from)) {
    out.push(text.slice(from, i), text.slice(i, i + what.length));
    from = i + what.length;
  }
  return [...out, text.slice(from)];
}
