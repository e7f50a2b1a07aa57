/** Nodes and programs write some of what is shown here. */
const CONTROLS = /[\x00-\x1f\x7f-\x9f]+/g;

/** Rows of text as columns, two blanks apart, each on one line. The first row is the heading. */
export function table(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map((cell) => cell.replace(CONTROLS, ' ')));
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
