/** Sparse matrices by rows, and where they come from. */

/** Compressed sparse rows: row i has the entries rowStart[i] … rowStart[i+1]−1, by ascending column. */
export interface Csr {
  readonly n: number;
  readonly rowStart: Int32Array;
  readonly column: Int32Array;
  readonly value: Float64Array;
}

/**
 * Reads the Matrix Market exchange format: coordinate, real or integer, general or symmetric (of which the file holds
 * the lower triangle).
 * @throws Error when the text is something else
 */
export function parseMatrixMarket(text: string): Csr {
  const lines = text.split('\n');
  const banner = lines[0]!.trim().toLowerCase().split(/\s+/);
  const [mark, object, format, field, symmetry] = banner;
  if (
    mark !== '%%matrixmarket' ||
    object !== 'matrix' ||
    format !== 'coordinate' ||
    (field !== 'real' && field !== 'integer') ||
    (symmetry !== 'symmetric' && symmetry !== 'general')
  )
    throw new Error(`cannot read "${lines[0]}": a real coordinate matrix, general or symmetric, is needed`);

  const entries: [row: number, column: number, value: number][] = [];
  let n = -1;
  let announced = 0;
  for (const line of lines.slice(1)) {
    if (line.startsWith('%') || line.trim() === '') continue;
    const [a, b, c] = line.trim().split(/\s+/).map(Number) as [number, number, number];
    if (n < 0) {
      if (a !== b) throw new Error(`the matrix is ${a} × ${b}, a square one is needed`);
      [n, announced] = [a, c];
    } else {
      entries.push([a - 1, b - 1, c]);
      if (symmetry === 'symmetric' && a !== b) entries.push([b - 1, a - 1, c]);
      announced--;
    }
  }
  if (announced !== 0)
    throw new Error(`the file has ${Math.abs(announced)} entries ${announced > 0 ? 'less' : 'more'} than it says`);
  return fromEntries(n, entries);
}

/** The 5-point Laplacian on a square of k × k points: n = k², 4 on the diagonal, −1 for each neighbour. */
export function poisson(k: number): Csr {
  const entries: [number, number, number][] = [];
  for (let i = 0; i < k; i++)
    for (let j = 0; j < k; j++) {
      const row = i * k + j;
      entries.push([row, row, 4]);
      if (i > 0) entries.push([row, row - k, -1]);
      if (i < k - 1) entries.push([row, row + k, -1]);
      if (j > 0) entries.push([row, row - 1, -1]);
      if (j < k - 1) entries.push([row, row + 1, -1]);
    }
  return fromEntries(k * k, entries);
}

function fromEntries(n: number, entries: [number, number, number][]): Csr {
  entries.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rowStart = new Int32Array(n + 1);
  for (const [row] of entries) rowStart[row + 1]!++;
  for (let i = 0; i < n; i++) rowStart[i + 1]! += rowStart[i]!;
  return { n, rowStart, column: Int32Array.from(entries, (e) => e[1]), value: Float64Array.from(entries, (e) => e[2]) };
}

/** Cuts the rows into `parts` blocks of about as many entries each. Returns the first row of every block, and n. */
export function partition(a: Csr, parts: number): number[] {
  const bounds = [0];
  const total = a.rowStart[a.n]!;
  for (let k = 1; k < parts; k++) {
    let row = bounds[k - 1]!;
    while (row < a.n && a.rowStart[row]! * parts < total * k) row++;
    bounds.push(row);
  }
  return [...bounds, a.n];
}
