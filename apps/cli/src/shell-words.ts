/**
 * Splits as a shell does: blanks part, '…' is literal, "…" knows \" and \\, a backslash takes the next character.
 * undefined: an open quote.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  const word = /\s*((?:'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|[^\s'"\\])+)/y;
  let end = 0;
  for (let m = word.exec(line); m !== null; m = word.exec(line)) {
    end = word.lastIndex;
    words.push(
      m[1]!.replace(
        /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g,
        (_all, single?: string, double?: string, escaped?: string) =>
          single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped!,
      ),
    );
  }
  return line.slice(end).trim() === '' ? words : undefined;
}
