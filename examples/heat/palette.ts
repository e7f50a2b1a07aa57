/** 256 colours from cold (dark blue) through red to hot (white). */
export function thermal(): Uint8Array {
  const stops = [
    [0, 8, 10, 40],
    [64, 40, 30, 120],
    [110, 150, 30, 110],
    [160, 230, 80, 40],
    [215, 255, 200, 60],
    [255, 255, 255, 240],
  ] as const;
  const palette = new Uint8Array(768);
  for (let c = 0; c < 256; c++) {
    const k = stops.findIndex(([at], i) => i > 0 && c <= at);
    const [a, b] = [stops[k - 1]!, stops[k]!];
    const t = (c - a[0]) / (b[0] - a[0]);
    for (let channel = 1; channel <= 3; channel++)
      palette[3 * c + channel - 1] = Math.round(a[channel]! + t * (b[channel]! - a[channel]!));
  }
  return palette;
}
