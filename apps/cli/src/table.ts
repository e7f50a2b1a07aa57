/** Text in columns. */
import { oneLine } from '@mayfly/wire';

/** Rows of text as columns, two blanks apart, each on one line. The first row is the heading. */
export function table(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
