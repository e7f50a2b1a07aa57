/** Colour 0 is black, for the inside; 1 … 255 run through a cycle of warm and cold colours. */
export function fire(): Uint8Array {
  const palette = new Uint8Array(768);
  for (let c = 1; c < 256; c++) {
    const t = (2 * Math.PI * (c - 1)) / 255;
    const wave = (shift: number): number => Math.round(255 * (0.5 - 0.5 * Math.cos(t + shift)));
    palette.set([wave(0.9), wave(0.4), wave(-0.5)], 3 * c);
  }
  return palette;
}
