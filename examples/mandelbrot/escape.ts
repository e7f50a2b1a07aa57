/** The part of the plane that is drawn. */
export interface View {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  /** Side of a pixel. */
  readonly scale: number;
}

/** Steps until z ← z² + c leaves the disc |z| < 2, for every pixel of some rows; `limit` for those that never do. */
export function escapeTimes(view: View, firstRow: number, rows: number, limit: number): Uint16Array {
  const times = new Uint16Array(rows * view.width);
  for (let row = 0; row < rows; row++) {
    // Centres of pixels, and rows symmetric about the real axis.
    const ci = view.top - (firstRow + row + 0.5) * view.scale;
    for (let column = 0; column < view.width; column++) {
      const cr = view.left + (column + 0.5) * view.scale;
      let zr = 0;
      let zi = 0;
      let steps = 0;
      while (steps < limit) {
        const rr = zr * zr;
        const ii = zi * zi;
        if (rr + ii > 4) break;
        zi = 2 * zr * zi + ci;
        zr = rr - ii + cr;
        steps++;
      }
      times[row * view.width + column] = steps;
    }
  }
  return times;
}
