/**
 * Portable bitmaps (PBM, PGM, PPM: P1…P6), which programs without a picture library write and browsers do not show.
 * A file that still grows is shown as far as it goes; the rest is transparent. Format: netpbm's own manual pages.
 */
export interface Picture {
  width: number;
  height: number;
  /** RGBA, row by row. */
  rgba: Uint8ClampedArray<ArrayBuffer>;
  /** Rows that are wholly there. */
  rows: number;
}

const MAX_PIXELS = 64_000_000;

/** undefined: no portable bitmap, or its header is not whole yet. */
export function decodeNetpbm(data: Uint8Array): Picture | undefined {
  if (data.length < 3 || data[0] !== 0x50) return undefined;
  const kind = data[1]! - 0x30;
  if (kind < 1 || kind > 6) return undefined;
  const text = kind < 4;
  const bitmap = kind === 1 || kind === 4;
  const channels = kind === 3 || kind === 6 ? 3 : 1;
  const reader = new Reader(data, 2);
  const width = reader.number();
  const height = reader.number();
  const max = bitmap ? 1 : reader.number();
  if (width === undefined || height === undefined || max === undefined) return undefined;
  if (width < 1 || height < 1 || width * height > MAX_PIXELS || max < 1 || max > 65535) return undefined;
  if (!reader.blank()) return undefined;

  const rgba = new Uint8ClampedArray(width * height * 4);
  const wide = max > 255 ? 2 : 1;
  const rowBytes = kind === 4 ? (width + 7) >> 3 : width * channels * wide;
  let rows = 0;
  for (let y = 0; y < height; y++) {
    const start = reader.at;
    if (!text && start + rowBytes > data.length) break;
    for (let x = 0; x < width; x++) {
      const to = (y * width + x) * 4;
      for (let c = 0; c < channels; c++) {
        let value: number | undefined;
        if (kind === 4) value = (data[start + (x >> 3)]! >> (7 - (x & 7))) & 1;
        else if (kind === 1) value = reader.bit();
        else if (text) value = reader.number();
        else {
          const i = start + (x * channels + c) * wide;
          value = wide === 2 ? (data[i]! << 8) | data[i + 1]! : data[i]!;
        }
        if (value === undefined) return { width, height, rgba, rows };
        const level = bitmap ? (value ? 0 : 255) : (value * 255) / max;
        if (channels === 1) rgba[to] = rgba[to + 1] = rgba[to + 2] = level;
        else rgba[to + c] = level;
      }
      rgba[to + 3] = 255;
    }
    if (!text) reader.at = start + rowBytes;
    rows++;
  }
  return { width, height, rgba, rows };
}

class Reader {
  constructor(
    private readonly data: Uint8Array,
    public at: number,
  ) {}

  /** A decimal number after blanks and comments; undefined at the end of what is there. */
  number(): number | undefined {
    this.skip();
    let value: number | undefined;
    while (this.at < this.data.length) {
      const c = this.data[this.at]!;
      if (c < 0x30 || c > 0x39) return value;
      value = (value ?? 0) * 10 + c - 0x30;
      this.at++;
    }
    return value;
  }

  /** P1 may write its digits without blanks. */
  bit(): number | undefined {
    this.skip();
    const c = this.data[this.at];
    if (c !== 0x30 && c !== 0x31) return undefined;
    this.at++;
    return c - 0x30;
  }

  /** The one blank that ends a header. */
  blank(): boolean {
    return this.data[this.at++]! <= 0x20;
  }

  private skip(): void {
    while (this.at < this.data.length) {
      const c = this.data[this.at]!;
      if (c === 0x23) while (this.at < this.data.length && this.data[this.at] !== 0x0a) this.at++;
      else if (c > 0x20) return;
      else this.at++;
    }
  }
}
